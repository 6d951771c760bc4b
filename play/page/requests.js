// Talks to the program behind the page: asks for news now and then, and sends what the person does.
const data = JSON.parse(byId("data").textContent);
const news = { version: "", timer: null, isOnline: true, listeners: [], state: null };
const IDLE = 500, BUSY = 150, HIDDEN = 2000, LOST = 1000;  // milliseconds between two questions

// Sends something; gives what comes back, or null after the person was told why it was refused.
async function send(path, body = {}) {
  let reply, answer;
  try {
    reply = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json", "X-Quetzal-Token": data.token }, body: JSON.stringify(body) });
    answer = reply.headers.get("Content-Type") === "application/json" ? await reply.json() : { problem: (await reply.text()).trim() };
  } catch {
    setOnline(false);
    say("Quetzal does not answer. Is it still running?", true);
    return null;
  }
  setOnline(true);
  if (!reply.ok) {
    say(sentence(answer.problem || reply.statusText), true);
    return null;
  }
  say("");
  askNow();
  return answer;
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
      const messages = state.messages.slice(news.state ? news.state.messages.length : state.messages.length);
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

const isBusy = () => news.state !== null && ((news.state.game && news.state.game.thinking) || (news.state.analysis && news.state.analysis.running) || Object.values(news.state.tasks).some((task) => task.running));
