// A game with variations. Every node knows its position; the root is the start.
const NAGS = { 1: "!", 2: "?", 3: "!!", 4: "??", 5: "!?", 6: "?!" };

class MoveTree {
  constructor({ fen = START_FEN, chess960 = false, headers = {}, comment = "", nodes = [] } = {}) {
    this.fen = fen;
    this.chess960 = chess960;
    this.headers = headers;
    this.root = { parent: null, move: null, san: "", position: readFen(fen), children: [], comment, nags: [] };
    this.now = this.root;
    const made = [];
    for (const [parent, move, text, nags] of nodes) made.push(this.add(parent < 0 ? this.root : made[parent], move, text, nags));
  }

  // The child of a node by this move, made if there is none yet.
  add(parent, move, comment = "", nags = []) {
    const found = parent.children.find((child) => child.move === move);
    if (found) return found;
    const node = { parent, move, san: sanOf(parent.position, move), position: makeMove(parent.position, move), children: [], comment, nags };
    parent.children.push(node);
    return node;
  }

  path(node = this.now) {
    const found = [];
    for (let each = node; each.parent; each = each.parent) found.unshift(each);
    return found;
  }

  moves(node = this.now) {
    return this.path(node).map((each) => each.move);
  }

  mainLine() {
    const found = [];
    for (let each = this.root; each.children.length; ) found.push((each = each.children[0]));
    return found;
  }

  end(node = this.now) {
    while (node.children.length) node = node.children[0];
    return node;
  }

  // Takes a node and all behind it away; what was shown there gives way to its parent.
  remove(node) {
    if (this.path().includes(node)) this.now = node.parent;
    node.parent.children.splice(node.parent.children.indexOf(node), 1);
  }

  promote(node) {
    for (let each = node; each.parent; each = each.parent) {
      const list = each.parent.children;
      list.splice(list.indexOf(each), 1);
      list.unshift(each);
    }
  }

  // As the server reads and writes it: parents before their children, main moves first.
  data() {
    const nodes = [], waiting = this.root.children.slice().reverse().map((child) => [child, -1]);
    while (waiting.length) {
      const [node, parent] = waiting.pop();
      nodes.push([parent, node.move, node.comment, node.nags]);
      waiting.push(...node.children.slice().reverse().map((child) => [child, nodes.length - 1]));
    }
    return { fen: this.fen, chess960: this.chess960, headers: this.headers, comment: this.root.comment, nodes };
  }
}

// Commands in comments, such as [%eval 0.35], are for programs.
const wordsOf = (comment) => comment.replace(/\[%[^\]]*\]/g, "").trim();

// The moves as buttons, variations in brackets behind the move that they replace. At the start the first one has its turn
// in the order of tabs.
function drawTree(tree, onChoose) {
  const inOrder = tree.now === tree.root ? tree.root.children[0] : tree.now;
  const button = (node, numbered) => el("button", {
    type: "button", class: `${node === tree.now ? "now" : ""}${node.nags.some((nag) => nag === 2 || nag === 4) ? " bad" : ""}`.trim() || null,
    tabindex: node === inOrder ? "0" : "-1", "aria-current": node === tree.now ? "true" : null,
    "aria-label": `${moveNumber(node.parent.position)} ${node.san}`, onclick: () => onChoose(node),
  }, numbered ? el("em", {}, `${moveNumber(node.parent.position)} `) : null, node.san + node.nags.map((nag) => NAGS[nag] || "").join(""));
  const line = (first, isMain) => {
    const parts = [];
    let node = first, needsNumber = true;
    while (node) {
      parts.push(button(node, needsNumber || node.parent.position.turn === 0), " ");
      needsNumber = false;
      if (wordsOf(node.comment)) { parts.push(el("span", { class: "comment" }, wordsOf(node.comment))); needsNumber = true; }
      if (node === node.parent.children[0]) {
        for (const other of node.parent.children.slice(1)) {
          parts.push(el("span", { class: `variation${isMain ? " first" : ""}` }, line(other, false)));
          needsNumber = true;
        }
      }
      node = node.children[0];
    }
    return parts;
  };
  const intro = wordsOf(tree.root.comment);
  return [intro ? el("span", { class: "comment" }, intro) : null, ...(tree.root.children.length ? line(tree.root.children[0], true) : [])];
}
