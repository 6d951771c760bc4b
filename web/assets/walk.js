// Going through the moves of a game that is over. The page has the state `view` (game, ply, positions, sans, line, inLine)
// and the functions `openGame`, `goTo` and `enterLine`; here is what all such pages do alike.

// The moves in pairs, a button each. `extra(index)` gives what a page knows of one: {kind, glyph, words}.
function moveList(extra) {
  const pairs = [];
  view.sans.forEach((san, index) => {
    const position = view.positions[index], { kind = null, glyph = "", words = "" } = extra(index);
    if (position.turn === 0 || index === 0) {
      pairs.push(el("div", { class: "pair" }, el("em", {}, `${position.number}.`)));
      if (position.turn === 1) pairs[pairs.length - 1].append(el("em", {}, "…"));
    }
    pairs[pairs.length - 1].append(el("button", {
      type: "button", tabindex: "-1", "data-ply": index + 1, class: kind,
      "aria-label": `${moveNumber(position)} ${san}${words}`, onclick: () => goTo(index + 1),
    }, san + glyph));
  });
  return pairs;
}

// Only the move that is shown is in the order of tabs: arrow keys lead to the others.
function markMove(selector, name, value) {
  let now = null;
  for (const button of document.querySelectorAll(selector)) {
    const isNow = Number(button.dataset[name]) === value;
    button.classList.toggle("now", isNow);
    button.setAttribute("tabindex", isNow ? "0" : "-1");
    if (isNow) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    if (isNow) now = button;
  }
  return now;
}

// Marks the move in the list and brings it into sight.
function showMove(ply) {
  const now = markMove("#moves button", "ply", ply), list = byId("moves");
  list.scrollTop = now ? now.offsetTop - list.clientHeight / 2 : 0;
}

// A line from a position as far as it is legal: [{move, san, position, after}, …].
function legalLine(position, moves) {
  const found = [];
  for (const move of moves) {
    if (!isLegal(position, move)) break;
    const after = makeMove(position, move);
    found.push({ move, san: sanOf(position, move), position, after });
    position = after;
  }
  return found;
}

// A line's moves as buttons that show them on the board.
function lineButtons(line, name) {
  return line.flatMap(({ san, position }, index) => [
    position.turn === 0 || index === 0 ? el("em", {}, moveNumber(position)) : null,
    el("button", { type: "button", "data-step": index, "aria-label": `${name}: ${moveNumber(position)} ${san}`, onclick: () => enterLine(index) }, san),
  ]);
}

// Inside a line the arrows follow it; back over its beginning leads to the game again.
function step(distance) {
  if (view.inLine === null) return goTo(view.ply + distance);
  if (view.inLine + distance < 0) return goTo(view.ply);
  return enterLine(view.inLine + distance);
}

// Escape leads out of a line, then out of the game; `keys` name controls. Fields, lists and buttons keep what they need.
function walkByKeys(keys, controls) {
  document.addEventListener("keydown", (event) => {
    if (!view.game || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return view.inLine === null ? controls.close() : goTo(view.ply);
    const target = event.target, name = keys[event.key];
    if (!name || /INPUT|SELECT|TEXTAREA/.test(target.tagName) || (target !== document.body && !byId("viewer").contains(target))) return;
    if (event.key === " " && /BUTTON|A/.test(target.tagName)) return;
    event.preventDefault();
    const wasMove = byId("moves").contains(target);
    controls[name]();
    const now = document.querySelector("#moves .now");
    if (wasMove && now && view.inLine === null) now.focus({ preventScroll: true });
  });
}

// Opens the game that the address names, if there is one.
function openLinked() {
  const wanted = /#game=(\d+)(?:&ply=(\d+))?/.exec(location.hash);
  const game = wanted && data.games.find((each) => each.g === Number(wanted[1]));
  if (game) openGame(game, Number(wanted[2] || 0), true);
}

function followLinks() {
  addEventListener("hashchange", openLinked);
  openLinked();
}
