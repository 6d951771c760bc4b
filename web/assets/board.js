// Boards as SVG. The pieces are drawn once, in the page's own symbols.
const SVG = "http://www.w3.org/2000/svg";
const PIECE_NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };
const SIDES = ["White", "Black"];

function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  for (const child of children.flat()) node.append(child);
  return node;
}

const pieceName = (letter) => PIECE_NAMES[letter.toLowerCase()];
const pieceSymbol = (letter) => `#${SIDES[sideOf(letter)].toLowerCase()}-${pieceName(letter)}`;

// The position in words, for those who do not see it.
function boardText(position) {
  const men = (side) => {
    const found = position.squares.flatMap((piece, square) => (piece && sideOf(piece) === side ? [`${pieceName(piece)} ${squareName(square)}`] : []));
    return `${SIDES[side]}: ${found.join(", ")}`;
  };
  return `${men(0)}; ${men(1)}; ${SIDES[position.turn]} to move${checkedKing(position) === null ? "" : ", in check"}`;
}

// `pixels` is the width that the board will have, so that coordinates can be read at any; without it there are none.
function drawBoard(position, { lastMove = null, flipped = false, pixels = 0, label = "Board" } = {}) {
  const marks = lastMove ? [squareNumber(lastMove.slice(0, 2)), squareNumber(lastMove.slice(2, 4))] : [];
  const checked = checkedKing(position);
  const board = svg("svg", { viewBox: "0 0 360 360", role: "img", class: "chessboard", "aria-label": `${label}. ${boardText(position)}` });
  const size = pixels ? (12 * 360) / pixels : 0;
  for (let square = 0; square < 64; square++) {
    const file = square % 8, rank = (square - file) / 8, shade = (file + rank) % 2 ? "light" : "dark";
    const x = 45 * (flipped ? 7 - file : file), y = 45 * (flipped ? rank : 7 - rank);
    board.append(svg("rect", { x, y, width: 45, height: 45, class: `square-${shade}` }));
    if (marks.includes(square)) board.append(svg("rect", { x, y, width: 45, height: 45, class: "mark" }));
    if (square === checked) board.append(svg("rect", { x, y, width: 45, height: 45, class: "check" }));
    const coordinate = (at, text, anchor) => {
      const node = svg("text", { ...at, "text-anchor": anchor, class: "coordinate" }, text);
      node.style.fontSize = `${size}px`;
      return node;
    };
    if (size && x === 0) board.append(coordinate({ x: 2, y: y + 0.85 * size }, String(rank + 1), "start"));
    if (size && y === 315) board.append(coordinate({ x: x + 43, y: 357 }, FILES[file], "end"));
    const piece = position.squares[square];
    if (piece) board.append(svg("g", { transform: `translate(${x} ${y})`, "data-piece": piece }, svg("use", { href: pieceSymbol(piece) })));
  }
  return board;
}

// A small disc of a side's colour, the same in light and dark.
function disc(side) {
  return el("span", { class: `disc ${SIDES[side].toLowerCase()}`, role: "img", "aria-label": SIDES[side] });
}

const resultText = (points) => ({ 1: "1-0", 0: "0-1", 0.5: "½-½" })[points];

function moveNumber(position) {
  return `${position.number}.${position.turn === 1 ? ".." : ""}`;
}

function clockText(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "";
  const seconds = milliseconds / 1000;
  if (seconds >= 60) return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
  return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
}

// Centipawns as short as a bar is narrow.
const barText = (score) => Math.abs(score / 100).toFixed(Math.abs(score) < 1000 ? 1 : 0);

// Fills an element of class eval-bar, <div></div><b></b> in it: White's share of the points, and a text on the better side.
function drawEvalBar(bar, { share, text, flipped, label }) {
  const [part, figure] = bar.children, side = share >= 0.5 ? 0 : 1;
  part.style.height = `${(100 * share).toFixed(1)}%`;
  bar.classList.toggle("flipped", flipped);
  figure.textContent = text;
  figure.className = `${SIDES[side].toLowerCase()} ${(side === 0) !== flipped ? "low" : "high"}`;
  bar.setAttribute("aria-label", label);
}
