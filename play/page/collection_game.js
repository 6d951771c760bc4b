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
  fill("moves", moveList());
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

function moveList() {
  const pairs = [];
  view.sans.forEach((san, index) => {
    const position = view.positions[index], mark = view.marks.get(index + 1);
    if (position.turn === 0 || index === 0) {
      pairs.push(el("div", { class: "pair" }, el("em", {}, `${position.number}.`)));
      if (position.turn === 1) pairs[pairs.length - 1].append(el("em", {}, "…"));
    }
    pairs[pairs.length - 1].append(el("button", {
      type: "button", tabindex: "-1", "data-ply": index + 1, class: mark ? mark.grade.split(" ")[0] : null,
      "aria-label": `${moveNumber(position)} ${san}${mark ? `, ${mark.grade}` : ""}`, onclick: () => goTo(index + 1),
    }, san + (mark ? GLYPHS[mark.grade] : "")));
  });
  return pairs;
}

// A better line from the position before the move, as far as it is legal: [{move, san, position, after}, …].
function lineAt(ply) {
  const mark = view.marks.get(ply), found = [];
  if (!mark || mark.loss === 0) return found;
  let position = view.positions[ply - 1];
  for (const move of mark.best) {
    if (!isLegal(position, move)) break;
    const after = makeMove(position, move);
    found.push({ move, san: sanOf(position, move), position, after });
    position = after;
  }
  return found;
}

function goTo(ply) {
  view.ply = Math.max(0, Math.min(ply, view.moves.length));
  view.line = lineAt(view.ply);
  view.inLine = null;
  renderPosition();
  renderVerdict();
  renderPlot();
  for (const button of document.querySelectorAll("#moves button")) {
    const isNow = Number(button.dataset.ply) === view.ply;
    button.classList.toggle("now", isNow);
    button.setAttribute("tabindex", isNow ? "0" : "-1");
    if (isNow) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
  const now = document.querySelector("#moves .now"), list = byId("moves");
  list.scrollTop = now ? now.offsetTop - list.clientHeight / 2 : 0;
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
  fill("line", view.line.length ? el("em", {}, "better:") : null, view.line.flatMap(({ san, position }, index) => [
    position.turn === 0 || index === 0 ? el("em", {}, moveNumber(position)) : null,
    el("button", { type: "button", "data-step": index, "aria-label": `better line: ${moveNumber(position)} ${san}`, onclick: () => enterLine(index) }, san),
  ]));
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

// Inside a line the arrows follow it; back over its beginning leads to the game again.
function step(distance) {
  if (view.inLine === null) return goTo(view.ply + distance);
  if (view.inLine + distance < 0) return goTo(view.ply);
  return enterLine(view.inLine + distance);
}

const CONTROLS = {
  first: () => goTo(0), back: () => step(-1), next: () => step(1), last: () => goTo(view.moves.length),
  "next-error": nextError, flip: () => { view.flipped = !view.flipped; renderPosition(); }, close: closeGame,
};
const KEYS = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", e: "next-error", f: "flip" };

function hearKey(event) {
  if (!view.game || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") return view.inLine === null ? closeGame() : goTo(view.ply);
  const name = KEYS[event.key], target = event.target;
  if (!name || /INPUT|SELECT/.test(target.tagName) || (target !== document.body && !byId("viewer").contains(target))) return;
  event.preventDefault();
  const wasMove = byId("moves").contains(target);
  CONTROLS[name]();
  const now = document.querySelector("#moves .now");
  if (wasMove && now && view.inLine === null) now.focus({ preventScroll: true });
}

function openLinked() {
  const wanted = /#game=(\d+)(?:&ply=(\d+))?/.exec(location.hash);
  const game = wanted && data.games.find((each) => each.g === Number(wanted[1]));
  if (game) openGame(game, Number(wanted[2] || 0));
}

renderFigures();
renderPlayers();
renderGames();
for (const [id, action] of Object.entries(CONTROLS)) byId(id).addEventListener("click", action);
byId("filter").addEventListener("input", () => { shown.games = PART; renderGames(); });
document.addEventListener("keydown", hearKey);
addEventListener("hashchange", openLinked);
addEventListener("resize", () => { if (view.game) { renderPosition(); renderPlot(); } });
for (const id of ["players-box", "games-box"]) watchScrolling(byId(id));
openLinked();
