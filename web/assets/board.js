// Boards: positions from FEN and moves in UCI's notation, drawn as SVG.
const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  for (const child of children.flat()) node.append(child);
  return node;
}

// Pieces in a square of 45 units.
const BASE = ["rect", { x: 10, y: 34.5, width: 25, height: 5, rx: 2 }];
const SHAPES = {
  p: [["path", { d: "M22.5 17c-5.5 4-7.5 10-8.5 17.5h17c-1-7.5-3-13.5-8.5-17.5z" }], ["circle", { cx: 22.5, cy: 13.5, r: 5.5 }], BASE],
  r: [["path", { d: "M12 8h5v4h3.2V8h4.6v4H28V8h5v9l-3.2 3v10l3 4.5H12.2l3-4.5V20L12 17z" }], BASE],
  n: [["path", { d: "M13.5 34.5c0-7 6-9 6.5-14-3 .5-4.5 4-8.2 3.2-2.6-.6-2.3-3.7-.6-6 2.3-3 3.3-7 8.3-8.7L19.5 4.5l5 3.5c7.5 2 10 10 9.5 26.5z" }],
      ["circle", { cx: 19.5, cy: 13.5, r: 1.1, class: "line" }], BASE],
  b: [["path", { d: "M22.5 9.5c-7.5 5-9.5 12.5-5 19l-3 6h16l-3-6c4.5-6.5 2.5-14-5-19z" }], ["circle", { cx: 22.5, cy: 7, r: 2.6 }],
      ["path", { d: "M22.5 15v8M18.5 19h8", class: "line" }], BASE],
  q: [["path", { d: "M9 13l4.5 21.5h18L36 13l-6 9.5-2-12.5-5.5 12-5.5-12-2 12.5z" }], ["circle", { cx: 9, cy: 11.5, r: 2.2 }], ["circle", { cx: 17, cy: 8.5, r: 2.2 }],
      ["circle", { cx: 28, cy: 8.5, r: 2.2 }], ["circle", { cx: 36, cy: 11.5, r: 2.2 }], BASE],
  k: [["path", { d: "M21 3.5h3v3h3v3h-3v4.5h-3V9.5h-3v-3h3z" }],
      ["path", { d: "M22.5 13.5c3.5 0 5 2 5 4.5 5.5-2.5 10 1.5 8 7l-3.5 9.5h-19L9.5 25c-2-5.5 2.5-9.5 8-7 0-2.5 1.5-4.5 5-4.5z" }],
      ["path", { d: "M22.5 18v11", class: "line" }], BASE],
};

function drawPiece(letter, x, y) {
  const white = letter === letter.toUpperCase();
  const group = svg("g", {
    class: white ? "white-piece" : "black-piece", transform: `translate(${x} ${y})`,
    "stroke-width": 1.4, "stroke-linejoin": "round", "data-piece": letter,
  });
  for (const [tag, attributes] of SHAPES[letter.toLowerCase()]) group.append(svg(tag, attributes));
  return group;
}

// A position is an array of 64 letters or null, a1 first.
function readFen(fen) {
  const squares = new Array(64).fill(null);
  fen.split(" ")[0].split("/").forEach((row, index) => {
    let file = 0;
    for (const letter of row) {
      if (/\d/.test(letter)) file += Number(letter);
      else squares[(7 - index) * 8 + file++] = letter;
    }
  });
  return squares;
}

const squareNumber = (name) => name.charCodeAt(0) - 97 + 8 * (Number(name[1]) - 1);

// Castling may be written as two steps of the king or as king takes rook.
function makeMove(squares, move) {
  const after = squares.slice();
  const from = squareNumber(move.slice(0, 2)), to = squareNumber(move.slice(2, 4));
  const piece = after[from], target = after[to];
  const sameSide = target !== null && (target === target.toUpperCase()) === (piece === piece.toUpperCase());
  const kind = piece.toLowerCase();
  if (kind === "k" && (sameSide || (Math.abs(from - to) === 2 && from % 8 === 4))) {
    const short = to > from, home = from - (from % 8);
    const rook = piece === "K" ? "R" : "r";
    const rookFrom = sameSide ? to : home + (short ? 7 : 0);
    after[from] = null;
    after[rookFrom] = null;
    after[home + (short ? 6 : 2)] = piece;
    after[home + (short ? 5 : 3)] = rook;
    return after;
  }
  if (kind === "p" && from % 8 !== to % 8 && target === null) after[from - (from % 8) + (to % 8)] = null;
  after[from] = null;
  after[to] = move.length > 4 ? (piece === "P" ? move[4].toUpperCase() : move[4].toLowerCase()) : piece;
  return after;
}

function drawBoard(squares, lastMove, flipped) {
  const marks = lastMove ? [squareNumber(lastMove.slice(0, 2)), squareNumber(lastMove.slice(2, 4))] : [];
  const board = svg("svg", { viewBox: "0 0 360 360", role: "img", class: "chessboard" });
  for (let square = 0; square < 64; square++) {
    const file = square % 8, rank = (square - file) / 8;
    const x = 45 * (flipped ? 7 - file : file), y = 45 * (flipped ? rank : 7 - rank);
    board.append(svg("rect", { x, y, width: 45, height: 45, class: (file + rank) % 2 ? "square-light" : "square-dark" }));
    if (marks.includes(square)) board.append(svg("rect", { x, y, width: 45, height: 45, class: "mark" }));
    if (x === 0) board.append(svg("text", { x: x + 2, y: y + 10, class: "coordinate" }, String(rank + 1)));
    if (y === 315) board.append(svg("text", { x: x + 38, y: y + 42, class: "coordinate" }, "abcdefgh"[file]));
    if (squares[square]) board.append(drawPiece(squares[square], x, y));
  }
  return board;
}
