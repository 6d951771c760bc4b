// Everything about the contest but its games: header, figures, tables and charts. The data comes with the page.
const data = JSON.parse(byId("data").textContent);
const MATE = 100000;
let repeated = new Set();  // the numbers of games with the moves of earlier ones

const names = () => data.engines.map((engine) => engine.name);
const colour = (player) => COLOURS[player % COLOURS.length];
const isMatch = () => data.kind === "match";

// Scores are from White's side; a mate is a large number less the moves to it.
function evalText(score) {
  if (score === null || score === undefined) return "";
  if (Math.abs(score) <= 0.9 * MATE) return signed(score / 100, 2);
  return `mate in ${MATE - Math.abs(score)} for ${SIDES[score > 0 ? 0 : 1]}`;
}

// Header and figures

function renderHeader() {
  document.title = data.name;
  fill("title", data.name);
  const controls = [...new Set(data.engines.map((engine) => engine.control))].join(" and ");
  const openings = data.openings ? `, ${data.openings}` : "";
  fill("subtitle", `${data.format}, ${controls}${openings}`);
  const done = data.summary.games, total = data.total;
  const state = byId("state");
  state.textContent = data.live && total ? `${done} of ${plural(total, "game")}` : plural(done, "game");
  state.classList.toggle("live", data.live && !data.over);
  byId("progress").style.width = total && !data.over ? `${Math.min(100, (100 * done) / total)}%` : "100%";
  if (data.live) fill("foot", "This page is served while games run; the finished one will be report.html in the run's directory.");
}

function figure(value, label) {
  return el("div", { class: "figure" }, el("b", { class: value.length > 13 ? "long" : null }, value), el("span", {}, label));
}

// A number with its interval, in the words of the terminal: what stands in brackets or behind the comma goes to the label.
function intervalFigure(text, label) {
  const [value, interval] = text.replace(" (", ", ").replace(")", "").split(", ");
  return figure(value, interval ? `${label}, ${interval}` : label);
}

function renderFigures() {
  const summary = data.summary, found = [];
  if (isMatch()) {
    const [first, second] = names();
    found.push(figure(`+${summary.wins} −${summary.losses} =${summary.draws}`, `${first} against ${second}`));
    found.push(intervalFigure(summary.texts.elo, "Elo"));
    if (summary.normalized_elo !== null) found.push(intervalFigure(summary.texts.normalized_elo, "normalised Elo"));
    if (summary.los !== null) found.push(figure(summary.texts.los, "likelihood of superiority"));
    if (summary.llr !== undefined) {
      const verdict = summary.verdict === "H1" ? `: ${data.sprt.elo1} accepted` : summary.verdict === "H0" ? `: ${data.sprt.elo0} accepted` : "";
      found.push(figure(plain(summary.llr, 2), `LLR for [${data.sprt.elo0}, ${data.sprt.elo1}], bounds ${summary.llr_bounds.map((bound) => plain(bound, 2)).join(" and ")}${verdict}`));
    }
    found.push(figure(summary.pentanomial.join(" · "), "pairs with 0, ½, 1, 1½, 2 points"));
  } else {
    found.push(figure(`${summary.games}${data.total && data.live ? ` of ${data.total}` : ""}`, "games"));
    found.push(figure(`${summary.round} of ${summary.rounds}`, "round"));
    const leader = summary.standings[0];
    if (summary.games) found.push(figure(leader.engine, `${data.over ? "first" : "leads"} with ${half(leader.points)} points`));
  }
  found.push(figure(`${summary.overhead_ms.toFixed(2)} ms`, "runner's time per move"));
  fill("figures", found);
  fill("notes", summary.notes.map((note) => el("p", { class: "muted" }, note)));
}

// Tables

// columns: [[title, class], …], rows: [{attributes, cells: [text or node, …]}]. Columns in which nothing stands are left out.
function table(columns, rows) {
  const used = columns.map((_, index) => !rows.length || rows.some((row) => row.cells[index] !== "" && row.cells[index] !== null));
  const kept = (list) => list.filter((_, index) => used[index]);
  return [
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, kept(columns).map(([title, kind, spoken]) =>
      el("th", { class: kind, scope: "col", role: "columnheader", "aria-label": spoken }, title)))),
    el("tbody", { role: "rowgroup" }, rows.map((row) => el("tr", { role: "row", ...row.attributes },
      kept(row.cells.map((cell, index) => (cell instanceof HTMLTableCellElement ? cell : el("td", { class: columns[index][1], role: "cell" }, cell))))))),
  ];
}

const SPLIT = [["won", "wins", "--win"], ["drawn", "draws", "--draw"], ["lost", "losses", "--loss"]];

function renderStandings() {
  const ties = { "round-robin": [["direct", "direct"], ["SB", "sonneborn_berger"]], swiss: [["Buchholz", "buchholz"], ["SB", "sonneborn_berger"]], knockout: [["rounds", "stage"]] }[data.format] || [];
  const heads = [["#", null, "place"], ["engine", "left name"], ["points", "points"], ["games"], ["+", null, "won"], ["−", null, "lost"], ["=", null, "drawn"], ["score"], ...ties.map(([title]) => [title]), [isMatch() ? "Elo" : data.table.some((row) => row.anchor) ? "rating ± 95 %" : "Elo ± 95 %"], ["failures"], ["share", "left"]];
  const rows = data.table.map((row, index) => {
    const share = row.games ? (row.wins + row.draws / 2) / row.games : 0;
    const split = el("div", { class: "split", role: "img", "aria-label": SPLIT.map(([word, key]) => `${row[key]} ${word}`).join(", ") }, SPLIT.map(([, key, name]) => {
      const part = el("span", {});
      part.style.cssText = `flex: ${row[key]}; background: var(${name})`;
      return part;
    }));
    return { cells: [
      String(index + 1), row.engine, half(row.points), String(row.games), String(row.wins), String(row.losses), String(row.draws), row.games ? `${(100 * share).toFixed(1)} %` : "",
      ...ties.map(([, key]) => plain(row[key], row[key] % 1 ? 2 : 0)), row.rating_text, row.failures ? String(row.failures) : "", row.games ? split : "",
    ] };
  });
  fill("standings-table", el("table", { role: "table" }, table(heads, rows)));
  fill("standings-legend", legend(SPLIT.map(([word, , name]) => [word, `var(${name})`, "box"])));
}

function renderCross() {
  const rows = data.table.map((row, index) => ({ cells: [String(index + 1), row.engine, ...data.table.map((other) => {
    const cell = (kind, ...content) => el("td", { class: kind, role: "cell" }, ...content);
    if (other.engine === row.engine) return cell("self", "×");
    const scores = row.against[other.engine];
    if (!scores) return cell("self", "·");
    const points = scores.reduce((sum, each) => sum + each, 0), share = points / scores.length;
    const button = el("button", {
      type: "button", title: scores.length <= 40 ? scores.map(half).join(" ") : null, "data-key": `cross ${row.engine} ${other.engine}`,
      "aria-label": `${row.engine} against ${other.engine}: ${half(points)} of ${scores.length}, show the games`,
      onclick: () => showGamesOf(row.engine, other.engine),
    }, `${half(points)} / ${scores.length}`);
    const strength = Math.round(90 * Math.abs(share - 0.5));
    button.style.setProperty("--share", `color-mix(in srgb, var(${share >= 0.5 ? "--win" : "--loss"}) ${strength}%, transparent)`);
    return cell("score", button);
  })] }));
  byId("tables").classList.toggle("single", data.table.length > 4);  // a wide table takes the whole width
  const heads = [["#", null, "place"], ["engine", "left name"], ...data.table.map((row, index) => [String(index + 1), null, row.engine])];
  fill("cross-table", el("table", { role: "table" }, table(heads, rows)));
}

function renderRatings() {
  const rows = data.table.map((row) => ({
    name: row.engine + (row.rating_is_bounded ? " (guess)" : ""), value: row.rating, low: row.rating_low, high: row.rating_high, text: row.rating_text, colour: colour(names().indexOf(row.engine)),
  }));
  if (isMatch()) fill("ratings-title", "Elo ", el("small", { class: "muted" }, "against the other, with 95 % error"));
  const label = `${isMatch() ? "Elo" : "Ratings"}: ${data.table.map((row) => `${row.engine} ${row.rating_text || "not known"}`).join("; ")}`;
  fill("rating-plot", errorChart({ label, rows, width: widthOf("rating-plot") }));
}

// Courses

// Deviations on either side that hold 95 % of Student's distribution, as a series in 1 / degrees of freedom.
const confident = (degrees) => 1.95996 + 2.37227 / degrees + 2.82250 / degrees ** 2 + 2.55585 / degrees ** 3;

// All pairs alike say nothing about their spread: half a pair is added, shared between the five results.
function spreadOfEqual(score, size) {
  const results = [[score, size], ...[0, 0.25, 0.5, 0.75, 1].map((each) => [each, 0.1])];
  const mean = results.reduce((sum, [each, weight]) => sum + each * weight, 0) / (size + 0.5);
  return results.reduce((sum, [each, weight]) => sum + weight * (each - mean) ** 2, 0) / (size + 0.5);
}

// The first engine's score in per cent; the error comes from the spread of the pairs that are finished.
function matchCourse() {
  const values = [], band = [], pairs = new Map();
  let points = 0, size = 0, sum = 0, squares = 0;
  data.games.forEach((game, index) => {
    const own = game.p[0] === 0 ? game.s : 1 - game.s, count = index + 1, open = pairs.get(game.q);
    points += own;
    if (!repeated.has(game.g) && open === undefined) pairs.set(game.q, own);
    else if (!repeated.has(game.g)) {
      const score = (open + own) / 2;
      size += 1;
      sum += score;
      squares += score * score;
    }
    const share = (100 * points) / count;
    values.push([count, share]);
    if (size > 2) {
      const mean = sum / size, variance = Math.max(0, squares / size - mean * mean) || spreadOfEqual(mean, size);
      const error = 100 * confident(size - 1) * Math.sqrt(variance / (size - 1));
      band.push([count, Math.max(0, share - error), Math.min(100, share + error)]);
    }
  });
  return { values, band };
}

function renderScores() {
  const width = widthOf("score-plot"), height = 230;
  if (isMatch()) {
    const { values, band } = matchCourse();
    const settled = values.slice(Math.min(values.length - 1, Math.floor(values.length / 20)));
    const reach = Math.min(50, Math.max(6, ...thin(settled).map(([, value]) => Math.abs(value - 50))) * 1.3);
    const series = [{ values: thin(values), band: thin(band), colour: colour(0) }];
    const last = values.length ? `${values[values.length - 1][1].toFixed(1)} % after ${plural(values.length, "game")}` : "no games yet";
    const chart = lineChart({ label: `Score of ${names()[0]} over the games: ${last}`, series, width, height, low: 50 - reach, high: 50 + reach, zero: 50, format: (value, digits) => `${value.toFixed(digits)} %` });
    fill("score-plot", chart, legend([
      [`${names()[0]}: per cent of the points`, colour(0)], ...(band.length > 1 ? [["95 % error, from finished pairs", colour(0), "band"]] : []), ["50 %", "var(--soft)", "dashed"],
    ]));
    return;
  }
  const lead = names().map(() => 0), courses = names().map(() => [[0, 0]]);
  data.games.forEach((game, index) => {
    lead[game.p[0]] += game.s - 0.5;
    lead[game.p[1]] += 0.5 - game.s;
    for (const player of game.p) courses[player].push([index + 1, lead[player]]);
  });
  const series = courses.map((values, player) => ({ values: thin([...values, [data.games.length, lead[player]]]), colour: colour(player) }));
  const all = series.flatMap((each) => each.values.map((value) => value[1]));
  const label = `Points above half of those played for: ${names().map((name, player) => `${name} ${signed(lead[player], 1)}`).join("; ")}`;
  fill("score-plot", lineChart({ label, series, width, height, low: Math.min(-1, ...all), high: Math.max(1, ...all), zero: 0 }),
    legend(names().map((name, player) => [name, colour(player)])), el("p", { class: "muted" }, "Points above half of those played for."));
}

function renderTest() {
  const trace = data.summary.llr_trace;
  byId("llr").hidden = !trace;
  if (!trace) return;
  const [low, high] = data.summary.llr_bounds, ratios = trace.map((point) => point[1]);
  const end = Math.max(1, trace.length ? trace[trace.length - 1][0] : 1);
  const bound = (value) => ({ values: [[0, value], [end, value]], colour: "var(--soft)", dashed: true });
  const series = [bound(low), bound(high), { values: [[0, 0], ...trace], colour: colour(0) }];
  const label = `Log-likelihood ratio over pairs: ${plain(data.summary.llr, 2)} between ${plain(low, 2)} and ${plain(high, 2)}`;
  fill("llr-plot", lineChart({ label, series, width: widthOf("llr-plot"), low: Math.min(low, ...ratios) - 0.3, high: Math.max(high, ...ratios) + 0.3, zero: 0, format: plain }),
    legend([["log-likelihood ratio over pairs", colour(0)], [`bounds: ${data.sprt.elo0} is accepted below, ${data.sprt.elo1} above`, "var(--soft)", "dashed"]]));
}

function renderStatistics() {
  const games = data.games, count = (points) => games.filter((game) => game.s === points).length;
  const won = (side) => el("span", {}, disc(side), `${SIDES[side]} won`);
  fill("result-bars", bars([[won(0), count(1)], ["drawn", count(0.5), "var(--draw)"], [won(1), count(0)]], games.length));
  const reasons = new Map();
  for (const game of games) {
    const reason = game.t.replace(/^(White|Black) /, "").replace(/ \(.*\)$/, "");
    reasons.set(reason, (reasons.get(reason) || 0) + 1);
  }
  fill("reason-bars", bars([...reasons].sort((one, other) => other[1] - one[1]).slice(0, 9), games.length));
  const lengths = games.map((game) => Math.ceil(game.l / 2));
  const longest = Math.max(0, ...thin(lengths, 1e5));
  const label = lengths.length ? `Lengths of games in moves: from ${Math.min(...thin(lengths, 1e5))} to ${longest}` : "no games yet";
  fill("length-plot", histogram({ label, values: lengths, wide: longest > 150 ? 10 : longest > 40 ? 5 : 2, width: widthOf("length-plot") }));
}

function renderOverview() {
  repeated = new Set(data.repeated);
  renderHeader();
  renderFigures();
  renderStandings();
  renderCross();
  renderRatings();
  renderScores();
  renderTest();
  renderStatistics();
}
