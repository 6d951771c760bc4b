// Analysis: a tree of variations, the engine's lines at the position that is shown, and what is known without a search.
const analysis = { tree: null, flipped: false, isOn: false, asked: "", start: null, facts: null, factsOf: null, preview: null, timer: null };
const TREE_KEY = "quetzal-tree";

function openTree(tree) {
  analysis.tree = tree;
  analysis.factsOf = null;
  keepTree();
}

// The browser keeps the tree over a reload, if it keeps anything.
function keepTree() {
  try {
    localStorage.setItem(TREE_KEY, JSON.stringify({ tree: analysis.tree.data(), path: analysis.tree.moves() }));
  } catch { /* then it lasts as long as the page */ }
}

function keptTree() {
  try {
    const kept = JSON.parse(localStorage.getItem(TREE_KEY));
    const tree = new MoveTree(kept.tree);
    for (const move of kept.path) tree.now = tree.now.children.find((child) => child.move === move) || tree.now;
    return tree;
  } catch {
    return new MoveTree();
  }
}

function goToNode(node) {
  analysis.tree.now = node;
  analysis.preview = null;
  keepTree();
  renderAnalysis();
  askAnalysis();
}

function makeTreeMove(move) {
  const { tree } = analysis;
  goToNode(tree.add(tree.now, usualMove(tree, move)));
}

// Castling as the tree's other moves write it, so that a move is found again.
function usualMove(tree, move) {
  const from = squareNumber(move.slice(0, 2)), to = squareNumber(move.slice(2, 4)), castling = castlingOf(tree.now.position, from, to);
  if (!castling) return move;
  const home = from - (from % 8);
  return move.slice(0, 2) + squareName(tree.chess960 ? castling.rook : home + (castling.short ? 6 : 2));
}

// Asks the engine for the position that is shown, if it is on, and for what is known of it.
function askAnalysis() {
  const { tree } = analysis, node = tree.now, moves = tree.moves(), wanted = { fen: tree.fen, chess960: tree.chess960, moves };
  clearTimeout(analysis.timer);
  analysis.timer = setTimeout(async () => {
    const key = JSON.stringify([wanted, byId("lines").value]);
    if (analysis.isOn && key !== analysis.asked) {
      analysis.asked = key;
      if ((await send("analysis/start", { ...wanted, lines: Number(byId("lines").value) }, true)) === null) analysis.asked = "";
    }
    // Another position may have been chosen meanwhile, which asks for itself.
    if (tree.now !== node || analysis.factsOf === node) return;
    const facts = await send("position", wanted, true);
    if (facts === null || analysis.tree.now !== node) return;
    analysis.facts = facts;
    analysis.factsOf = node;
    renderFacts();
    renderAnalysisBoard();
  }, 60);
}

function setEngine(isOn) {
  analysis.isOn = isOn;
  analysis.asked = "";
  byId("engine").setAttribute("aria-pressed", String(isOn));
  byId("engine").textContent = isOn ? "engine: on" : "engine: off";
}

function toggleEngine() {
  setEngine(!analysis.isOn);
  if (analysis.isOn) askAnalysis();
  else send("analysis/stop");
}

// A page that was loaded again finds the program analysing; a program that was started again is asked again.
function receiveAnalysis(state) {
  if (startOf(state) === analysis.start) return;
  setEngine(analysis.start === null ? state.analysis !== null && state.analysis.running : analysis.isOn);
  analysis.start = startOf(state);
  if (analysis.isOn && desk.tab !== "play") askAnalysis();
}

// The engine's lines, if they are about the position that is shown.
function currentLines() {
  const found = news.state && news.state.analysis, { tree } = analysis;
  if (!found || !found.lines.length || found.moves.join() !== tree.moves().join() || found.fen.split(" ")[0] !== tree.fen.split(" ")[0]) return null;
  return found;
}

function scoreText(score) {
  if ("mate" in score) return score.mate < 0 ? `−#${-score.mate}` : `#${score.mate}`;
  return signed(score.cp / 100, 2) || "0.00";
}

function scoreWords(score) {
  if ("cp" in score) return `${signed(score.cp / 100, 2)} pawns`;
  return score.mate === 0 ? "mate" : `mate in ${Math.abs(score.mate)} for ${SIDES[score.mate > 0 ? 0 : 1]}`;
}

function renderEngine() {
  const found = currentLines(), line = found && found.lines[0], judged = reviewedEvaluation();
  const score = line ? line.score : judged, share = line && line.wdl ? (line.wdl[0] + line.wdl[1] / 2) / 1000 : judged ? judged.points : 0.5;
  const text = !score ? "" : "mate" in score ? `#${Math.abs(score.mate)}` : barText(score.cp);
  drawEvalBar(byId("eval-bar"), { share, text, flipped: analysis.flipped, label: score ? `evaluation ${scoreWords(score)}, from White's side` : "no evaluation" });
  const facts = line ? [`depth ${line.depth}`, `${line.nodes.toLocaleString("en")} nodes`, `${Math.round(line.nps / 1000).toLocaleString("en")} k/s`, line.tbhits ? `${line.tbhits.toLocaleString("en")} table hits` : "", found.running ? "" : "stopped"] : [analysis.isOn ? "…" : ""];
  byId("engine-facts").textContent = facts.filter(Boolean).join("   ·   ");
  const box = byId("engine-lines");
  if (box.contains(document.activeElement) || box.matches(":hover")) { if (analysis.preview) return; }
  box.replaceChildren(...(found ? found.lines.map(engineLine) : []));
}

function engineLine(line) {
  const steps = [];
  let position = analysis.tree.now.position;
  for (const move of (line.pv || []).slice(0, 16)) {
    if (!isLegal(position, move)) break;
    steps.push({ move, san: sanOf(position, move), before: position, after: (position = makeMove(position, move)) });
  }
  const show = (index) => { analysis.preview = { position: steps[index].after, move: steps[index].move }; renderAnalysisBoard(); };
  const leave = () => { analysis.preview = null; renderAnalysisBoard(); };
  const take = (index) => {
    let node = analysis.tree.now;
    for (const { move } of steps.slice(0, index + 1)) { analysis.tree.now = node; node = analysis.tree.add(node, usualMove(analysis.tree, move)); }
    goToNode(node);
  };
  const wdl = line.wdl ? `${line.wdl.map((each) => Math.round(each / 10)).join("/")} %` : "";
  return el("div", { class: "engine-line" },
    el("b", { title: wdl ? `White wins, draw, Black wins: ${wdl}` : null }, scoreText(line.score), wdl ? el("small", {}, wdl) : null),
    el("div", { class: "best-line", role: "group", "aria-label": `line ${line.multipv}, ${scoreWords(line.score)}` }, steps.flatMap(({ san, before }, index) => [
      before.turn === 0 || index === 0 ? el("em", {}, moveNumber(before)) : null,
      el("button", { type: "button", "aria-label": `${moveNumber(before)} ${san}`, onpointerenter: () => show(index), onpointerleave: leave, onfocus: () => show(index), onblur: leave, onclick: () => take(index) }, san),
    ])));
}

function renderAnalysisBoard() {
  if (desk.tab === "play") return;
  const { tree, preview } = analysis, node = tree.now, found = preview || desk.tab === "inside" ? null : currentLines();
  const arrows = (found ? found.lines : []).slice(0, 3).flatMap((line, index) => (line.pv ? [{ from: squareNumber(line.pv[0].slice(0, 2)), to: squareNumber(line.pv[0].slice(2, 4)), kind: index ? "second" : "best" }] : []));
  const values = !preview && byId("values").checked && byId("why-box").open && analysis.factsOf === node && analysis.facts.why.values;
  byId("board-row").classList.remove("plain");
  desk.board.show({
    position: preview ? preview.position : node.position, lastMove: preview ? preview.move : node.move, flipped: analysis.flipped,
    movable: preview ? null : "both", arrows, values: values ? Object.fromEntries(Object.entries(values).map(([square, value]) => [square, signed(value) || "0"])) : null,
  });
}

function renderAnalysis() {
  if (desk.tab === "play" || !analysis.tree) return;
  const { tree } = analysis, headers = tree.headers;
  for (const [id, side] of [["player-top", analysis.flipped ? 0 : 1], ["player-bottom", analysis.flipped ? 1 : 0]]) {
    const name = headers[SIDES[side]], row = fill(id, el("b", {}, disc(side), name && name !== "?" ? name : SIDES[side]));
    row.classList.toggle("turn", tree.now.position.turn === side);
  }
  renderAnalysisBoard();
  renderEngine();
  refill("tree", ...drawTree(tree, goToNode));
  const now = byId("tree").querySelector(".now");
  byId("tree").scrollTop = now ? now.offsetTop - byId("tree").clientHeight / 2 : 0;
  byId("promote").disabled = tree.path().every((node) => node.parent.children[0] === node);
  byId("delete").disabled = tree.now === tree.root;
  renderFacts();
  renderSteps();
  if (desk.tab === "review") renderReview();
}

function renderFacts() {
  const facts = analysis.factsOf === analysis.tree.now ? analysis.facts : null;
  byId("opening").textContent = facts ? facts.opening : "";
  byId("tables-box").hidden = !facts || !facts.tables;
  if (!facts) return;
  const cell = (text, name) => el("td", { class: name }, text);
  if (facts.tables) {
    byId("verdict").textContent = `${SIDES[analysis.tree.now.position.turn]} to move: ${facts.verdict}`;
    fill("tables", el("thead", {}, el("tr", {}, el("th", { class: "left", scope: "col" }, "move"), el("th", { scope: "col" }, "DTZ"), el("th", { class: "left", scope: "col" }, "result"))),
      el("tbody", {}, facts.tables.map((row) => el("tr", {}, el("td", { class: "left" }, el("button", { type: "button", onclick: () => makeTreeMove(row.move) }, row.san)), cell(row.dtz === null ? "" : String(row.dtz)), cell(row.words, `left ${row.result > 0 ? "win" : row.result < 0 ? "loss" : ""}`)))));
  }
  const { why } = facts, number = (value) => (value === null ? "" : signed(value) || "0");
  byId("why-total").textContent = `${why.values ? "The network" : "The classical evaluation"} says ${number(why.total)} centipawns for White${why.values ? `; the classical evaluation, whose terms these are, ${number(why.classical)}` : ""}.`;
  fill("why", el("thead", {}, el("tr", {}, ["term", "White", "Black", "sum"].map((name, index) => el("th", { class: index ? null : "left", scope: "col" }, name)))),
    el("tbody", {}, why.rows.map((row) => el("tr", {}, cell(row.group, "left"), cell(number(row.white)), cell(number(row.black)), cell(number(row.sum))))));
}

async function setUp(event) {
  event.preventDefault();
  const file = byId("set-up-file").files[0];
  openText(file ? await file.text() : byId("set-up-text").value);
}

// Shows a position or a game from its text; of several games the person chooses one.
async function openText(given) {
  const text = given.trim();
  fill("set-up-games");
  if (!text || /^\s*([prnbqk1-8]+\/){7}/i.test(text)) return showFen(text);
  const found = await send("pgn/list", { pgn: text });
  if (found === null) return;
  if (found.games.length === 1) return showPgn(text);
  byId("set-up").open = true;
  const ends = [...found.games.slice(1).map((game) => game.place), text.length];
  fill("set-up-games", found.games.map(({ place, headers }, index) => {
    const name = `${headers.White || "?"} – ${headers.Black || "?"}, ${headers.Result || "*"}${headers.Date ? `, ${headers.Date}` : ""}`;
    return el("li", {}, el("span", {}, name), el("button", { type: "button", "aria-label": `show ${name}`, onclick: () => showPgn(text.slice(place, ends[index])) }, "show"));
  }));
}

async function showFen(fen) {
  const wanted = { fen: fen || START_FEN, chess960: byId("set-up-960").checked, moves: [] };
  if ((await send("position", wanted)) === null) return;
  openTree(new MoveTree(wanted));
  byId("set-up").open = false;
  goToNode(analysis.tree.root);
}

async function showPgn(text) {
  const tree = await send("pgn/read", { pgn: text });
  if (tree === null) return;
  openTree(new MoveTree(tree));
  if (tree.problems.length) say(`This game is read as far as it goes: ${tree.problems[0]}`, true);
  byId("set-up").open = false;
  goToNode(analysis.tree.root);
}

async function treePgn() {
  const answer = await send("pgn/write", analysis.tree.data());
  return answer && answer.pgn;
}

function startAnalysis() {
  analysis.tree = keptTree();
  setEngine(false);
  byId("engine").addEventListener("click", toggleEngine);
  byId("lines").addEventListener("change", askAnalysis);
  for (const id of ["threads", "hash", "use-tables"]) byId(id).addEventListener("change", () => send("engine", { threads: Number(byId("threads").value), hash: Number(byId("hash").value), tables: byId("use-tables").checked }));
  byId("promote").addEventListener("click", () => { analysis.tree.promote(analysis.tree.now); goToNode(analysis.tree.now); });
  byId("delete").addEventListener("click", () => { analysis.tree.remove(analysis.tree.now); goToNode(analysis.tree.now); });
  byId("copy-pgn").addEventListener("click", async () => { const text = await treePgn(); if (text) copy(byId("copy-pgn"), text); });
  byId("save-pgn").addEventListener("click", async () => { const text = await treePgn(); if (text) download("quetzal-analysis.pgn", text); });
  byId("set-up-form").addEventListener("submit", setUp);
  byId("values").addEventListener("change", renderAnalysisBoard);
  byId("why-box").addEventListener("toggle", renderAnalysisBoard);
}
