// The game against Quetzal: what the program behind the page says of it, and what the person may do.
const play = { game: null, moves: [], positions: [], sans: [], ply: 0, flipped: false, follows: true };

function receiveGame(game) {
  const before = play.game;
  play.game = game;
  if (!game) { play.moves = []; play.positions = []; play.sans = []; play.ply = 0; renderPlay(); return; }
  const isOther = !before || before.id !== game.id;
  if (isOther || game.moves.join() !== play.moves.join()) {
    play.follows = isOther || play.follows || game.moves.length !== play.moves.length;
    play.moves = game.moves;
    play.positions = [readFen(game.fen)];
    play.sans = [];
    for (const move of game.moves) {
      const position = play.positions[play.positions.length - 1];
      play.sans.push(sanOf(position, move));
      play.positions.push(makeMove(position, move));
    }
    if (isOther) {
      play.flipped = game.person === 1;
      byId("new-game").open = false;
    }
    if (play.follows) play.ply = game.moves.length;
    play.ply = Math.min(play.ply, game.moves.length);
  }
  renderPlay();
}

const isAtEnd = () => play.game !== null && play.ply === play.moves.length;
const isPersonsTurn = () => play.game !== null && play.game.points === null && !play.game.thinking;

function goToPly(ply) {
  if (!play.game) return;
  play.ply = Math.max(0, Math.min(ply, play.moves.length));
  play.follows = isAtEnd();
  renderPlay();
}

function statusText(game) {
  if (game.points !== null) {
    const won = game.points === 0.5 ? "Draw" : (game.points === 1) === (game.person === 0) ? "You win" : "Quetzal wins";
    return `${won}: ${game.reason}`;
  }
  if (game.thinking) return "Quetzal is thinking …";
  return checkedKing(play.positions[play.moves.length]) === null ? "Your move" : "Your move: check";
}

function renderPlay() {
  if (desk.tab !== "play") return;
  const game = play.game, shown = game ? play.positions[play.ply] : readFen(START_FEN);
  desk.board.show({
    position: shown, flipped: play.flipped, lastMove: play.ply ? play.moves[play.ply - 1] : null, values: null,
    movable: game && isAtEnd() && isPersonsTurn() ? game.person : null,
    arrows: game && game.hint && isAtEnd() ? [{ from: squareNumber(game.hint.slice(0, 2)), to: squareNumber(game.hint.slice(2, 4)), kind: "hint" }] : [],
  });
  byId("board-row").classList.add("plain");
  const status = game ? statusText(game) : "No game yet";
  if (byId("game-status").textContent !== status) byId("game-status").textContent = status;
  byId("game-note").textContent = game ? [game.answer, game.claim ? `a draw can be claimed: ${game.claim}` : ""].filter(Boolean).join("; ") : "Choose a colour and a level below, and start.";
  if (!game) byId("new-game").open = true;
  byId("game-buttons").hidden = !game;
  byId("take-back").disabled = !game || !play.moves.some((_, ply) => play.positions[ply].turn === game.person);
  for (const id of ["hint", "offer-draw"]) byId(id).disabled = !isPersonsTurn();
  byId("resign").disabled = !game || game.points !== null;
  byId("claim-draw").hidden = !game || !game.claim;
  byId("claim-draw").textContent = game && game.claim ? `claim the draw (${game.claim.includes("fifty") ? "fifty moves" : "repetition"})` : "";
  renderPlayers();
  renderGameMoves();
  renderSteps();
}

function renderPlayers() {
  const game = play.game;
  for (const [id, side] of [["player-top", play.flipped ? 0 : 1], ["player-bottom", play.flipped ? 1 : 0]]) {
    if (!game) { fill(id); continue; }
    const name = side === game.person ? "You" : game.engine;
    const row = fill(id, el("b", {}, disc(side), name), game.control ? el("span", { class: "clock", "data-side": side, role: "timer", "aria-label": `${name}'s clock` }) : null);
    row.classList.toggle("turn", game.points === null && play.positions[play.moves.length].turn === side);
  }
  renderClocks();
}

// Between two answers of the program the running clock goes on by itself.
function renderClocks() {
  const game = play.game;
  if (!game || !game.left) return;
  for (const node of document.querySelectorAll(".clock")) {
    const side = Number(node.dataset.side), isRunning = game.running === side;
    const left = Math.max(0, game.left[side] - (isRunning ? performance.now() - news.state.at : 0));
    const text = clockText(left);
    if (node.textContent !== text) node.textContent = text;
    node.classList.toggle("running", isRunning);
    node.classList.toggle("low", isRunning && left < 10000);
  }
}

function renderGameMoves() {
  const list = byId("game-moves"), pairs = [];
  list.hidden = !play.sans.length;
  play.sans.forEach((san, index) => {
    const position = play.positions[index];
    if (position.turn === 0 || index === 0) {
      pairs.push(el("div", { class: "pair" }, el("em", {}, `${position.number}.`)));
      if (position.turn === 1) pairs[pairs.length - 1].append(el("em", {}, "…"));
    }
    const isNow = index + 1 === play.ply;
    pairs[pairs.length - 1].append(el("button", {
      type: "button", class: isNow ? "now" : null, tabindex: index === Math.max(0, play.ply - 1) ? "0" : "-1", "aria-current": isNow ? "true" : null,
      "aria-label": `${moveNumber(position)} ${san}`, onclick: () => goToPly(index + 1),
    }, san));
  });
  refill("game-moves", pairs);
  const now = list.querySelector(".now");
  list.scrollTop = now ? now.offsetTop - list.clientHeight / 2 : 0;
}

async function makeGameMove(move) {
  const ply = play.moves.length;
  const done = await send("game/move", { move, ply });
  if (done === null) renderPlay();
}

const chosenLevel = () => (Number(byId("level").value) > 3000 ? null : Number(byId("level").value));
const levelText = () => (chosenLevel() === null ? "all it has" : byId("level").value);

function chosenPerson() {
  const colour = new FormData(byId("new-form")).get("colour");
  return colour === "random" ? Math.floor(2 * Math.random()) : Number(colour);
}

function startPlay() {
  byId("level").addEventListener("input", () => { byId("level-text").textContent = levelText(); });
  byId("level-text").textContent = levelText();
  byId("take-back").addEventListener("click", () => send("game/take-back"));
  byId("hint").addEventListener("click", () => send("game/hint"));
  byId("offer-draw").addEventListener("click", () => send("game/offer-draw"));
  byId("claim-draw").addEventListener("click", () => send("game/claim-draw"));
  byId("resign").addEventListener("click", () => { if (confirm("Resign this game?")) send("game/resign"); });
  setInterval(renderClocks, 100);
}
