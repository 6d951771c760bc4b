// Talks to the program behind the page: asks for news now and then, and sends what the person does.
const data = JSON.parse(byId("data").textContent);
const news = { version: "", timer: null, isOnline: true, listeners: [], state: null, complaint: "" };
const IDLE = 500, BUSY = 150, HIDDEN = 2000, LOST = 1000;  // milliseconds between two questions

// Sends something; gives what comes back, or null after the person was told why it was refused. What the page asks by itself
// takes no message away but such a refusal.
async function send(path, body = {}, isByItself = false) {
  let reply, answer;
  try {
    reply = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json", "X-Quetzal-Token": data.token }, body: JSON.stringify(body) });
    answer = reply.headers.get("Content-Type") === "application/json" ? await reply.json() : { problem: (await reply.text()).trim() };
  } catch {
    setOnline(false);
    complain("Quetzal does not answer. Is it still running?");
    return null;
  }
  setOnline(true);
  if (!reply.ok) {
    complain(sentence(answer.problem || reply.statusText));
    return null;
  }
  if (!isByItself || byId("message").textContent === news.complaint) say("");
  askNow();
  return answer;
}

function complain(text) {
  news.complaint = text;
  say(text, true);
}

function setOnline(isOnline) {
  news.isOnline = isOnline;
  byId("state").textContent = isOnline ? "" : "no connection";
  byId("state").hidden = isOnline;
}

async function ask() {
  try {
    const reply = await fetch(`state.json?since=${news.version}`, { cache: "no-store" });
    const state = await reply.json();
    setOnline(true);
    if (state.version !== undefined) {
      // To a page that was just loaded all of them are old, after a start of the program all are new.
      const messages = newMessages(state, news.state === null ? state.said : startOf(state) === startOf(news.state) ? news.state.said : 0);
      if (messages.length) say(messages.join("; "));
      news.version = state.version;
      news.state = { ...state, at: performance.now() };
      for (const listener of news.listeners) listener(news.state);
    }
  } catch {
    setOnline(false);
  }
  clearTimeout(news.timer);
  news.timer = setTimeout(ask, !news.isOnline ? LOST : document.hidden ? HIDDEN : isBusy() ? BUSY : IDLE);
}

function askNow() {
  clearTimeout(news.timer);
  news.timer = setTimeout(ask, 10);
}

// Which start of the program a state is of.
const startOf = (state) => state.version.split("-")[0];

const isBusy = () => news.state !== null && ((news.state.game && news.state.game.thinking) || (news.state.analysis && news.state.analysis.running) || Object.values(news.state.tasks).some((task) => task.running));
