// The running contest: boards of its games, and everything that is new, asked for once a second. Then the page begins.
function side(game, player, position) {
  const facts = [["score", evalText(game.scores[player])], ["clock", clockText(game.clocks[player])]].filter(([, value]) => value);
  return el("div", { class: `caption${position.turn === player ? " turn" : ""}` }, el("b", {}, disc(player), names()[game.players[player]]),
    el("span", { class: "facts" }, facts.map(([name, value]) => [el("small", {}, `${name} `), value]).flat()));
}

function liveBoard(game) {
  let position = readFen(game.fen);
  for (const move of game.moves) position = makeMove(position, move);
  const label = `Game ${game.game}, ${game.players.map((player) => names()[player]).join(" against ")}`;
  const board = drawBoard(position, { lastMove: game.moves[game.moves.length - 1], label });
  const node = el("figure", { "data-game": game.game, "aria-label": label }, side(game, 1, position), board, side(game, 0, position));
  node.state = JSON.stringify(game);
  return node;
}

// Boards on which nothing has moved stay as they are.
function renderRunning() {
  byId("running").hidden = !data.running.length;
  // As few rows as the width allows, and the boards spread evenly over them.
  const count = data.running.length, room = Math.max(1, Math.floor((widthOf("running") - 16) / 280));
  byId("boards").style.setProperty("--columns", Math.ceil(count / Math.max(1, Math.ceil(count / room))) || 1);
  const known = new Map([...byId("boards").children].map((node) => [node.state, node]));
  fill("boards", data.running.map((game) => known.get(JSON.stringify(game)) || liveBoard(game)));
}

// What had the focus before everything was drawn again has it afterwards.
function renderAll() {
  const key = document.activeElement && document.activeElement.dataset.key;
  renderOverview();
  renderGames();
  const again = key && [...document.querySelectorAll("[data-key]")].find((node) => node.dataset.key === key);
  if (again && again !== document.activeElement) again.focus({ preventScroll: true });
}

async function askForNews() {
  let news, more = false;
  do {
    const answer = await fetch(`state.json?games=${data.games.length}`, { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    news = await answer.json();
    more = more || news.games.length > 0;
    data.games.push(...news.games);
  } while (!news.complete);
  const changed = more || news.over;
  Object.assign(data, news.overview, { running: news.running, over: news.over });
  if (changed) renderAll();
  renderRunning();
  renderHeader();
}

async function update() {
  try {
    const isFirst = !data.games.length;
    await askForNews();
    if (isFirst && !view.game) openLinked();
    if (data.over) return;
  } catch {
    const state = byId("state");
    state.textContent = "ended or not reachable";
    state.classList.remove("live");
  }
  setTimeout(update, 1000);
}

let resized = null;
addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => {
    renderOverview();
    renderRunning();
    if (view.game) { renderPosition(); renderGameCharts(); }
  }, 150);
});

startGames();
renderAll();
renderRunning();
startViewer();
document.querySelectorAll(".scroll").forEach(watchScrolling);
if (data.live) update();
