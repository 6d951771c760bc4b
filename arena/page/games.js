// The list of games and its filters.
const PART = 200;
let shown = PART;

function chosenGames() {
  const engine = byId("filter-engine").value, opponent = byId("filter-opponent").value, result = byId("filter-result").value;
  const text = byId("filter-text").value.toLowerCase();
  return data.games.filter((game) => {
    if (engine !== "" && !game.p.includes(Number(engine))) return false;
    if (opponent !== "" && !(game.p.includes(Number(opponent)) && (engine === "" || engine !== opponent))) return false;
    if (result === "failure" ? !game.f : result && resultText(game.s) !== result) return false;
    return !text || `${game.g} ${game.o} ${game.t}`.toLowerCase().includes(text);
  });
}

// The link in a row is for those who come without a mouse; the whole row does the same.
function gameRow(game) {
  const [white, black] = game.p.map((player) => names()[player]);
  const hasMoves = Boolean(game.m) || !game.l;
  const link = hasMoves
    ? el("a", { href: `#game=${game.g}`, "data-key": `game ${game.g}`, "aria-label": `game ${game.g}, ${white} against ${black}, ${resultText(game.s)}` }, String(game.g))
    : String(game.g);
  const attributes = { "data-game": game.g, class: [view.game === game ? "open" : "", hasMoves ? "" : "bare"].join(" ").trim() };
  if (hasMoves) attributes.onclick = (event) => { event.preventDefault(); openGame(game, 0, true); };
  const ending = repeated.has(game.g) ? `${game.t}, the moves of an earlier game` : game.t;
  const ended = el("td", { class: `reason ended${game.f ? " failure" : ""}`, role: "cell", title: ending }, ending);
  return { attributes, cells: [link, String(game.r), white, black, resultText(game.s), String(Math.ceil(game.l / 2)), ended, game.o] };
}

function renderGames() {
  const games = chosenGames().sort((one, other) => other.g - one.g);
  const heads = [["#", "number", "number"], ["round", "round"], ["White", "left white"], ["Black", "left black"], ["result", "result"], ["moves", "moves-count"], ["ended", "left reason ended"], ["opening", "left reason opening"]];
  const list = byId("games");
  list.setAttribute("role", "table");
  list.replaceChildren(...table(heads, games.slice(0, shown).map(gameRow)));
  const cut = data.games.some((game) => !game.m && game.l) ? "; moves of the oldest are only in games.pgn" : "";
  fill("games-note", (games.length === data.games.length ? String(games.length) : `${games.length} of ${data.games.length}`) + cut);
  const left = games.length - shown, more = byId("more-games");
  more.hidden = left <= 0;
  more.textContent = `show ${Math.min(PART, left)} more of ${left}`;
  byId("filter-clear").hidden = FILTERS.every((id) => byId(id).value === "");
}

const FILTERS = ["filter-engine", "filter-opponent", "filter-result", "filter-text"];

function filterBy(values) {
  for (const id of FILTERS) byId(id).value = values[id] || "";
  shown = PART;
  renderGames();
}

function showGamesOf(engine, opponent) {
  filterBy({ "filter-engine": String(names().indexOf(engine)), "filter-opponent": String(names().indexOf(opponent)) });
  byId("games-title").scrollIntoView({ block: "start" });
  const first = document.querySelector("#games a");
  if (first) first.focus({ preventScroll: true });
}

function startGames() {
  const options = (text) => [el("option", { value: "" }, text), ...names().map((name, player) => el("option", { value: String(player) }, name))];
  byId("filter-engine").append(...options("all engines"));
  byId("filter-opponent").append(...options("all opponents"));
  for (const id of FILTERS) byId(id).addEventListener("input", () => { shown = PART; renderGames(); });
  byId("filter-clear").addEventListener("click", () => { filterBy({}); byId("filter-engine").focus(); });
  byId("more-games").addEventListener("click", () => { shown += PART; renderGames(); });
}
