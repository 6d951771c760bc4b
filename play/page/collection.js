// Totals, players and the list of games.
const data = JSON.parse(byId("data").textContent);
const PART = 200;
const GLYPHS = { blunder: "??", mistake: "?", inaccuracy: "?!", "only move": "!", brilliant: "!!" };
const shown = { players: 20, games: PART };

const percent = (value) => (value === null ? "–" : value.toFixed(1));
const hundredths = (value) => (value === null ? "–" : (100 * value).toFixed(1));
const resultWords = (result) => result.replace("1/2-1/2", "½-½");

function limitsText() {
  const names = { nodes: "nodes", movetime: "ms", depth: "plies" };
  return Object.entries(data.limits).map(([name, value]) => `${value.toLocaleString("en")} ${names[name]}`).join(", ") + " a position";
}

function figure(value, label) {
  return el("div", { class: "figure" }, el("b", {}, value), el("span", {}, label));
}

function renderFigures() {
  const { games, moves, broken, players } = data.summary;
  const count = (grade) => players.reduce((sum, player) => sum + player.grades[grade], 0);
  fill("title", data.title);
  fill("subtitle", [data.program, limitsText(), data.only === null ? null : `only ${data.only}`].filter(Boolean).join(" · "));
  fill("figures",
    figure(games.toLocaleString("en"), "games"), figure(moves.toLocaleString("en"), "moves"), figure(players.length.toLocaleString("en"), "players"),
    figure(count("blunder").toLocaleString("en"), "blunders"), figure(count("mistake").toLocaleString("en"), "mistakes"), figure(count("inaccuracy").toLocaleString("en"), "inaccuracies"),
    broken ? figure(broken.toLocaleString("en"), "broken games, left out") : null);
}

function tableParts(heads, rows) {
  const head = el("thead", {}, el("tr", {}, heads.map(([text, name]) => el("th", { scope: "col", class: name || null }, text))));
  const body = el("tbody", {}, rows.map(({ attributes, cells }) => el("tr", attributes || {}, cells.map((cell, index) => el("td", { class: heads[index][1] || null }, cell)))));
  return [head, body];
}

function moreButton(id, left, part, more) {
  const button = byId(id);
  button.hidden = left <= 0;
  button.textContent = `show ${Math.min(part, left)} more of ${left}`;
  button.onclick = more;
}

function renderPlayers() {
  const heads = [["player", "left name"], ["games"], ["moves"], ["accuracy"], ["?!"], ["?"], ["??"], ["loss"], ["opening"], ["middlegame"], ["endgame"]];
  const rows = data.summary.players.slice(0, shown.players).map((player) => ({
    cells: [player.name, String(player.games), String(player.moves), percent(player.accuracy), ...["inaccuracy", "mistake", "blunder"].map((grade) => String(player.grades[grade])),
      hundredths(player.loss), ...["opening", "middlegame", "endgame"].map((phase) => hundredths(player.phases[phase].loss))],
  }));
  byId("players").replaceChildren(...tableParts(heads, rows));
  moreButton("more-players", data.summary.players.length - shown.players, PART, () => { shown.players += PART; renderPlayers(); });
}

function chosenGames() {
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  return data.games.filter((game) => {
    const text = `${game.w} ${game.b} ${game.v} ${game.d}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

// The link in a row is for those who come without a mouse; the whole row does the same.
function gameRow(game) {
  const link = el("a", { href: `#game=${game.g}`, "aria-label": `game ${game.g}, ${game.w} against ${game.b}` }, String(game.g));
  return {
    attributes: { class: view.game === game ? "open" : null, onclick: (event) => { event.preventDefault(); openGame(game, 0); } },
    cells: [link, game.w, game.b, resultWords(game.r), String(Math.ceil(game.a.split(" ").length / 2)), percent(game.c[0]), percent(game.c[1]), `${game.x[0]} – ${game.x[1]}`, `${game.u[0]} – ${game.u[1]}`, game.d, game.v],
  };
}

function renderGames() {
  const games = chosenGames();
  const heads = [["#"], ["White", "left name"], ["Black", "left name"], ["result"], ["moves"], ["accuracy W"], ["B"], ["errors"], ["blunders"], ["date"], ["event", "left"]];
  byId("games").replaceChildren(...tableParts(heads, games.slice(0, shown.games).map(gameRow)));
  const all = data.summary.games;
  const cut = data.games.length < all ? `, the first of ${all}; the PGN file has all` : "";
  fill("games-note", (games.length === data.games.length ? String(games.length) : `${games.length} of ${data.games.length}`) + cut);
  moreButton("more-games", games.length - shown.games, PART, () => { shown.games += PART; renderGames(); });
}
