// What the pages for playing tell the person: messages, and texts as files.
function say(text, isProblem = false) {
  const box = byId("message");
  box.textContent = text;
  box.classList.toggle("problem", isProblem);
  box.hidden = !text;
}

// The messages of a state that are new to a page that knows of so many.
const newMessages = (state, known) => state.messages.slice(Math.max(0, state.messages.length - Math.max(0, state.said - known)));

// Draws buttons anew. The keyboard's focus goes to the one that is chosen now, or stays in its place.
function refill(id, ...children) {
  const buttons = () => [...byId(id).querySelectorAll("button")], place = buttons().indexOf(document.activeElement);
  fill(id, ...children);
  const next = place < 0 ? null : byId(id).querySelector(".now") || buttons()[Math.min(place, buttons().length - 1)];
  if (next) next.focus({ preventScroll: true });
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// A text as a file of the person's own.
function download(name, text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "application/x-chess-pgn" })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
