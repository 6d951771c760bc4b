// Charts as SVG, and small helpers for everything else.
const COLOURS = ["#0f8f6f", "#d9653b", "#4b7bd1", "#c59a1b", "#9b5fc0", "#3aa6b9", "#c74375", "#7c8b3a", "#8a6a52", "#5f6f7a"];

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child);
  return node;
}

function fill(id, ...children) {
  const node = document.getElementById(id);
  node.replaceChildren(...children.flat().filter((child) => child !== null));
  return node;
}

const half = (points) => (Math.floor(points) || points === 0 || points % 1 === 0 ? String(Math.floor(points)) : "") + (points % 1 ? "½" : "");
const signed = (number, digits = 0) => (number > 0 ? "+" : number < 0 ? "−" : "") + Math.abs(number).toFixed(digits);

// Round steps for an axis: 1, 2 or 5 times a power of ten.
function steps(low, high, wanted) {
  const raw = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) found.push(Math.abs(value) < step / 1e6 ? 0 : value);
  return found;
}

// Lines over an x axis. series: [{values: [[x, y], …], colour, band: [[x, low, high], …], dashed}].
function lineChart({ series, height = 190, low, high, zero = null, format = String, onClick = null, cursor = null, width = 760 }) {
  const left = 46, right = 10, top = 8, bottom = 20;
  const points = series.flatMap((each) => each.values);
  const most = Math.max(1, ...points.map((point) => point[0]));
  const x = (value) => left + (width - left - right) * (value / most);
  const y = (value) => top + (height - top - bottom) * (1 - (Math.min(high, Math.max(low, value)) - low) / (high - low || 1));
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", class: "chart" });
  for (const value of steps(low, high, 4)) {
    chart.append(svg("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "axis" }));
    chart.append(svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, format(value)));
  }
  for (const value of steps(0, most, 6)) if (Number.isInteger(value)) chart.append(svg("text", { x: x(value), y: height - 5, "text-anchor": "middle" }, String(value)));
  if (zero !== null) chart.append(svg("line", { x1: left, x2: width - right, y1: y(zero), y2: y(zero), class: "zero" }));
  for (const each of series) {
    if (each.band && each.band.length > 1) {
      const there = each.band.map(([at, , up]) => `${x(at).toFixed(1)} ${y(up).toFixed(1)}`);
      const back = each.band.map(([at, down]) => `${x(at).toFixed(1)} ${y(down).toFixed(1)}`).reverse();
      chart.append(svg("path", { d: `M${there.join("L")}L${back.join("L")}Z`, fill: each.colour, opacity: 0.15 }));
    }
    const path = each.values.map(([at, value]) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("L");
    if (path) chart.append(svg("path", { d: `M${path}`, fill: "none", stroke: each.colour, "stroke-width": 1.8, "stroke-linejoin": "round", "stroke-dasharray": each.dashed ? "5 4" : "none" }));
  }
  if (cursor !== null) chart.append(svg("line", { x1: x(cursor), x2: x(cursor), y1: top, y2: height - bottom, stroke: "var(--accent)", "stroke-width": 1.5 }));
  if (onClick) {
    chart.style.cursor = "pointer";
    chart.addEventListener("click", (event) => {
      const box = chart.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * width;
      onClick(Math.round(((at - left) / (width - left - right)) * most));
    });
  }
  return chart;
}

// Thins a long list out, keeping its end.
function thin(list, most = 600) {
  if (list.length <= most) return list;
  const step = list.length / most;
  const kept = [];
  for (let index = 0; index < most - 1; index++) kept.push(list[Math.floor(index * step)]);
  return [...kept, list[list.length - 1]];
}

// Ratings: a dot and its error for each engine. rows: [{name, elo, error, colour}].
function ratingPlot(rows) {
  const known = rows.filter((row) => row.error !== null);
  if (!known.length) return el("p", { class: "muted" }, "not known yet");
  const width = 560, line = 30, left = 130, right = 26, top = 6;
  let low = Math.min(...known.map((row) => row.elo - row.error)), high = Math.max(...known.map((row) => row.elo + row.error));
  if (high - low < 20) { low -= 10; high += 10; }
  const room = 0.05 * (high - low);
  low -= room; high += room;
  const height = top + line * rows.length + 22;
  const x = (value) => left + ((width - left - right) * (value - low)) / (high - low);
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", class: "chart" });
  for (const value of steps(low, high, 5)) {
    chart.append(svg("line", { x1: x(value), x2: x(value), y1: top, y2: height - 20, class: "axis" }));
    chart.append(svg("text", { x: x(value), y: height - 5, "text-anchor": "middle" }, String(Math.round(value))));
  }
  rows.forEach((row, index) => {
    const y = top + line * (index + 0.5);
    const name = row.name.length > 18 ? row.name.slice(0, 17) + "…" : row.name;
    chart.append(svg("text", { x: left - 10, y: y + 4, "text-anchor": "end", class: "label" }, name));
    if (row.error === null) return;
    const title = svg("title", {}, `${row.name}: ${row.elo.toFixed(1)} ± ${row.error.toFixed(1)}`);
    chart.append(svg("g", { stroke: row.colour, "stroke-width": 2 }, title,
      svg("line", { x1: x(row.elo - row.error), x2: x(row.elo + row.error), y1: y, y2: y }),
      svg("line", { x1: x(row.elo - row.error), x2: x(row.elo - row.error), y1: y - 4, y2: y + 4 }),
      svg("line", { x1: x(row.elo + row.error), x2: x(row.elo + row.error), y1: y - 4, y2: y + 4 }),
      svg("circle", { cx: x(row.elo), cy: y, r: 4.5, fill: row.colour, stroke: "none" })));
  });
  return chart;
}

function histogram(values, wide) {
  if (!values.length) return el("p", { class: "muted" }, "no games yet");
  const counts = new Map();
  for (const value of values) counts.set(Math.floor(value / wide), (counts.get(Math.floor(value / wide)) || 0) + 1);
  const last = Math.max(...counts.keys()), most = Math.max(...counts.values());
  const width = 360, height = 170, left = 8, bottom = 18;
  const step = (width - 2 * left) / (last + 1);
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", class: "chart" });
  for (let bin = 0; bin <= last; bin++) {
    const size = ((height - bottom - 14) * (counts.get(bin) || 0)) / most;
    chart.append(svg("rect", { x: left + bin * step + 0.5, y: height - bottom - size, width: Math.max(1, step - 1), height: size, rx: 1.5, fill: "var(--accent)" },
      svg("title", {}, `${bin * wide} to ${(bin + 1) * wide - 1}: ${counts.get(bin) || 0}`)));
  }
  for (const value of steps(0, (last + 1) * wide, 5)) chart.append(svg("text", { x: left + (value / wide) * step, y: height - 4, "text-anchor": "middle" }, String(value)));
  return chart;
}

function bars(entries, colour = null) {
  const most = Math.max(1, ...entries.map((entry) => entry[1]));
  return entries.map(([name, count, own]) => {
    const inner = el("u", {});
    inner.style.width = `${(100 * count) / most}%`;
    inner.style.background = own || colour || "var(--accent)";
    return el("div", { class: "bar" }, el("span", {}, name), el("b", {}, String(count)), el("i", {}, inner));
  });
}

function legend(entries) {
  return el("div", { class: "legend" }, entries.map(([name, colour]) => {
    const dot = el("i", {});
    dot.style.background = colour;
    return el("span", {}, dot, name);
  }));
}
