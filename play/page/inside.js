// Inside the search: the real one depth by depth, and the recorded tree of a shallow one, opened node by node.
const inside = { iterations: null, tree: null, runs: new Map(), position: "", words: new Map() };
const NAMES = { minimax: "minimax", "alphabeta-bad": "alpha-beta, worst first", "alphabeta-good": "alpha-beta, best first", engine: "Quetzal" };
const MOST = { minimax: 5, "alphabeta-bad": 6, "alphabeta-good": 7, engine: 10 };  // as play/tree.py has them

const positionWanted = () => ({ fen: analysis.tree.fen, chess960: analysis.tree.chess960, moves: analysis.tree.moves() });

async function iterate() {
  const answer = await send("inside/iterations", { ...positionWanted(), depth: Number(byId("iterate-depth").value) });
  if (answer !== null) inside.iterations = answer.number;
}

async function receiveInside(state) {
  const { iterations, tree } = state.tasks;
  if (iterations && iterations.number === inside.iterations) {
    byId("iterate-stop").hidden = !iterations.running;
    const answer = await (await fetch("iterations.json", { cache: "no-store" })).json();
    if (answer.number === inside.iterations && answer.result) renderIterations(answer.result);
  }
  if (tree && tree.number === inside.tree && !tree.running && byId("record").disabled) {
    byId("record").disabled = false;
    byId("record").textContent = "record";
    if (tree.problem) say(sentence(tree.problem), true);
    else showTree();
  }
}

const minus = (text) => text.replace("-", "−");
const count = (number) => number.toLocaleString("en");

function renderIterations(rows) {
  const heads = ["depth", "nodes", "branching", "ms", "score", "change", "best line"];
  fill("iterations", el("thead", {}, el("tr", {}, heads.map((name, index) => el("th", { scope: "col", class: index === 6 ? "left" : null }, name)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, [`${row.depth}/${row.seldepth}`, count(row.nodes), row.branching ? row.branching.toFixed(2) : "", count(row.milliseconds), minus(row.score_text), row.change === null || row.change === undefined ? "" : signed(row.change / 100, 2)].map((text) => el("td", {}, text)), el("td", { class: "left line" }, (row.is_new_best ? "★ " : "") + row.line.slice(0, 8).join(" "))))));
  if (rows.length < 2) { fill("iterations-plot"); return; }
  const values = rows.map((row) => [row.depth, Math.log10(Math.max(1, row.nodes))]);
  fill("iterations-plot", lineChart({ label: "Nodes by depth", series: [{ values, colour: "var(--accent)" }], height: 120, low: 0, high: Math.ceil(values[values.length - 1][1]), width: widthOf("iterations-plot"), last: rows[rows.length - 1].depth, format: (value) => (Number.isInteger(value) ? count(10 ** value) : "") }), legend([["nodes up to this depth, a logarithmic scale", "var(--accent)"]]));
}

async function recordTree() {
  const technique = byId("technique").value, wanted = { ...positionWanted(), technique, depth: Number(byId("tree-depth").value) };
  const answer = await send("inside/tree", wanted);
  if (answer === null) return;
  const key = JSON.stringify([positionWanted(), wanted.depth]);
  if (key !== inside.position) { inside.position = key; inside.runs.clear(); }
  inside.tree = answer.number;
  byId("record").disabled = true;
  byId("record").textContent = "searching …";
}

async function showTree() {
  const answer = await send("inside/children", { number: inside.tree });
  if (answer === null) return;
  const { summary } = answer;
  inside.runs.set(summary.technique, summary);
  const leaves = `${summary.minimax_exact ? "" : "about "}${count(summary.minimax_leaves)}`;
  fill("tree-summary", el("p", {}, el("b", {}, `${NAMES[summary.technique]}: ${minus(summary.value_text)} `), `${summary.line.join(" ")}. ${count(summary.nodes)} nodes, ${count(summary.leaves)} leaves; plain minimax has ${leaves} leaves at depth ${summary.depth}.`), summary.cut_text ? el("p", { class: "muted" }, summary.cut_text) : null);
  renderCompared();
  inside.words.clear();
  fill("search-tree", nodeList(answer.children, analysis.tree.now.position));
}

// What was recorded of this position at this depth, side by side.
function renderCompared() {
  if (inside.runs.size < 2) { fill("compared"); return; }
  fill("compared", el("thead", {}, el("tr", {}, ["technique", "value", "nodes", "leaves", "of minimax"].map((name, index) => el("th", { scope: "col", class: index ? null : "left" }, name)))),
    el("tbody", {}, Object.keys(MOST).filter((name) => inside.runs.has(name)).map((name) => {
      const run = inside.runs.get(name), share = run.minimax_leaves ? (100 * run.leaves) / run.minimax_leaves : 0;
      return el("tr", {}, el("td", { class: "left" }, NAMES[name]), [minus(run.value_text), count(run.nodes), count(run.leaves), `${share.toPrecision(3)} %`].map((text) => el("td", {}, text)));
    })));
}

// `before` is the position of the node above.
function nodeList(nodes, before) {
  for (const node of nodes) {
    if (node.what_for) inside.words.set(node.purpose, node.what_for);
    if (node.why) inside.words.set(node.reason, node.why);
  }
  fill("tree-words", [...inside.words].sort().flatMap(([word, text]) => [el("dt", {}, word), el("dd", {}, text.startsWith(`${word}: `) ? text.slice(word.length + 2) : text)]));
  return el("ul", { role: "group" }, nodes.map((node) => nodeItem(node, before)));
}

// Where a node's move leads: nowhere if the same position is searched again, and to the other side's turn without a move.
function positionOf(node, before) {
  if (node.uci) return makeMove(before, node.uci);
  return node.purpose === "null move" ? { ...before, turn: 1 - before.turn, passed: null } : before;
}

function nodeItem(node, before) {
  const bound = (value, infinite) => (value === null ? infinite : minus((value / 100).toFixed(2)));
  const isSkipped = node.kind === "skipped", hasWindow = !isSkipped && (node.alpha !== null || node.beta !== null);
  const title = node.san || (node.ply === 0 ? `depth ${node.depth}` : "again");
  const purpose = node.ply && node.purpose !== "search" && node.purpose !== "null move" ? node.purpose : "";
  const by = node.cut_by ? ` by ${node.cut_by}` : node.best ? `, best ${node.best}` : "";
  const after = positionOf(node, before), item = el("li", { role: "none" });
  const show = () => { analysis.preview = { position: after, move: node.uci || null }; renderAnalysisBoard(); };
  const leave = () => { analysis.preview = null; renderAnalysisBoard(); };
  const button = el("button", {
    type: "button", role: "treeitem", class: `node${isSkipped ? " skipped" : ""}`, "aria-expanded": node.n_children && node.is_open ? "false" : null,
    title: [node.what_for, node.why].filter(Boolean).join("; "), onclick: () => toggleNode(item, button, node, after), onpointerenter: show, onpointerleave: leave, onfocus: show, onblur: leave,
  },
    el("span", { "aria-hidden": "true" }, node.n_children && node.is_open ? "▸" : "·"), el("b", {}, title),
    isSkipped ? null : el("span", { class: "score" }, minus(node.score_text)), el("span", { class: `kind ${node.kind}` }, node.kind),
    hasWindow ? el("span", { class: "window" }, `[${bound(node.alpha, "−∞")}, ${bound(node.beta, "∞")}]`) : null,
    node.depth === null || node.ply === 0 ? null : el("span", { class: "window" }, `d ${node.depth}`), node.nodes > 1 ? el("span", { class: "window" }, `${count(node.nodes)} nodes`) : null,
    el("span", { class: "why" }, [node.is_research ? "again" : "", purpose, node.reason + by].filter(Boolean).join("; ")));
  item.append(button);
  return item;
}

async function toggleNode(item, button, node, after) {
  if (!node.n_children || !node.is_open) return;
  const open = item.querySelector("ul");
  if (open) open.remove();
  else {
    const answer = await send("inside/children", { number: inside.tree, node: node.id });
    if (answer === null || item.querySelector("ul")) return;
    item.append(nodeList(answer.children, after));
  }
  button.setAttribute("aria-expanded", String(!open));
  button.firstElementChild.textContent = open ? "▸" : "▾";
}

function startInside() {
  byId("iterate").addEventListener("click", iterate);
  byId("iterate-stop").addEventListener("click", () => send("inside/stop"));
  byId("record").addEventListener("click", recordTree);
  byId("technique").addEventListener("change", () => {
    const depth = byId("tree-depth"), most = MOST[byId("technique").value];
    depth.max = String(most);
    depth.value = String(Math.min(Number(depth.value), most));
  });
}
