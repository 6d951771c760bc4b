// Games of the page that has a program behind it: its form for a new one, with a clock, and those that are kept.
const kept = { shown: null };

// Lists them again when one has begun or is over.
function receiveGames(game) {
  const shown = game && `${game.id} ${game.points}`;
  if (shown !== kept.shown && byId("games-box").open) listGames();
  kept.shown = shown;
}

async function startGame(event) {
  event.preventDefault();
  const chess960 = byId("chess960").checked;
  const wanted = { person: chosenPerson(), chess960, book: byId("book").checked, level: chosenLevel(), control: chosenControl() };
  const start = byId("start").value.trim();
  if (start && /^\s*([prnbqk1-8]+\/){7}/i.test(start)) wanted.fen = start;
  else if (start) {
    const tree = await send("pgn/read", { pgn: start });
    if (tree === null) return;
    const line = new MoveTree(tree);
    wanted.fen = tree.fen;
    wanted.chess960 = tree.chess960;
    wanted.moves = line.moves(line.end(line.root));
  } else if (chess960) {
    wanted.fen = startOf960(Math.floor(960 * Math.random()));
  }
  if ((await send("game/new", wanted)) !== null) byId("board").scrollIntoView({ block: "nearest" });
}

function chosenControl() {
  const text = byId("control").value;
  if (!text) return null;
  const [base, increment] = text === "other" ? [60 * Number(byId("minutes").value), Number(byId("increment").value)] : text.split("+").map(Number);
  return [Math.round(1000 * base), Math.round(1000 * increment)];
}

// The start position with this number, 0 to 959, as Scharnagl's method counts them; 518 is the usual one.
function startOf960(number) {
  const row = new Array(8).fill(null), free = () => row.flatMap((piece, file) => (piece ? [] : [file]));
  row[2 * (number % 4) + 1] = "b";
  number = Math.floor(number / 4);
  row[2 * (number % 4)] = "b";
  number = Math.floor(number / 4);
  row[free()[number % 6]] = "q";
  number = Math.floor(number / 6);
  const [one, other] = [[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]][number], places = free();
  row[places[one]] = row[places[other]] = "n";
  for (const [file, piece] of free().map((file, index) => [file, "rkr"[index]])) row[file] = piece;
  const rooks = row.flatMap((piece, file) => (piece === "r" ? [FILES[file]] : [])).reverse().join("");
  return `${row.join("")}/pppppppp/8/8/8/8/PPPPPPPP/${row.join("").toUpperCase()} w ${rooks.toUpperCase()}${rooks} - 0 1`;
}

async function listGames() {
  const games = await (await fetch("games.json", { cache: "no-store" })).json();
  fill("games", games.length ? games.map(gameItem) : el("li", {}, "none yet"));
}

function gameItem(game) {
  const date = `${game.id.slice(0, 4)}-${game.id.slice(4, 6)}-${game.id.slice(6, 8)} ${game.id.slice(9, 11)}:${game.id.slice(11, 13)}`;
  if (game.damaged) return el("li", {}, el("span", {}, `${date}: the file is damaged`), el("button", { type: "button", onclick: () => deleteGame(game) }, "delete"));
  const result = game.points === null ? "not finished" : `${resultText(game.points)}, ${game.reason}`;
  const name = `${date}, ${SIDES[game.person]} against ${game.level === null ? "full strength" : `level ${game.level}`}, ${plural(Math.ceil(game.plies / 2), "move")}: ${result}`;
  return el("li", {}, el("span", {}, name),
    el("button", { type: "button", "aria-label": `open: ${name}`, onclick: () => send("game/open", { id: game.id }) }, game.points === null ? "go on" : "open"),
    el("button", { type: "button", "aria-label": `save PGN: ${name}`, onclick: () => saveGame(game.id) }, "PGN"),
    el("button", { type: "button", "aria-label": `delete: ${name}`, onclick: () => deleteGame(game) }, "delete"));
}

async function deleteGame(game) {
  if (!confirm("Delete this game for ever?")) return;
  if ((await send("game/delete", { id: game.id })) !== null) listGames();
}

async function gamePgn(id) {
  const reply = await fetch(`game.pgn?id=${id}`, { cache: "no-store" });
  return reply.ok ? reply.text() : null;
}

async function saveGame(id) {
  const text = await gamePgn(id);
  if (text !== null) download(`quetzal-${id}.pgn`, text);
}

async function analyseGame() {
  const tree = await send("pgn/read", { pgn: await gamePgn(play.game.id) });
  if (tree === null) return;
  openTree(new MoveTree(tree));
  const path = analysis.tree.mainLine();
  analysis.tree.now = play.ply ? path[play.ply - 1] : analysis.tree.root;
  analysis.flipped = play.flipped;
  chooseTab("analyse");
}

function startGames() {
  byId("new-form").addEventListener("submit", startGame);
  byId("control").addEventListener("change", () => { byId("other-control").hidden = byId("control").value !== "other"; });
  byId("analyse-game").addEventListener("click", analyseGame);
  byId("save-game").addEventListener("click", () => saveGame(play.game.id));
  byId("games-box").addEventListener("toggle", () => { if (byId("games-box").open) listGames(); });
}
