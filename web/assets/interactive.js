// A board that moves are made on: by dragging, by two clicks, or with arrow keys and Enter. It knows the rules of moves and
// nothing of games: whoever owns it says what to show and whose men may be moved, and is told of moves in UCI's notation.
const PROMOTIONS = "qrbn";

class InteractiveBoard {
  constructor(host, { onMove, label = "Board" }) {
    this.host = host;
    this.onMove = onMove;
    this.label = label;
    this.shown = { position: readFen("8/8/8/8/8/8/8/8 w - - 0 1"), lastMove: null, flipped: false, movable: null, arrows: [], values: null };
    this.drawn = null;  // what the men that are on the screen were drawn from
    this.selected = null;
    this.drag = null;
    this.cursor = 4;
    this.hasKeys = false;
    this.live = el("div", { class: "unseen", "aria-live": "polite" });
    this.area = el("div", { class: "board-area", tabindex: "0", role: "application", "aria-roledescription": "chessboard", "aria-label": label });
    this.choice = el("div", { class: "promotion", role: "dialog", "aria-label": "promote to", hidden: "" });
    host.replaceChildren(this.area, this.choice, this.live);
    this.area.addEventListener("pointerdown", (event) => this.press(event));
    this.area.addEventListener("pointermove", (event) => this.follow(event));
    this.area.addEventListener("pointerup", (event) => this.release(event));
    this.area.addEventListener("pointercancel", () => this.drop());
    this.area.addEventListener("keydown", (event) => this.hearKey(event));
    this.area.addEventListener("blur", () => { this.hasKeys = false; this.drawOver(); });
    new ResizeObserver(() => this.show({})).observe(host);
  }

  // Changes what is shown; what is not named stays. arrows: [{from, to, kind}], values: {square: text}; movable: the side
  // whose men may be moved, "both" or null.
  show(changes) {
    const before = this.shown;
    this.shown = { ...before, ...changes };
    const { position, lastMove, flipped } = this.shown, pixels = this.host.clientWidth || 400;
    const key = JSON.stringify([position.squares, position.turn, lastMove, flipped, pixels]);
    if (key !== this.drawn) {
      this.drawn = key;
      if (before.position !== position) { this.selected = null; this.closeChoice(); this.drag = null; }
      this.svg = drawBoard(position, { lastMove, flipped, pixels, label: this.label });
      this.over = svg("g", {});
      this.svg.append(this.over);
      this.area.replaceChildren(this.svg);
      this.area.setAttribute("aria-label", `${this.label}, arrow keys and Enter. ${boardText(position)}`);
    }
    this.drawOver();
  }

  place(square) {
    const file = square % 8, rank = (square - file) / 8;
    return this.shown.flipped ? [45 * (7 - file), 45 * rank] : [45 * file, 45 * (7 - rank)];
  }

  squareAt(event) {
    const box = this.svg.getBoundingClientRect();
    const x = Math.floor((8 * (event.clientX - box.left)) / box.width), y = Math.floor((8 * (event.clientY - box.top)) / box.height);
    if (x < 0 || x > 7 || y < 0 || y > 7) return null;
    return this.shown.flipped ? 8 * y + 7 - x : 8 * (7 - y) + x;
  }

  mayMove(square) {
    const { position, movable } = this.shown, piece = position.squares[square];
    return piece !== null && movable !== null && sideOf(piece) === position.turn && (movable === "both" || movable === position.turn);
  }

  drawOver() {
    if (!this.over) return;
    const { position, arrows, values } = this.shown, parts = [];
    const square = (at, name) => { const [x, y] = this.place(at); return svg("rect", { x, y, width: 45, height: 45, class: name }); };
    if (this.selected !== null) {
      parts.push(square(this.selected, "selected"));
      for (const to of placesFrom(position, this.selected)) {
        const [x, y] = this.place(to);
        parts.push(position.squares[to] ? svg("circle", { cx: x + 22.5, cy: y + 22.5, r: 19.5, class: "target ring" }) : svg("circle", { cx: x + 22.5, cy: y + 22.5, r: 7, class: "target" }));
      }
    }
    for (const [at, text] of Object.entries(values || {})) {
      const [x, y] = this.place(Number(at));
      parts.push(svg("rect", { x: x + 2, y: y + 32, width: 41, height: 12, rx: 3, class: "value-back" }), svg("text", { x: x + 22.5, y: y + 41.5, "text-anchor": "middle", class: "value" }, text));
    }
    for (const arrow of arrows || []) parts.push(this.arrow(arrow));
    if (this.hasKeys) parts.push(square(this.cursor, "key-cursor"));
    this.over.replaceChildren(...parts);
    for (const group of this.svg.querySelectorAll("[data-piece].held")) group.classList.remove("held");
    if (this.drag && this.drag.isMoving) {
      const [x, y] = this.place(this.drag.from);
      const group = [...this.svg.querySelectorAll("[data-piece]")].find((each) => each.getAttribute("transform") === `translate(${x} ${y})`);
      if (group) group.classList.add("held");
      const piece = position.squares[this.drag.from];
      this.over.append(svg("g", { transform: `translate(${this.drag.x - 22.5} ${this.drag.y - 22.5})`, class: "dragged" }, svg("use", { href: pieceSymbol(piece) })));
    }
  }

  arrow({ from, to, kind = "best" }) {
    const [x1, y1] = this.place(from).map((each) => each + 22.5), [x2, y2] = this.place(to).map((each) => each + 22.5);
    const length = Math.hypot(x2 - x1, y2 - y1) || 1, dx = (x2 - x1) / length, dy = (y2 - y1) / length;
    const tip = [x2 - 4 * dx, y2 - 4 * dy], base = [x2 - 17 * dx, y2 - 17 * dy];
    const points = [tip, [base[0] - 8 * dy, base[1] + 8 * dx], [base[0] + 8 * dy, base[1] - 8 * dx]];
    return svg("g", { class: `arrow ${kind}` }, svg("line", { x1: x1 + 8 * dx, y1: y1 + 8 * dy, x2: base[0], y2: base[1] }), svg("polygon", { points: points.map((each) => each.map((number) => number.toFixed(1)).join(",")).join(" ") }));
  }

  press(event) {
    if (event.button !== 0) return;
    const square = this.squareAt(event);
    if (square === null) return;
    this.closeChoice();
    this.hasKeys = false;
    if (this.selected !== null && square !== this.selected && placesFrom(this.shown.position, this.selected).includes(square)) {
      const from = this.selected;
      this.selected = null;
      event.preventDefault();
      this.finish(from, square);
      return;
    }
    if (!this.mayMove(square)) {
      this.selected = null;
      this.drawOver();
      return;
    }
    event.preventDefault();
    this.area.focus({ preventScroll: true });
    this.hasKeys = false;
    this.area.setPointerCapture(event.pointerId);
    this.drag = { from: square, wasSelected: this.selected === square, isMoving: false, x: 0, y: 0, startX: event.clientX, startY: event.clientY };
    this.selected = square;
    this.cursor = square;
    this.drawOver();
  }

  follow(event) {
    if (!this.drag) return;
    if (!this.drag.isMoving && Math.hypot(event.clientX - this.drag.startX, event.clientY - this.drag.startY) < 5) return;
    const box = this.svg.getBoundingClientRect();
    this.drag.isMoving = true;
    this.drag.x = (360 * (event.clientX - box.left)) / box.width;
    this.drag.y = (360 * (event.clientY - box.top)) / box.height;
    this.drawOver();
  }

  release(event) {
    if (!this.drag) return;
    const { from, isMoving, wasSelected } = this.drag, to = this.squareAt(event);
    this.drag = null;
    if (isMoving && to !== null && placesFrom(this.shown.position, from).includes(to)) {
      this.selected = null;
      this.finish(from, to);
      return;
    }
    if (!isMoving && wasSelected) this.selected = null;
    if (isMoving) this.selected = null;
    this.drawOver();
  }

  drop() {
    this.drag = null;
    this.selected = null;
    this.drawOver();
  }

  finish(from, to) {
    const piece = this.shown.position.squares[from];
    this.drawOver();
    if (piece.toLowerCase() === "p" && (to < 8 || to > 55)) this.askPromotion(from, to, piece);
    else this.onMove(squareName(from) + squareName(to));
  }

  askPromotion(from, to, piece) {
    const [x, y] = this.place(to), pieces = [...PROMOTIONS].map((kind) => (isWhite(piece) ? kind.toUpperCase() : kind));
    this.choice.replaceChildren(...pieces.map((each) => el("button", { type: "button", "aria-label": pieceName(each), title: pieceName(each), onclick: () => {
      this.closeChoice();
      this.onMove(squareName(from) + squareName(to) + each.toLowerCase());
    } }, svg("svg", { viewBox: "0 0 45 45", "aria-hidden": "true" }, svg("use", { href: pieceSymbol(each) })))));
    this.choice.hidden = false;
    this.choice.style.left = `${Math.min(x, 180) / 3.6}%`;
    this.choice.style.top = `${y < 180 ? 0 : 87.5}%`;
    this.choice.firstChild.focus();
  }

  closeChoice() {
    this.choice.hidden = true;
  }

  hearKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (step) {
      const sign = this.shown.flipped ? -1 : 1;
      const file = (this.cursor % 8) + sign * step[0], rank = Math.floor(this.cursor / 8) + sign * step[1];
      if (file >= 0 && file < 8 && rank >= 0 && rank < 8) this.cursor = 8 * rank + file;
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.selected !== null && placesFrom(this.shown.position, this.selected).includes(this.cursor)) {
        const from = this.selected;
        this.selected = null;
        this.finish(from, this.cursor);
      } else {
        this.selected = this.mayMove(this.cursor) && this.selected !== this.cursor ? this.cursor : null;
      }
    } else if (event.key === "Escape" && this.selected !== null) {
      this.selected = null;
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.hasKeys = true;
    const piece = this.shown.position.squares[this.cursor];
    this.live.textContent = `${squareName(this.cursor)}, ${piece ? `${SIDES[sideOf(piece)]} ${pieceName(piece)}` : "empty"}${this.selected === this.cursor ? ", taken" : ""}`;
    this.drawOver();
  }
}
