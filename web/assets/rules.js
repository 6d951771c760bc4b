// The rules as far as a page needs them: positions from FEN and back, moves in UCI's notation, and their names in SAN.
// The moves of games are known to be legal; lines that engines give are checked with isLegal.
const START_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const FILES = "abcdefgh";
const KNIGHT_STEPS = [[1, 2], [2, 1], [2, -1], [1, -2], [-1, -2], [-2, -1], [-2, 1], [-1, 2]];
const DIAGONALS = [[1, 1], [1, -1], [-1, -1], [-1, 1]];
const STRAIGHTS = [[0, 1], [1, 0], [0, -1], [-1, 0]];
const ALL_WAYS = [...DIAGONALS, ...STRAIGHTS];
const WAYS = {
  n: [KNIGHT_STEPS, 1], b: [DIAGONALS, 7], r: [STRAIGHTS, 7], q: [ALL_WAYS, 7], k: [ALL_WAYS, 1],
};

const squareNumber = (name) => FILES.indexOf(name[0]) + 8 * (Number(name[1]) - 1);
const squareName = (square) => FILES[square % 8] + (Math.floor(square / 8) + 1);
const isWhite = (piece) => piece === piece.toUpperCase();
const sideOf = (piece) => (isWhite(piece) ? 0 : 1);

// A position: squares as 64 letters or null, a1 first; turn 0 for White; the rooks that may still castle; the square that a
// pawn has just passed; half-moves since the last capture or pawn move; the number of the move.
function readFen(fen) {
  const [placement, turn = "w", castling = "-", passed = "-", quiet = "0", number = "1"] = fen.split(" ");
  const squares = new Array(64).fill(null);
  placement.split("/").forEach((row, index) => {
    let file = 0;
    for (const letter of row) {
      if (/\d/.test(letter)) file += Number(letter);
      else squares[(7 - index) * 8 + file++] = letter;
    }
  });
  const rooks = [...castling].filter((letter) => letter !== "-").map((letter) => castlingRook(squares, letter));
  return {
    squares, rooks, turn: turn === "b" ? 1 : 0, passed: passed === "-" ? null : squareNumber(passed),
    quiet: Number(quiet) || 0, number: Number(number) || 1,
  };
}

// K and Q mean the outermost rook on that side of the king; a file's letter means the rook there.
function castlingRook(squares, letter) {
  const side = sideOf(letter), home = side === 0 ? 0 : 56, kind = letter.toLowerCase();
  if (FILES.includes(kind)) return home + FILES.indexOf(kind);
  return outermostRook(squares, side, kind === "k");
}

function outermostRook(squares, side, short) {
  const home = side === 0 ? 0 : 56, [rook, king] = side === 0 ? "RK" : "rk";
  for (let step = 0; step < 8; step++) {
    const square = home + (short ? 7 - step : step);
    if (squares[square] === rook) return square;
    if (squares[square] === king) break;
  }
  return home + (short ? 7 : 0);
}

// The squares that a piece sees from a square: up to and with the first piece in each direction.
function seen(squares, from, [steps, far]) {
  const found = [];
  for (const [right, up] of steps) {
    let file = from % 8, rank = Math.floor(from / 8);
    for (let distance = 0; distance < far; distance++) {
      file += right;
      rank += up;
      if (file < 0 || file > 7 || rank < 0 || rank > 7) break;
      found.push(8 * rank + file);
      if (squares[8 * rank + file]) break;
    }
  }
  return found;
}

function pawnTargets(from, side) {
  const rank = Math.floor(from / 8) + (side === 0 ? 1 : -1);
  if (rank < 0 || rank > 7) return [];
  return [from % 8 - 1, from % 8 + 1].filter((file) => file >= 0 && file < 8).map((file) => 8 * rank + file);
}

function isAttacked(squares, square, by) {
  const own = (letter) => (by === 0 ? letter.toUpperCase() : letter);
  for (const letter of "nbrqk") if (seen(squares, square, WAYS[letter]).some((each) => squares[each] === own(letter))) return true;
  return pawnTargets(square, 1 - by).some((each) => squares[each] === own("p"));
}

// The square of the king that is attacked, or null.
function checkedKing(position) {
  const king = position.squares.indexOf(position.turn === 0 ? "K" : "k");
  return king >= 0 && isAttacked(position.squares, king, 1 - position.turn) ? king : null;
}

// Castling may be written as two steps of the king or as king takes rook.
function castlingOf(position, from, to) {
  const piece = position.squares[from], target = position.squares[to];
  if (!piece || piece.toLowerCase() !== "k") return null;
  const takesRook = target !== null && sideOf(target) === sideOf(piece);
  if (!takesRook && (Math.abs(from - to) !== 2 || from % 8 !== 4)) return null;
  const short = to > from, home = from - (from % 8);
  const rook = position.rooks.find((square) => square - (square % 8) === home && square > from === short);
  return { short, rook: takesRook ? to : rook ?? outermostRook(position.squares, sideOf(piece), short) };
}

function makeMove(position, move) {
  const squares = position.squares.slice();
  const from = squareNumber(move.slice(0, 2)), to = squareNumber(move.slice(2, 4));
  const piece = squares[from], side = sideOf(piece), isPawn = piece.toLowerCase() === "p";
  const castling = castlingOf(position, from, to);
  const takes = !castling && squares[to] !== null;
  let rooks = position.rooks.filter((square) => square !== from && square !== to);
  let passed = null;
  if (piece.toLowerCase() === "k") rooks = rooks.filter((square) => (square < 8) !== (side === 0));
  squares[from] = null;
  if (castling) {
    const home = from - (from % 8), rook = squares[castling.rook];
    squares[castling.rook] = null;
    squares[home + (castling.short ? 6 : 2)] = piece;
    squares[home + (castling.short ? 5 : 3)] = rook;
  } else {
    if (isPawn && from % 8 !== to % 8 && !takes) squares[from - (from % 8) + (to % 8)] = null;
    if (isPawn && Math.abs(from - to) === 16) passed = (from + to) / 2;
    squares[to] = move.length > 4 ? (side === 0 ? move[4].toUpperCase() : move[4].toLowerCase()) : piece;
  }
  return {
    squares, rooks, passed, turn: 1 - side, quiet: isPawn || takes ? 0 : position.quiet + 1, number: position.number + side,
  };
}

// Where the piece on a square may legally go, castling left out: it neither needs a name to be told apart nor ends a check.
function targetsFrom(position, from) {
  const { squares, turn } = position, piece = squares[from];
  if (!piece || sideOf(piece) !== turn) return [];
  let targets;
  if (piece.toLowerCase() === "p") {
    const ahead = turn === 0 ? 8 : -8, start = turn === 0 ? 1 : 6;
    targets = pawnTargets(from, turn).filter((to) => (squares[to] ? sideOf(squares[to]) !== turn : to === position.passed));
    if (squares[from + ahead] === null) {
      targets.push(from + ahead);
      if (Math.floor(from / 8) === start && squares[from + 2 * ahead] === null) targets.push(from + 2 * ahead);
    }
  } else {
    targets = seen(squares, from, WAYS[piece.toLowerCase()]).filter((to) => !squares[to] || sideOf(squares[to]) !== turn);
  }
  return targets.filter((to) => {
    const after = makeMove(position, squareName(from) + squareName(to));
    return checkedKing({ ...after, turn }) === null;
  });
}

// Every square that the piece on a square may be put on: castling is a step of two files and the taking of the own rook.
function placesFrom(position, from) {
  const found = targetsFrom(position, from), piece = position.squares[from];
  if (!piece || piece.toLowerCase() !== "k" || sideOf(piece) !== position.turn) return found;
  const home = from - (from % 8);
  for (const to of [from - 2, from + 2, ...position.rooks]) {
    if (to < home || to > home + 7 || found.includes(to) || !castlingOf(position, from, to)) continue;
    if (isLegal(position, squareName(from) + squareName(to))) found.push(to);
  }
  return found;
}

function isLegal(position, move) {
  if (!/^[a-h][1-8][a-h][1-8][nbrq]?$/.test(move)) return false;
  const from = squareNumber(move.slice(0, 2)), to = squareNumber(move.slice(2, 4)), piece = position.squares[from];
  if (!piece || sideOf(piece) !== position.turn) return false;
  const promotes = piece.toLowerCase() === "p" && (to < 8 || to >= 56);
  if (promotes !== move.length > 4) return false;
  const castling = castlingOf(position, from, to);
  return castling ? canCastle(position, from, castling) : targetsFrom(position, from).includes(to);
}

// Nothing but the two stands on the ways of king and rook, and the king is attacked nowhere on its own.
function canCastle(position, from, { short, rook }) {
  if (!position.rooks.includes(rook)) return false;
  const home = from - (from % 8), kingTo = home + (short ? 6 : 2), rookTo = home + (short ? 5 : 3);
  const way = (one, other) => Array.from({ length: Math.abs(one - other) + 1 }, (_, step) => Math.min(one, other) + step);
  const squares = position.squares.slice();
  squares[from] = squares[rook] = null;
  if ([...way(from, kingTo), ...way(rook, rookTo)].some((square) => squares[square])) return false;
  const left = position.squares.slice();
  left[from] = null;
  if (way(from, kingTo).some((square) => isAttacked(left, square, 1 - position.turn))) return false;
  return checkedKing({ ...makeMove(position, squareName(from) + squareName(rook)), turn: position.turn }) === null;
}

const canMove = (position) => position.squares.some((_, square) => targetsFrom(position, square).length > 0);

function sanOf(position, move) {
  const from = squareNumber(move.slice(0, 2)), to = squareNumber(move.slice(2, 4));
  const piece = position.squares[from], kind = piece.toUpperCase();
  const after = makeMove(position, move), castling = castlingOf(position, from, to);
  const ending = checkedKing(after) === null ? "" : canMove(after) ? "+" : "#";
  if (castling) return (castling.short ? "O-O" : "O-O-O") + ending;
  const takes = position.squares[to] !== null || (kind === "P" && from % 8 !== to % 8) ? "x" : "";
  if (kind === "P") return (takes ? FILES[from % 8] + "x" : "") + squareName(to) + (move[4] ? "=" + move[4].toUpperCase() : "") + ending;
  const twins = position.squares.flatMap((other, square) => (other === piece && square !== from && targetsFrom(position, square).includes(to) ? [square] : []));
  let which = "";
  if (twins.length) {
    if (!twins.some((square) => square % 8 === from % 8)) which = FILES[from % 8];
    else if (!twins.some((square) => Math.floor(square / 8) === Math.floor(from / 8))) which = String(Math.floor(from / 8) + 1);
    else which = squareName(from);
  }
  return kind + which + takes + squareName(to) + ending;
}

// A passed square is only written where a pawn can take, and castling with the rook's file where K or Q would be another.
function fenOf(position) {
  const rows = [];
  for (let rank = 7; rank >= 0; rank--) {
    const row = position.squares.slice(8 * rank, 8 * rank + 8).map((piece) => piece || "1").join("");
    rows.push(row.replace(/1+/g, (empty) => String(empty.length)));
  }
  let castling = "";
  for (const side of [0, 1]) {
    const king = position.squares.indexOf(side === 0 ? "K" : "k");
    const own = position.rooks.filter((square) => (square < 8) === (side === 0)).sort((one, other) => other - one);
    for (const rook of own) {
      const short = rook > king;
      const letter = rook === outermostRook(position.squares, side, short) ? (short ? "k" : "q") : FILES[rook % 8];
      castling += side === 0 ? letter.toUpperCase() : letter;
    }
  }
  const takers = position.passed === null ? [] : pawnTargets(position.passed, 1 - position.turn).filter((square) =>
    position.squares[square] === (position.turn === 0 ? "P" : "p") && targetsFrom(position, square).includes(position.passed));
  return [rows.join("/"), position.turn === 0 ? "w" : "b", castling || "-", takers.length ? squareName(position.passed) : "-", position.quiet, position.number].join(" ");
}
