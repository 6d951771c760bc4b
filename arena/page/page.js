// The page: what the data says, a list of games, a viewer. The data comes with the page; a running contest adds to it.
const data = JSON.parse(document.getElementById("data").textContent);
const MATE = 90000;
const view = { game: null, ply: 0, positions: [], flipped: false, timer: null };

const names = () => data.engines.map((engine) => engine.name);
const colour = (player) => COLOURS[player % COLOURS.length];
const resultText = (points) => ({ 1: "1-0", 0: "0-1", 0.5: "½-½" })[points];
const isMatch = () => data.kind === "match";

function evalText(score) {
  if (score === null || score === undefined) return "";
  if (Math.abs(score) > MATE) return `${score > 0 ? "" : "−"}mate in ${100000 - Math.abs(score)}`;
  return signed(score / 100, 2);
}

function clockText(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "";
  const seconds = milliseconds / 1000;
  if (seconds >= 60) return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
  return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
}

// Header and figures

function renderHeader() {
  document.title = data.name;
  fill("title", data.name);
  const controls = [...new Set(data.engines.map((engine) => engine.control))].join(" and ");
  const openings = data.openings ? `, openings from ${data.openings}` : "";
  fill("subtitle", `${data.format}, ${controls}${openings}`);
  const done = data.summary.games, total = data.total;
  const state = document.getElementById("state");
  state.textContent = data.live ? `${done}${total ? ` of ${total}` : ""} games` : `${done} games`;
  state.classList.toggle("live", data.live && !data.over);
  document.getElementById("progress").style.width = total && !data.over ? `${Math.min(100, (100 * done) / total)}%` : "100%";
}

function figure(value, label) {
  return el("div", { class: "figure" }, el("b", {}, value), el("span", {}, label));
}

function renderFigures() {
  const summary = data.summary, found = [];
  if (isMatch()) {
    const [first, second] = names();
    found.push(figure(`+${summary.wins} −${summary.losses} =${summary.draws}`, `${first} against ${second}`));
    if (summary.elo !== null && summary.elo !== undefined) {
      const error = summary.elo_low === null || summary.elo_high === null ? "" : ` ± ${((summary.elo_high - summary.elo_low) / 2).toFixed(1)}`;
      found.push(figure(signed(summary.elo, 1) + error, "Elo, 95 %"));
    } else if (summary.games) {
      const above = summary.wins > summary.losses;
      const end = above ? summary.elo_low : summary.elo_high;
      found.push(figure(end === null || end === undefined ? "–" : `${above ? "above" : "below"} ${signed(end)}`, "Elo, 95 %"));
    }
    if (summary.normalized_elo !== null) found.push(figure(`${signed(summary.normalized_elo, 1)} ± ${summary.normalized_error.toFixed(1)}`, "normalised Elo"));
    if (summary.los !== null) found.push(figure(`${(100 * summary.los).toFixed(1)} %`, "likelihood of superiority"));
    if (summary.llr !== undefined) {
      const verdict = summary.verdict === "H1" ? `: ${data.sprt.elo1} accepted` : summary.verdict === "H0" ? `: ${data.sprt.elo0} accepted` : "";
      found.push(figure(summary.llr.toFixed(2), `LLR for [${data.sprt.elo0}, ${data.sprt.elo1}]${verdict}`));
    }
    found.push(figure(summary.pentanomial.join(" · "), "pairs with 0, ½, 1, 1½, 2 points"));
  } else {
    found.push(figure(`${summary.games}${data.total && data.live ? ` of ${data.total}` : ""}`, "games"));
    found.push(figure(`${summary.round} of ${summary.rounds}`, "round"));
    const leader = summary.standings[0];
    if (summary.games) found.push(figure(leader.engine, `leads with ${half(leader.points)} points`));
  }
  found.push(figure(`${summary.overhead_ms.toFixed(2)} ms`, "runner's time per move"));
  fill("figures", found);
}

// Tables

function table(heads, rows) {
  return el("table", {}, el("thead", {}, el("tr", {}, heads.map(([text, kind]) => el("th", { class: kind || "" }, text)))),
    el("tbody", {}, rows));
}

function renderStandings() {
  const ties = { "round-robin": [["direct", "direct"], ["SB", "sonneborn_berger"]], swiss: [["Buchholz", "buchholz"], ["SB", "sonneborn_berger"]], knockout: [["rounds", "stage"]] }[data.format] || [];
  const heads = [["#"], ["engine", "left"], ["points"], ["games"], ["+"], ["−"], ["="], ["score"], ...ties.map(([title]) => [title]), ["rating"], ["± 95 %"], ["failures"], ["", "left"]];
  const rows = data.table.map((row, index) => {
    const share = row.games ? (row.wins + row.draws / 2) / row.games : 0;
    const split = el("div", { class: "split", title: `${row.wins} won, ${row.draws} drawn, ${row.losses} lost` },
      [["wins", "--win"], ["draws", "--draw"], ["losses", "--loss"]].map(([key, name]) => {
        const part = el("span", {});
        part.style.cssText = `flex: ${row[key]}; background: var(${name})`;
        return part;
      }));
    split.style.cssText = "width: 120px; margin: 0";
    return el("tr", {}, el("td", {}, String(index + 1)), el("td", { class: "left name" }, row.engine), el("td", { class: "points" }, half(row.points)), el("td", {}, String(row.games)),
      el("td", {}, String(row.wins)), el("td", {}, String(row.losses)), el("td", {}, String(row.draws)), el("td", {}, row.games ? `${(100 * share).toFixed(1)} %` : ""),
      ties.map(([, key]) => el("td", {}, String(Math.round(100 * row[key]) / 100))),
      el("td", {}, row.rating_error === null && !row.anchor ? "" : row.rating.toFixed(0)), el("td", {}, row.anchor ? "anchor" : row.rating_error === null ? "" : row.rating_error.toFixed(0)),
      el("td", {}, row.failures ? String(row.failures) : ""), el("td", {}, split));
  });
  fill("standings-table", table(heads, rows));
}

function renderCross() {
  const rows = data.table.map((row, index) => el("tr", {}, el("td", {}, String(index + 1)), el("td", { class: "left name" }, row.engine),
    data.table.map((other) => {
      if (other.engine === row.engine) return el("td", { class: "self" }, "×");
      const scores = row.against[other.engine];
      if (!scores) return el("td", { class: "self" }, "·");
      const points = scores.reduce((sum, each) => sum + each, 0), share = points / scores.length;
      const cell = el("td", { class: "score", title: scores.length <= 40 ? scores.map(half).join(" ") : "" }, `${half(points)} / ${scores.length}`);
      const strength = Math.abs(share - 0.5) * 0.9;
      cell.style.background = `color-mix(in srgb, var(${share >= 0.5 ? "--win" : "--loss"}) ${Math.round(100 * strength)}%, transparent)`;
      return cell;
    })));
  fill("cross-table", table([["#"], ["engine", "left"], ...data.table.map((_, index) => [String(index + 1)])], rows));
}

function renderRatings() {
  fill("rating-plot", ratingPlot(data.table.map((row) => ({
    name: row.engine, elo: row.rating, error: row.anchor ? 0 : row.rating_error, colour: colour(names().indexOf(row.engine)),
  }))));
}

// Courses

function renderScores() {
  const series = [], games = data.games;
  if (isMatch()) {
    // The first engine's score in per cent with its error, by pairs.
    const values = [], band = [];
    let points = 0, count = 0;
    const pairs = new Map(), done = [];
    let sum = 0, squares = 0;
    for (const game of games) {
      const own = game.p[0] === 0 ? game.s : 1 - game.s;
      points += own;
      count += 1;
      const pair = pairs.get(game.q);
      if (pair === undefined) pairs.set(game.q, own);
      else {
        const score = (pair + own) / 2;
        sum += score;
        squares += score * score;
        done.push(score);
      }
      values.push([count, (100 * points) / count]);
      const size = done.length;
      if (size > 1) {
        const mean = sum / size, error = 196 * Math.sqrt(Math.max(0, squares / size - mean * mean) / size);
        band.push([count, 100 * mean - error, 100 * mean + error]);
      }
    }
    const settled = thin(values.slice(Math.min(values.length - 1, Math.floor(values.length / 20))));
    const reach = Math.max(6, ...settled.map(([, value]) => Math.abs(value - 50))) * 1.3;
    series.push({ values: thin(values), band: thin(band), colour: colour(0) });
    fill("score-plot", lineChart({ series, width: 1180, height: 230, low: Math.max(0, 50 - reach), high: Math.min(100, 50 + reach), zero: 50, format: (value) => `${value.toFixed(value % 1 ? 1 : 0)} %` }),
      legend([[`${names()[0]}, per cent of the points, with the 95 % error`, colour(0)]]));
    return;
  }
  const lead = names().map(() => 0), courses = names().map(() => [[0, 0]]);
  games.forEach((game, index) => {
    lead[game.p[0]] += game.s - 0.5;
    lead[game.p[1]] += 0.5 - game.s;
    for (const player of game.p) courses[player].push([index + 1, lead[player]]);
  });
  names().forEach((_, player) => {
    const values = courses[player];
    values.push([games.length, lead[player]]);
    series.push({ values: thin(values), colour: colour(player) });
  });
  const all = series.flatMap((each) => each.values.map((value) => value[1]));
  fill("score-plot", lineChart({ series, width: 1180, height: 230, low: Math.min(-1, ...all), high: Math.max(1, ...all), zero: 0, format: (value) => signed(value) || "0" }),
    legend([...names().map((name, player) => [name, colour(player)])]), el("p", { class: "muted" }, "Points above half of those played for."));
}

function renderTest() {
  const trace = data.summary.llr_trace;
  document.getElementById("llr").hidden = !trace;
  if (!trace) return;
  const [low, high] = data.summary.llr_bounds;
  const end = Math.max(1, trace.length ? trace[trace.length - 1][0] : 1);
  const bound = (value) => ({ values: [[0, value], [end, value]], colour: "var(--soft)", dashed: true });
  fill("llr-plot", lineChart({ series: [bound(low), bound(high), { values: [[0, 0], ...trace], colour: colour(0) }], width: 1180, low: Math.min(low, ...trace.map((point) => point[1])) - 0.3, high: Math.max(high, ...trace.map((point) => point[1])) + 0.3, zero: 0 }),
    el("p", { class: "muted" }, "Log-likelihood ratio over pairs, between its bounds."));
}

function renderStatistics() {
  const games = data.games, count = (points) => games.filter((game) => game.s === points).length;
  const results = [["White won", count(1), "var(--win)"], ["drawn", count(0.5), "var(--draw)"], ["Black won", count(0), "var(--loss)"]];
  const all = games.length || 1;
  fill("result-bars", bars(results.map(([name, number, own]) => [`${name}, ${((100 * number) / all).toFixed(1)} %`, number, own])));
  const reasons = new Map();
  for (const game of games) {
    const reason = game.t.replace(/^(White|Black) /, "").replace(/ \(.*\)$/, "");
    reasons.set(reason, (reasons.get(reason) || 0) + 1);
  }
  fill("reason-bars", bars([...reasons].sort((one, other) => other[1] - one[1]).slice(0, 9)));
  const lengths = games.map((game) => Math.ceil(game.l / 2));
  const longest = Math.max(0, ...lengths);
  fill("length-plot", histogram(lengths, longest > 150 ? 10 : longest > 40 ? 5 : 2));
}

// Running games

function renderRunning() {
  document.getElementById("running").hidden = !data.running.length;
  fill("boards", data.running.map((game) => {
    let squares = readFen(game.fen);
    for (const move of game.moves) squares = makeMove(squares, move);
    const last = game.moves[game.moves.length - 1];
    const side = (player) => el("figcaption", {}, el("b", {}, `${player === 0 ? "○" : "●"} ${names()[game.players[player]]}`),
      el("span", { class: "muted" }, [evalText(game.scores[player]), clockText(game.clocks[player])].filter(Boolean).join("  ")));
    return el("figure", { "data-game": game.game }, side(1), drawBoard(squares, last, false), side(0));
  }));
}

// The list

let shown = 200;

function chosenGames() {
  const engine = document.getElementById("filter-engine").value, result = document.getElementById("filter-result").value;
  const text = document.getElementById("filter-text").value.toLowerCase();
  return data.games.filter((game) => {
    if (engine !== "" && !game.p.includes(Number(engine))) return false;
    if (result === "failure" ? !game.f : result && resultText(game.s) !== result) return false;
    return !text || `${game.g + 1} ${game.o} ${game.t}`.toLowerCase().includes(text);
  });
}

function renderGames() {
  const games = chosenGames().slice().reverse();
  document.querySelector("#games thead").replaceChildren(el("tr", {}, [["#"], ["round"], ["White", "left"], ["Black", "left"], ["result"], ["moves"], ["ended", "left"], ["opening", "left"]].map(([text, kind]) => el("th", { class: kind || "" }, text))));
  const rows = games.slice(0, shown).map((game) => el("tr", { "data-game": game.g, class: view.game === game ? "open" : "", onclick: () => openGame(game, null, true) },
    el("td", {}, String(game.g + 1)), el("td", {}, String(game.r)), el("td", { class: "left" }, names()[game.p[0]]), el("td", { class: "left" }, names()[game.p[1]]),
    el("td", {}, resultText(game.s)), el("td", {}, String(Math.ceil(game.l / 2))), el("td", { class: `reason${game.f ? " failure" : ""}`, title: game.t }, game.t), el("td", { class: "reason" }, game.o)));
  document.querySelector("#games tbody").replaceChildren(...rows);
  const more = games.length > shown ? `, showing ${shown}` : "";
  const cut = data.games.some((game) => !game.m) ? "; moves of the oldest are only in games.pgn" : "";
  fill("games-note", `${games.length}${more}${cut}`);
}

// The viewer

function openGame(game, ply, scroll) {
  if (!game.m && game.l) return;
  stopPlaying();
  view.game = game;
  view.moves = game.m ? game.m.split(" ") : [];
  view.sans = game.a ? game.a.split(" ") : [];
  view.positions = [readFen(game.n)];
  for (const move of view.moves) view.positions.push(makeMove(view.positions[view.positions.length - 1], move));
  view.first = game.n.split(" ")[1] === "b" ? 1 : 0;
  view.number = Number(game.n.split(" ")[5]) || 1;
  const panel = document.getElementById("viewer");
  panel.hidden = false;
  fill("game-title", `${names()[game.p[0]]} – ${names()[game.p[1]]}  ${resultText(game.s)}`);
  fill("game-note", [`game ${game.g + 1}, round ${game.r}`, game.t, game.o].filter(Boolean).join(" · "));
  fill("moves", moveList());
  goTo(ply === null ? 0 : ply);
  renderGames();
  if (scroll) panel.scrollIntoView({ behavior: "smooth", block: "start" });
}

function moveList() {
  const parts = [];
  view.sans.forEach((san, index) => {
    const black = (index + view.first) % 2 === 1, number = view.number + Math.floor((index + view.first) / 2);
    if (!black || index === 0) parts.push(el("em", {}, `${number}.${black ? ".." : ""}`));
    parts.push(el("span", { "data-ply": index + 1, class: index < view.game.b ? "book" : "", onclick: () => goTo(index + 1) }, san), " ");
  });
  return parts;
}

function at(list, ply) {
  const index = ply - 1 - view.game.b;
  return list && index >= 0 && index < list.length ? list[index] : null;
}

function goTo(ply) {
  const game = view.game;
  view.ply = Math.max(0, Math.min(ply, view.moves.length));
  fill("board", drawBoard(view.positions[view.ply], view.ply ? view.moves[view.ply - 1] : null, view.flipped));
  const turn = (view.ply + view.first) % 2;
  for (const [id, player] of [["player-top", view.flipped ? 0 : 1], ["player-bottom", view.flipped ? 1 : 0]]) {
    let left = null;
    for (let back = view.ply; back > 0 && left === null; back--) if ((back - 1 + view.first) % 2 === player) left = at(game.c, back);
    const row = fill(id, el("b", {}, names()[game.p[player]]), el("span", { class: "muted" }, clockText(left)));
    row.classList.toggle("turn", turn === player);
  }
  const facts = [];
  if (view.ply) {
    const score = at(game.e, view.ply), depth = at(game.d, view.ply), used = at(game.u, view.ply), nodes = at(game.x, view.ply);
    if (view.ply <= game.b) facts.push("opening");
    if (score !== null) facts.push(evalText(score));
    if (depth) facts.push(`depth ${depth}`);
    if (used !== null) facts.push(`${(used / 1000).toFixed(3)} s`);
    if (nodes) facts.push(`${nodes.toLocaleString("en")} nodes`);
  }
  fill("thought", facts.join("   ·   ") || " ");
  for (const span of document.querySelectorAll("#moves span")) span.classList.toggle("now", Number(span.dataset.ply) === view.ply);
  const now = document.querySelector("#moves span.now");
  const list = document.getElementById("moves");
  if (now) list.scrollTop = now.offsetTop - list.clientHeight / 2;
  else list.scrollTop = 0;
  renderGameCharts();
  history.replaceState(null, "", `#game=${game.g + 1}&ply=${view.ply}`);
}

function renderGameCharts() {
  const game = view.game, width = 620;
  const sides = (list, change) => [0, 1].map((player) => {
    const values = [];
    (list || []).forEach((value, index) => {
      const ply = index + 1 + game.b;
      if (value !== null && (ply - 1 + view.first) % 2 === player) values.push([ply, change(value)]);
    });
    return { values, colour: player === 0 ? "var(--accent)" : "var(--loss)" };
  });
  const pawns = (score) => Math.max(-10, Math.min(10, score / 100));
  const evals = sides(game.e, pawns);
  const highest = Math.max(1, ...evals.flatMap((each) => each.values.map((value) => Math.abs(value[1]))));
  const both = legend([[`${names()[game.p[0]]} (White)`, "var(--accent)"], [`${names()[game.p[1]]} (Black)`, "var(--loss)"]]);
  const axis = { values: [[view.moves.length, 0]], colour: "none" };
  fill("eval-plot", lineChart({ series: [...evals, axis], height: 150, low: -highest, high: highest, zero: 0, cursor: view.ply, onClick: goTo, width, format: (value) => signed(value, value % 1 ? 1 : 0) || "0" }), both);
  const clocks = sides(game.c, (value) => value / 1000);
  const most = Math.max(0, ...clocks.flatMap((each) => each.values.map((value) => value[1])));
  fill("clock-plot", most ? lineChart({ series: [...clocks, axis], height: 110, low: 0, high: most, cursor: view.ply, onClick: goTo, width, format: (value) => String(Math.round(100 * value) / 100) }) : el("p", { class: "muted" }, "no clock in this game"));
}

function stopPlaying() {
  clearInterval(view.timer);
  view.timer = null;
  document.getElementById("play").textContent = "play";
}

function togglePlaying() {
  if (view.timer) return stopPlaying();
  document.getElementById("play").textContent = "pause";
  view.timer = setInterval(() => (view.ply >= view.moves.length ? stopPlaying() : goTo(view.ply + 1)), 700);
}

const controls = {
  first: () => goTo(0), back: () => goTo(view.ply - 1), next: () => goTo(view.ply + 1), last: () => goTo(view.moves.length), play: togglePlaying,
  flip: () => { view.flipped = !view.flipped; goTo(view.ply); },
};
for (const [id, action] of Object.entries(controls)) document.getElementById(id).addEventListener("click", action);
document.addEventListener("keydown", (event) => {
  if (!view.game || /INPUT|SELECT/.test(event.target.tagName)) return;
  const action = { ArrowLeft: controls.back, ArrowRight: controls.next, Home: controls.first, End: controls.last, " ": controls.play, f: controls.flip }[event.key];
  if (action) { event.preventDefault(); action(); }
});

// Everything

function renderAll() {
  renderHeader();
  renderFigures();
  renderStandings();
  renderCross();
  renderRatings();
  renderScores();
  renderTest();
  renderStatistics();
  renderGames();
}

document.getElementById("theme").addEventListener("click", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
});
document.getElementById("filter-engine").append(el("option", { value: "" }, "all engines"), ...names().map((name, player) => el("option", { value: String(player) }, name)));
for (const id of ["filter-engine", "filter-result", "filter-text"]) document.getElementById(id).addEventListener("input", renderGames);
renderAll();
renderRunning();

function openLinked(scroll) {
  const wanted = /#game=(\d+)(?:&ply=(\d+))?/.exec(location.hash);
  const game = wanted && data.games.find((each) => each.g === Number(wanted[1]) - 1);
  if (game) openGame(game, Number(wanted[2] || 0), scroll);
}
openLinked(false);

// A running contest: ask for what is new.
async function update() {
  try {
    let news, more = false;
    do {
      const answer = await fetch(`state.json?games=${data.games.length}`, { cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      news = await answer.json();
      more = more || news.games.length > 0;
      data.games.push(...news.games);
    } while (!news.complete);
    const overview = JSON.stringify(news.overview);
    const changed = more || news.over || overview !== view.overview;
    view.overview = overview;
    Object.assign(data, news.overview, { running: news.running, over: news.over });
    if (changed) renderAll();
    renderRunning();
    if (!view.game) openLinked(false);
    if (data.over) return;
  } catch (error) {
    const state = document.getElementById("state");
    state.textContent = "connection lost";
    state.classList.remove("live");
  }
  setTimeout(update, 1000);
}
if (data.live) update();
