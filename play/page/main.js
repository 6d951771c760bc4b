// The desk: one board, and the tabs that use it.
const TABS = ["play", "analyse", "review", "inside"];
const desk = { tab: "play", board: null };

function chooseTab(name) {
  desk.tab = TABS.includes(name) ? name : "play";
  for (const tab of TABS) {
    const isChosen = tab === desk.tab;
    byId(`tab-${tab}`).setAttribute("aria-selected", String(isChosen));
    byId(`tab-${tab}`).setAttribute("tabindex", isChosen ? "0" : "-1");
    byId(`panel-${tab}`).hidden = !isChosen;
  }
  byId("panel-open").hidden = desk.tab === "play";
  if (location.hash !== `#${desk.tab}`) history.replaceState(null, "", `#${desk.tab}`);
  if (desk.tab === "play") renderPlay();
  else { renderAnalysis(); askAnalysis(); }
  if (desk.tab === "review") renderReview();
}

const position = () => (desk.tab === "play" ? (play.game ? play.positions[play.ply] : readFen(START_FEN)) : analysis.tree.now.position);

function step(name) {
  if (desk.tab === "play") return goToPly({ first: 0, back: play.ply - 1, next: play.ply + 1, last: play.moves.length }[name]);
  const { tree } = analysis, { now } = tree;
  return goToNode({ first: tree.root, back: now.parent || now, next: now.children[0] || now, last: tree.end() }[name]);
}

function renderSteps() {
  const isStart = desk.tab === "play" ? play.ply === 0 : analysis.tree.now === analysis.tree.root;
  const isEnd = desk.tab === "play" ? play.ply === play.moves.length : !analysis.tree.now.children.length;
  for (const id of ["first", "back"]) byId(id).disabled = isStart;
  for (const id of ["next", "last"]) byId(id).disabled = isEnd;
}

function flip() {
  const side = desk.tab === "play" ? play : analysis;
  side.flipped = !side.flipped;
  if (desk.tab === "play") renderPlay();
  else renderAnalysis();
}

function makeBoardMove(move) {
  if (desk.tab === "play") makeGameMove(move);
  else makeTreeMove(move);
}

// A typed move: in a game the server reads it, in analysis the page, from all legal ones.
function typeMove(event) {
  event.preventDefault();
  const field = byId("typed-move"), text = field.value.trim();
  if (!text) return;
  field.value = "";
  if (desk.tab === "play") {
    if (play.game) makeGameMove(text);
    else say("There is no game: start one first.", true);
    return;
  }
  const move = findMove(analysis.tree.now.position, text);
  if (move) { say(""); makeTreeMove(move); } else say(`${text} is no legal move here.`, true);
}

function findMove(now, text) {
  const plainText = (san) => san.replace(/[+#=x]/g, "").replace(/0/g, "O");
  const moves = now.squares.flatMap((piece, from) => (piece && sideOf(piece) === now.turn ? placesFrom(now, from).flatMap((to) => {
    const move = squareName(from) + squareName(to), promotes = piece.toLowerCase() === "p" && (to < 8 || to > 55);
    return promotes ? [...PROMOTIONS].map((kind) => move + kind) : [move];
  }) : []));
  return moves.find((move) => move === text.toLowerCase()) || moves.find((move) => plainText(sanOf(now, move)) === plainText(text)) || null;
}

const KEYS = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" };

function hearKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) return;
  if (event.target.getAttribute && event.target.getAttribute("role") === "tab" && KEYS[event.key]) {
    const index = TABS.indexOf(desk.tab) + (event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0);
    chooseTab(TABS[(index + TABS.length) % TABS.length]);
    byId(`tab-${desk.tab}`).focus();
  } else if (KEYS[event.key]) step(KEYS[event.key]);
  else if (event.key === "f") flip();
  else return;
  event.preventDefault();
}

function start() {
  desk.board = new InteractiveBoard(byId("board"), { onMove: makeBoardMove });
  for (const tab of TABS) byId(`tab-${tab}`).addEventListener("click", () => chooseTab(tab));
  for (const id of ["first", "back", "next", "last"]) byId(id).addEventListener("click", () => step(id));
  byId("flip").addEventListener("click", flip);
  byId("copy-fen").addEventListener("click", () => copy(byId("copy-fen"), fenOf(position())));
  byId("typed").addEventListener("submit", typeMove);
  document.addEventListener("keydown", hearKey);
  addEventListener("hashchange", () => chooseTab(location.hash.slice(1)));
  startPlay();
  startGames();
  startAnalysis();
  startReview();
  startInside();
  news.listeners.push((state) => receiveGame(state.game), (state) => receiveGames(state.game), (state) => {
    if (document.activeElement !== byId("threads")) byId("threads").value = state.settings.Threads;
    if (document.activeElement !== byId("hash")) byId("hash").value = state.settings.Hash;
    byId("use-tables").checked = state.settings.Tables;
    if (desk.tab !== "play") { renderEngine(); renderAnalysisBoard(); }
  }, receiveAnalysis, receiveReview, receiveInside);
  chooseTab(location.hash.slice(1));
  ask();
}

start();
