// One game on a board: its moves, what the engine that moved was thinking, and the course of evaluations and clocks.
const view = { game: null, ply: 0, positions: [], moves: [], sans: [], flipped: false, timer: null, line: [], inLine: null, from: null };

function openGame(game, ply, scroll) {
  if (!game.m && game.l) return;
  stopPlaying();
  if (!view.game) view.from = document.activeElement;
  view.game = game;
  view.moves = game.m ? game.m.split(" ") : [];
  view.sans = game.a ? game.a.split(" ") : [];
  view.positions = [readFen(game.n)];
  for (const move of view.moves) view.positions.push(makeMove(view.positions[view.positions.length - 1], move));
  const panel = byId("viewer");
  panel.hidden = false;
  fill("game-title", `${names()[game.p[0]]} – ${names()[game.p[1]]}  ${resultText(game.s)}`);
  fill("game-note", [`game ${game.g}, round ${game.r}`, game.t, game.o].filter(Boolean).join(" · "));
  fill("moves", moveList((index) => ({ kind: index < game.b ? "book" : null })));
  const all = neighbours();
  byId("previous-game").disabled = !all.previous;
  byId("next-game").disabled = !all.next;
  goTo(ply);
  renderGames();
  if (scroll) panel.scrollIntoView({ block: "start" });
  byId("game-title").focus({ preventScroll: true });
}

function closeGame() {
  if (!view.game) return;
  stopPlaying();
  const row = `#games a[data-key="game ${view.game.g}"]`;
  view.game = null;
  byId("viewer").hidden = true;
  history.replaceState(null, "", location.pathname + location.search);
  renderGames();
  const back = document.querySelector(row) || (document.contains(view.from) ? view.from : null);
  if (back) back.focus();
}

// The games before and after this one, among those that the list shows.
function neighbours() {
  const games = chosenGames().filter((game) => game.m || !game.l).sort((one, other) => one.g - other.g);
  return {
    previous: games.filter((game) => game.g < view.game.g).pop(),
    next: games.find((game) => game.g > view.game.g),
  };
}

function openNeighbour(name) {
  const game = neighbours()[name];
  if (game) openGame(game, 0, false);
}

function at(list, ply) {
  const index = ply - 1 - view.game.b;
  return list && index >= 0 && index < list.length ? list[index] : null;
}

// The last known score at a ply, since openings have none.
function scoreAt(ply) {
  for (let back = ply; back > 0; back--) {
    const score = at(view.game.e, back);
    if (score !== null) return score;
  }
  return null;
}

function goTo(ply) {
  view.ply = Math.max(0, Math.min(ply, view.moves.length));
  view.line = lineAt(view.ply);
  view.inLine = null;
  renderPosition();
  renderThought();
  showMove(view.ply);
  renderGameCharts();
  history.replaceState(null, "", `#game=${view.game.g}&ply=${view.ply}`);
}

// The engine's line from the position before its move.
function lineAt(ply) {
  const text = at(view.game.v, ply);
  return legalLine(view.positions[ply - 1], text ? text.split(" ") : []);
}

function renderThought() {
  const game = view.game, facts = [];
  if (view.ply) {
    const score = at(game.e, view.ply), depth = at(game.d, view.ply), used = at(game.u, view.ply), nodes = at(game.x, view.ply);
    if (view.ply <= game.b) facts.push("opening");
    if (score !== null) facts.push(evalText(score));
    if (depth) facts.push(`depth ${depth}`);
    if (used !== null) facts.push(`${(used / 1000).toFixed(3)} s`);
    if (nodes) facts.push(`${nodes.toLocaleString("en")} nodes`);
  }
  const move = view.ply ? `${moveNumber(view.positions[view.ply - 1])} ${view.sans[view.ply - 1]}` : "start position";
  fill("thought", facts.join("   ·   "), el("span", { class: "unseen" }, ` after ${move}`));
  fill("line", lineButtons(view.line, "line"));
}

function enterLine(step) {
  stopPlaying();
  view.inLine = Math.max(0, Math.min(step, view.line.length - 1));
  renderPosition();
  const now = markMove("#line button", "step", view.inLine);
  for (const button of document.querySelectorAll("#line button")) button.setAttribute("tabindex", "0");
  if (byId("line").contains(document.activeElement)) now.focus();
}

function shownPosition() {
  return view.inLine === null ? view.positions[view.ply] : view.line[view.inLine].after;
}

function renderPosition() {
  const position = shownPosition(), game = view.game;
  const last = view.inLine !== null ? view.line[view.inLine].move : view.ply ? view.moves[view.ply - 1] : null;
  const label = view.inLine !== null ? "Position in the engine's line" : view.ply ? `Position after ${moveNumber(view.positions[view.ply - 1])} ${view.sans[view.ply - 1]}` : "Start position";
  fill("board", drawBoard(position, { lastMove: last, flipped: view.flipped, pixels: widthOf("board"), label }));
  for (const [id, player] of [["player-top", view.flipped ? 0 : 1], ["player-bottom", view.flipped ? 1 : 0]]) {
    let left = null;
    for (let back = view.ply; back > 0 && left === null; back--) if (view.positions[back - 1].turn === player) left = at(game.c, back);
    const clock = left === null ? null : el("span", { class: "facts" }, el("small", {}, "clock "), clockText(left));
    const row = fill(id, el("b", {}, disc(player), names()[game.p[player]]), clock);
    row.classList.toggle("turn", position.turn === player);
  }
  renderEvalBar();
}

// White's part of the bar is the share of points that a score usually brings.
function renderEvalBar() {
  const score = scoreAt(view.ply), share = score === null ? 0.5 : 1 / (1 + Math.exp(-score / 250));
  const isMate = score !== null && Math.abs(score) > 0.9 * MATE;
  const text = score === null ? "" : isMate ? `#${MATE - Math.abs(score)}` : barText(score);
  drawEvalBar(byId("eval-bar"), { share, text, flipped: view.flipped, label: score === null ? "no evaluation" : `evaluation ${evalText(score)}, from White's side` });
}

function renderGameCharts() {
  const game = view.game, last = view.moves.length;
  const sides = (list, change) => [0, 1].map((player) => {
    const values = [];
    (list || []).forEach((value, index) => {
      const ply = index + 1 + game.b;
      if (value !== null && view.positions[ply - 1].turn === player) values.push([ply, change(value)]);
    });
    return { values, colour: player === 0 ? "var(--accent)" : "var(--loss)" };
  });
  const both = () => legend(game.p.map((player, side) => [`${names()[player]} (${SIDES[side]})`, side === 0 ? "var(--accent)" : "var(--loss)"]));
  const evals = sides(game.e, (score) => Math.max(-10, Math.min(10, score / 100)));
  const highest = Math.max(1, ...evals.flatMap((each) => each.values.map((value) => Math.abs(value[1]))));
  const score = view.ply ? at(game.e, view.ply) : null;
  const slider = fill("eval-plot", lineChart({ label: "Evaluations over the moves", series: evals, last, height: 150, low: -highest, high: highest, zero: 0, cursor: view.ply, onClick: goTo, width: widthOf("eval-plot") }), both());
  slider.setAttribute("aria-valuemax", String(last));
  slider.setAttribute("aria-valuenow", String(view.ply));
  slider.setAttribute("aria-valuetext", view.ply ? `${moveNumber(view.positions[view.ply - 1])} ${view.sans[view.ply - 1]} ${evalText(score)}` : "start position");
  const clocks = sides(game.c, (value) => value / 1000);
  const most = Math.max(0, ...clocks.flatMap((each) => each.values.map((value) => value[1])));
  const chart = most && lineChart({ label: "Clocks over the moves, in seconds left", series: clocks, last, height: 110, low: 0, high: most, cursor: view.ply, onClick: goTo, width: widthOf("clock-plot"), format: plain });
  fill("clock-plot", most ? [chart, both()] : el("p", { class: "muted" }, "no clock in this game"));
}

// The whole game as PGN, like in the run's own file but without comments.
function pgnOf(game) {
  const tag = (name, value) => `[${name} "${String(value).replace(/[\\"]/g, "\\$&").replace(/[\r\n]+/g, " ")}"]`;
  const result = { 1: "1-0", 0: "0-1", 0.5: "1/2-1/2" }[game.s];
  const tags = [tag("Event", data.name), tag("Site", "?"), tag("Date", game.w.replaceAll("-", ".")), tag("Round", game.r), tag("White", names()[game.p[0]]), tag("Black", names()[game.p[1]]), tag("Result", result)];
  if (data.chess960) tags.push(tag("Variant", "Chess960"));
  if (game.n !== "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1") tags.push(tag("SetUp", "1"), tag("FEN", game.n));
  const words = view.sans.flatMap((san, index) => (view.positions[index].turn === 0 || index === 0 ? [moveNumber(view.positions[index]), san] : [san]));
  const lines = [""];
  for (const word of [...words, result]) {
    const longer = lines[lines.length - 1] ? `${lines[lines.length - 1]} ${word}` : word;
    if (longer.length > 80) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return `${tags.join("\n")}\n\n${lines.join("\n")}\n`;
}

function stopPlaying() {
  clearInterval(view.timer);
  view.timer = null;
  byId("play").textContent = "play";
}

function togglePlaying() {
  if (view.timer) return stopPlaying();
  if (view.ply >= view.moves.length) goTo(0);
  byId("play").textContent = "pause";
  view.timer = setInterval(() => (view.ply >= view.moves.length ? stopPlaying() : goTo(view.ply + 1)), 700);
}

const CONTROLS = {
  first: () => goTo(0), back: () => step(-1), next: () => step(1), last: () => goTo(view.moves.length), play: togglePlaying, close: closeGame,
  flip: () => { view.flipped = !view.flipped; renderPosition(); }, "previous-game": () => openNeighbour("previous"), "next-game": () => openNeighbour("next"),
  "copy-fen": () => copy(byId("copy-fen"), fenOf(shownPosition())), "copy-pgn": () => copy(byId("copy-pgn"), pgnOf(view.game)),
};
const KEYS = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play", f: "flip", p: "previous-game", n: "next-game" };

function startViewer() {
  for (const [id, action] of Object.entries(CONTROLS)) byId(id).addEventListener("click", action);
  walkByKeys(KEYS, CONTROLS);
  followLinks();
}
