// One game on the board: its moves with their glyphs, the better lines, and the course of the expected points.
const view = { game: null, ply: 0, positions: [], moves: [], sans: [], scores: [], marks: new Map(), flipped: false, line: [], inLine: null };

function openGame(game, ply) {
  view.game = game;
  view.moves = game.m ? game.m.split(" ") : [];
  view.sans = game.a ? game.a.split(" ") : [];
  view.scores = game.e.split(" ");
  view.marks = new Map(game.k.map(([at, grade, loss, best]) => [at + 1, { grade, loss, best: best ? best.split(" ") : [] }]));
  view.positions = [readFen(game.n)];
  for (const move of view.moves) view.positions.push(makeMove(view.positions[view.positions.length - 1], move));
  byId("viewer").hidden = false;
  fill("game-title", `${game.w} – ${game.b}  ${resultWords(game.r)}`);
  fill("game-note", [game.v, game.d].filter((text) => text && !text.startsWith("?")).join(" · "));
  fill("moves", moveList(markOf));
  goTo(ply);
  renderGames();
  byId("viewer").scrollIntoView({ block: "start" });
  byId("game-title").focus({ preventScroll: true });
}

function closeGame() {
  if (!view.game) return;
  const link = `#games a[href="#game=${view.game.g}"]`;
  view.game = null;
  byId("viewer").hidden = true;
  history.replaceState(null, "", location.pathname + location.search);
  renderGames();
  const row = document.querySelector(link);
  if (row) row.focus();
}

// What the list of moves shows of one.
function markOf(index) {
  const mark = view.marks.get(index + 1);
  return mark ? { kind: mark.grade.split(" ")[0], glyph: GLYPHS[mark.grade], words: `, ${mark.grade}` } : {};
}

// A better line from the position before the move.
function lineAt(ply) {
  const mark = view.marks.get(ply);
  return mark && mark.loss > 0 ? legalLine(view.positions[ply - 1], mark.best) : [];
}

function goTo(ply) {
  view.ply = Math.max(0, Math.min(ply, view.moves.length));
  view.line = lineAt(view.ply);
  view.inLine = null;
  renderPosition();
  renderVerdict();
  renderPlot();
  showMove(view.ply);
  history.replaceState(null, "", `#game=${view.game.g}&ply=${view.ply}`);
}

function renderPosition() {
  const step = view.inLine === null ? null : view.line[view.inLine];
  const position = step ? step.after : view.positions[view.ply];
  const last = step ? step.move : view.ply ? view.moves[view.ply - 1] : null;
  const label = step ? "Position in the better line" : view.ply ? `Position after ${moveNumber(view.positions[view.ply - 1])} ${view.sans[view.ply - 1]}` : "Start position";
  fill("board", drawBoard(position, { lastMove: last, flipped: view.flipped, pixels: widthOf("board"), label }));
  for (const [id, side] of [["player-top", view.flipped ? 0 : 1], ["player-bottom", view.flipped ? 1 : 0]]) {
    fill(id, el("b", {}, disc(side), side === 0 ? view.game.w : view.game.b), el("span", {}, el("small", { class: "muted" }, "accuracy "), percent(view.game.c[side])));
  }
}

function renderVerdict() {
  const mark = view.marks.get(view.ply), score = view.scores[view.ply];
  const facts = [score === "#" ? "mate" : score.startsWith("#") || score.startsWith("-") ? score : `+${score}`];
  if (mark) facts.push(mark.grade + (mark.loss ? `: ${(100 * mark.loss).toFixed(0)} hundredths of a point lost` : ""));
  fill("verdict", facts.join("   ·   "));
  fill("line", view.line.length ? el("em", {}, "better:") : null, lineButtons(view.line, "better line"));
}

function enterLine(step) {
  view.inLine = Math.max(0, Math.min(step, view.line.length - 1));
  renderPosition();
  for (const button of document.querySelectorAll("#line button")) button.classList.toggle("now", Number(button.dataset.step) === view.inLine);
}

function renderPlot() {
  const values = view.game.p.map((points, ply) => [ply, 100 * points]);
  const chart = lineChart({
    label: "Points that White may expect", series: [{ values, colour: "var(--accent)" }], width: widthOf("plot"), height: 150,
    low: 0, high: 100, zero: 50, format: plain, cursor: view.ply, onClick: goTo, last: view.moves.length,
  });
  const slider = fill("plot", chart);
  slider.setAttribute("aria-valuemax", String(view.moves.length));
  slider.setAttribute("aria-valuenow", String(view.ply));
  slider.setAttribute("aria-valuetext", view.ply ? `${moveNumber(view.positions[view.ply - 1])} ${view.sans[view.ply - 1]} ${view.scores[view.ply]}` : "start position");
}

function nextError() {
  const errors = [...view.marks].filter(([, mark]) => mark.loss > 0).map(([ply]) => ply).sort((one, other) => one - other);
  if (errors.length) goTo(errors.find((ply) => ply > view.ply) || errors[0]);
}

const CONTROLS = {
  first: () => goTo(0), back: () => step(-1), next: () => step(1), last: () => goTo(view.moves.length),
  "next-error": nextError, flip: () => { view.flipped = !view.flipped; renderPosition(); }, close: closeGame,
};
const KEYS = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", e: "next-error", f: "flip" };

renderFigures();
renderPlayers();
renderGames();
for (const [id, action] of Object.entries(CONTROLS)) byId(id).addEventListener("click", action);
byId("filter").addEventListener("input", () => { shown.games = PART; renderGames(); });
walkByKeys(KEYS, CONTROLS);
addEventListener("resize", () => { if (view.game) { renderPosition(); renderPlot(); } });
for (const id of ["players-box", "games-box"]) watchScrolling(byId(id));
followLinks();
