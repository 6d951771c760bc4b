// The review of the game in the tree: a graph, both sides' figures, and the errors with what would have been better.
// `tree` is the one that is reviewed, whatever is shown meanwhile, and `sent` how it was when its review began.
const review = { number: null, found: null, tree: null, sent: null };
const GRADES = [["blunder", "blunders"], ["mistake", "mistakes"], ["inaccuracy", "inaccuracies"], ["only move", "only moves found"], ["brilliant", "brilliant"]];

async function startReviewing() {
  const { tree } = analysis, sent = tree.data();
  const answer = await send("review/start", { ...sent, nodes_per_move: Number(byId("review-nodes").value) });
  if (answer === null) return;
  Object.assign(review, { number: answer.number, found: null, tree, sent: new MoveTree(sent) });
  renderReview();
}

async function receiveReview(state) {
  const task = state.tasks.review;
  if (!task || task.number !== review.number) return;
  const bar = byId("review-progress"), share = task.total ? Math.round((100 * task.done) / task.total) : 0;
  bar.hidden = !task.running;
  bar.firstElementChild.style.width = `${share}%`;
  bar.setAttribute("aria-valuenow", String(share));
  byId("review-stop").hidden = !task.running;
  byId("review-start").disabled = task.running;
  if (task.problem) say(sentence(task.problem), true);
  if (task.running || review.found) return;
  const answer = await (await fetch("review.json", { cache: "no-store" })).json();
  if (!answer.result || answer.number !== review.number || review.found) return;
  review.found = answer.result.review;
  takeMarks(review.tree, review.sent, new MoveTree(answer.result.tree));
  if (analysis.tree === review.tree) goToNode(analysis.tree.now);
  else renderReview();
}

// Marks a tree as its review did, and adds the better lines. What was added or deleted since it was sent stays so.
function takeMarks(tree, sent, marked) {
  tree.root.comment = marked.root.comment;
  const waiting = [[tree.root, sent.root, marked.root]], childBy = (node, move) => node && node.children.find((child) => child.move === move);
  while (waiting.length) {
    const [node, before, after] = waiting.pop();
    for (const child of after.children) {
      const known = childBy(before, child.move);
      if (known && !childBy(node, child.move)) continue;
      const own = tree.add(node, child.move);
      own.comment = child.comment;
      own.nags = child.nags;
      waiting.push([own, known, child]);
    }
  }
}

// The nodes that were judged, in their order, as far as they are still there; they need not be the main line any more.
function judgedLine() {
  const line = [];
  let node = review.tree.root;
  for (const { uci } of review.found.moves) {
    node = node.children.find((child) => child.move === uci);
    if (!node) break;
    line.push(node);
  }
  return line;
}

// What the review says of the position that is shown, if it has judged it.
function reviewedEvaluation() {
  const { tree } = analysis;
  if (review.tree !== tree || !review.found) return null;
  const ply = judgedLine().indexOf(tree.now) + 1;
  return ply ? review.found.moves[ply - 1].after : tree.now === tree.root ? review.found.start : null;
}

function renderReview() {
  if (desk.tab !== "review") return;
  const { tree } = analysis, moves = tree.mainLine().length, found = review.tree === tree ? review.found : null;
  const names = SIDES.map((side) => (tree.headers[side] && tree.headers[side] !== "?" ? tree.headers[side] : side));
  byId("review-note").textContent = moves ? `${names.join(" – ")}, ${plural(Math.ceil(moves / 2), "move")}` : "There is no game yet: play one, or open a PGN below.";
  byId("review-start").disabled = !moves || !byId("review-stop").hidden;
  for (const id of ["review-save", "review-analyse", "review-plot"]) byId(id).hidden = !found;
  byId("review-open").hidden = !review.found || Boolean(found);
  if (!found) { fill("review-totals"); fill("review-errors"); byId("review-move").textContent = ""; return; }
  const line = judgedLine(), onLine = line.indexOf(tree.now) + 1, move = onLine ? found.moves[onLine - 1] : null;
  renderReviewPlot(found, tree, line);
  const totals = [found.white, found.black], cell = (text) => el("td", {}, text);
  fill("review-totals", el("thead", {}, el("tr", {}, el("th", { class: "left", scope: "col" }, ""), names.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, el("tr", {}, el("td", { class: "left" }, "accuracy"), totals.map((each) => cell(each.accuracy === null ? "" : `${each.accuracy.toFixed(1)} %`))),
      GRADES.map(([name, title]) => el("tr", {}, el("td", { class: "left" }, title), totals.map((each) => cell(String(each.grades[name] || 0))))),
      ["opening", "middlegame", "endgame"].map((phase) => el("tr", {}, el("td", { class: "left" }, `points lost a move, ${phase}`), totals.map((each) => cell(each.phases[phase].loss === null ? "–" : each.phases[phase].loss.toFixed(3)))))));
  const errors = found.moves.filter((move) => ["blunder", "mistake", "inaccuracy"].includes(move.grade));
  refill("review-errors", errors.length ? errors.map((move) => errorItem(move, line)) : el("li", {}, "no errors"));
  byId("review-move").textContent = move ? `${move.number}.${move.side === "black" ? ".." : ""} ${move.san}${move.grade ? `, ${move.grade}` : ""}: ${scoreText(move.after)}${move.loss > 0.005 ? `, loses ${(100 * move.loss).toFixed(0)} % of a point; better ${move.best.slice(0, 6).join(" ")}` : ""}` : "";
}

function renderReviewPlot(found, tree, line) {
  const values = [found.start, ...found.moves.map((move) => move.after)].map((each, ply) => [ply, 100 * each.points]);
  const onLine = line.indexOf(tree.now) + 1, plot = byId("review-plot"), go = (ply) => goToNode(line[Math.min(ply, line.length) - 1] || tree.root);
  fill("review-plot", lineChart({ label: "White's expected points over the moves", series: [{ values, colour: "var(--accent)" }], last: found.moves.length, height: 150, low: 0, high: 100, zero: 50, cursor: onLine, onClick: go, width: widthOf("review-plot"), format: (value) => `${value} %` }),
    legend([["points that White may expect", "var(--accent)"]]));
  plot.setAttribute("aria-valuemax", String(found.moves.length));
  plot.setAttribute("aria-valuenow", String(onLine));
  plot.setAttribute("aria-valuetext", onLine ? `${moveNumber(line[onLine - 1].parent.position)} ${line[onLine - 1].san}, ${values[onLine][1].toFixed(0)} %` : "start");
}

function errorItem(move, line) {
  const name = `${move.number}.${move.side === "black" ? ".." : ""} ${move.san}`;
  return el("li", {}, el("span", {}, el("span", { class: `grade ${move.grade}` }, `${move.grade} `), name, ` (${scoreText(move.before)} → ${scoreText(move.after)}), better: ${move.best.slice(0, 6).join(" ")}`),
    line[move.ply] ? el("button", { type: "button", "aria-label": `show ${name}`, onclick: () => goToNode(line[move.ply]) }, "show") : null);
}

function startReview() {
  byId("review-start").addEventListener("click", startReviewing);
  byId("review-stop").addEventListener("click", () => send("review/stop"));
  byId("review-analyse").addEventListener("click", () => chooseTab("analyse"));
  byId("review-open").addEventListener("click", () => { openTree(review.tree); goToNode(review.tree.now); });
  byId("review-save").addEventListener("click", async () => { const text = await treePgn(); if (text) download("quetzal-review.pgn", text); });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", async (event) => {
    event.preventDefault();
    const file = event.dataTransfer.files[0], text = file ? await file.text() : event.dataTransfer.getData("text");
    if (!text) return;
    chooseTab(desk.tab === "play" ? "analyse" : desk.tab);
    openText(text);
  });
}
