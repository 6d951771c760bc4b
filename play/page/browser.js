// The page that brings its program along: Quetzal runs in a worker beside it, so that the page never waits for a search.
const GAME_KEY = "quetzal-game";
const KEPT_FIELDS = ["fen", "chess960", "person", "level", "book", "movetime", "moves"];
const data = JSON.parse(byId("data").textContent);
const desk = { tab: "play", board: null };
const news = { state: null };
const program = { worker: null, isReady: false, count: 0, waiting: new Map() };

// Sends something; gives what comes back, or null after the person was told why it was refused. The worker hears it when
// the move that it is looking for has been made.
function send(path, body = {}) {
  if (!program.isReady) {
    say(program.worker ? "Quetzal is still being loaded." : "Quetzal does not run here.", true);
    return Promise.resolve(null);
  }
  if (play.game && play.game.thinking) say("Quetzal finishes its move first …");
  return new Promise((resolve) => {
    program.count += 1;
    program.waiting.set(program.count, resolve);
    program.worker.postMessage(JSON.stringify({ id: program.count, path, body }));
  });
}

function hear({ kind, ...message }) {
  if (kind === "ready") becomeReady();
  else if (kind === "state") receive(message.state);
  else if (kind === "failed") fail(message.text);
  else if (kind === "answer") {
    const resolve = program.waiting.get(message.id);
    program.waiting.delete(message.id);
    say(message.problem ? sentence(message.problem) : "", Boolean(message.problem));
    if (resolve) resolve(message.problem ? null : message.answer);
  }
}

function receive(state) {
  const messages = newMessages(state, news.state ? news.state.said : 0);
  news.state = { ...state, at: performance.now() };
  if (messages.length) say(messages.join("; "));
  receiveGame(state.game);
  keep(state.game);
}

function becomeReady() {
  program.isReady = true;
  byId("state").hidden = true;
  byId("begin").disabled = false;
  const before = remembered();
  if (before) send("game/new", before).then((done) => { if (done === null) keep(null); });
}

// Nothing of it runs any more; the game goes on when the page is loaded again.
function fail(text) {
  program.isReady = false;
  if (program.worker) program.worker.terminate();
  program.worker = null;
  byId("state").textContent = "not running";
  byId("state").className = "badge lost";
  byId("state").hidden = false;
  byId("begin").disabled = true;
  for (const resolve of program.waiting.values()) resolve(null);
  program.waiting.clear();
  if (play.game) byId("game-status").textContent = "Quetzal has stopped";
  say(sentence(text), true);
}

// A game that is not over survives a reload, where the browser remembers anything.
function keep(game) {
  try {
    if (game && game.points === null) localStorage.setItem(GAME_KEY, JSON.stringify(Object.fromEntries(KEPT_FIELDS.map((name) => [name, game[name]]))));
    else localStorage.removeItem(GAME_KEY);
  } catch { /* it is forgotten with the page */ }
}

function remembered() {
  try {
    const game = JSON.parse(localStorage.getItem(GAME_KEY));
    return game !== null && typeof game === "object" && !Array.isArray(game) ? game : null;
  } catch {
    return null;
  }
}

async function startGame(event) {
  event.preventDefault();
  const wanted = { person: chosenPerson(), level: chosenLevel(), movetime: Number(byId("movetime").value), book: byId("book").checked };
  const start = byId("start").value.trim();
  if (start) wanted.fen = start;
  if ((await send("game/new", wanted)) !== null) byId("board").scrollIntoView({ block: "nearest" });
}

async function saveGame() {
  const found = await send("game/pgn");
  if (found !== null) download(`quetzal-${play.game.id}.pgn`, found.pgn);
}

function step(name) {
  goToPly({ first: 0, back: play.ply - 1, next: play.ply + 1, last: play.moves.length }[name]);
}

function renderSteps() {
  for (const id of ["first", "back"]) byId(id).disabled = play.ply === 0;
  for (const id of ["next", "last"]) byId(id).disabled = play.ply === play.moves.length;
}

function flip() {
  play.flipped = !play.flipped;
  renderPlay();
}

function typeMove(event) {
  event.preventDefault();
  const text = byId("typed-move").value.trim();
  if (!text) return;
  byId("typed-move").value = "";
  if (play.game) makeGameMove(text);
  else say("There is no game: start one first.", true);
}

const KEYS = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" };

function hearKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) return;
  if (KEYS[event.key]) step(KEYS[event.key]);
  else if (event.key === "f") flip();
  else return;
  event.preventDefault();
}

function startProgram() {
  if (location.protocol === "file:") {
    fail("browsers do not run this page from a file: give its folder to a web server, for example with python3 -m http.server");
    return;
  }
  try {
    program.worker = new Worker("worker.js");
    program.worker.addEventListener("message", (event) => hear(JSON.parse(event.data)));
    program.worker.addEventListener("error", (event) => { event.preventDefault(); fail(`Quetzal could not be loaded: ${event.message || "a file is missing"}`); });
  } catch (error) {
    fail(`this browser cannot run Quetzal: ${error.message}`);
  }
}

function start() {
  desk.board = new InteractiveBoard(byId("board"), { onMove: makeGameMove });
  for (const id of ["first", "back", "next", "last"]) byId(id).addEventListener("click", () => step(id));
  byId("flip").addEventListener("click", flip);
  byId("typed").addEventListener("submit", typeMove);
  byId("new-form").addEventListener("submit", startGame);
  byId("save-game").addEventListener("click", saveGame);
  document.addEventListener("keydown", hearKey);
  byId("facts").textContent = `Quetzal ${data.version}. Everything runs on your device; nothing is sent anywhere.`;
  byId("state").textContent = `loading ${data.megabytes} MB …`;
  startPlay();
  renderPlay();
  startProgram();
}

start();
