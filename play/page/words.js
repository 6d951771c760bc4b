// What the pages for playing tell the person: messages, and texts as files.
function say(text, isProblem = false) {
  const box = byId("message");
  box.textContent = text;
  box.classList.toggle("problem", isProblem);
  box.hidden = !text;
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
