// Small helpers for every page, and charts as SVG. Charts are as wide as their place, so that their text keeps its size.
const COLOURS = ["#0f8f6f", "#d9653b", "#4b7bd1", "#c59a1b", "#9b5fc0", "#3aa6b9", "#c74375", "#7c8b3a", "#8a6a52", "#5f6f7a"];

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child);
  return node;
}

const byId = (id) => document.getElementById(id);

function fill(id, ...children) {
  const node = byId(id);
  node.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

// The width of a place for a chart; hidden ones count as if they filled the page.
const widthOf = (id) => Math.max(240, byId(id).clientWidth || Math.min(1180, innerWidth - 80));

const half = (points) => (points === 0.5 ? "½" : Math.floor(points) + (points % 1 ? "½" : ""));
const signed = (number, digits = 0) => {
  const text = Math.abs(number).toFixed(digits);
  return (Number(text) === 0 ? "" : number > 0 ? "+" : "−") + text;
};
const plain = (number, digits = 0) => signed(number, digits).replace("+", "");
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// Round steps for an axis, 1, 2 or 5 times a power of ten, and how many digits they need.
function steps(low, high, wanted) {
  const raw = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) found.push(Math.abs(value) < step / 1e6 ? 0 : value);
  found.digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return found;
}

function chartSvg(width, height, label) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart", role: "img", "aria-label": label });
}

// Lines over an x axis. series: [{values: [[x, y], …], colour, band: [[x, low, high], …], dashed}].
function lineChart({ label, series, width, height = 190, low, high, zero = null, format = signed, onClick = null, cursor = null, last = 1 }) {
  const left = 52, right = 12, top = 10, bottom = 22;
  const most = Math.max(1, last, ...series.flatMap((each) => each.values.map((point) => point[0])));
  const x = (value) => left + (width - left - right) * (value / most);
  const y = (value) => top + (height - top - bottom) * (1 - (Math.min(high, Math.max(low, value)) - low) / (high - low || 1));
  const chart = chartSvg(width, height, label);
  const rows = steps(low, high, 4);
  for (const value of rows) {
    chart.append(svg("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "axis" }));
    chart.append(svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, format(value, rows.digits)));
  }
  for (const value of steps(0, most, Math.max(2, Math.round(width / 110)))) {
    if (Number.isInteger(value)) chart.append(svg("text", { x: x(value), y: height - 5, "text-anchor": "middle" }, String(value)));
  }
  if (zero !== null) chart.append(svg("line", { x1: left, x2: width - right, y1: y(zero), y2: y(zero), class: "zero" }));
  for (const each of series) {
    if (each.band && each.band.length > 1) {
      const there = each.band.map(([at, , up]) => `${x(at).toFixed(1)} ${y(up).toFixed(1)}`);
      const back = each.band.map(([at, down]) => `${x(at).toFixed(1)} ${y(down).toFixed(1)}`).reverse();
      chart.append(svg("path", { d: `M${there.join("L")}L${back.join("L")}Z`, fill: each.colour, opacity: 0.18 }));
    }
    const path = each.values.map(([at, value]) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("L");
    if (path) chart.append(svg("path", { d: `M${path}`, fill: "none", stroke: each.colour, "stroke-width": 1.8, "stroke-linejoin": "round", "stroke-dasharray": each.dashed ? "5 4" : "none" }));
  }
  if (cursor !== null) chart.append(svg("line", { x1: x(cursor), x2: x(cursor), y1: top, y2: height - bottom, class: "cursor" }));
  if (onClick) {
    chart.classList.add("clickable");
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

// A dot and its interval for each name. rows: [{name, value, low, high, text, colour}]; what is infinite is null: an interval
// without an end goes on to the edge, and a value that is infinite has no dot.
function errorChart({ label, rows, width }) {
  const known = rows.flatMap((row) => [row.value, row.low, row.high]).filter((value) => value !== null);
  if (!known.length) return el("p", { class: "muted" }, "not known yet");
  const line = 30, left = Math.min(180, Math.round(0.35 * width)), right = 26, top = 6;
  let low = Math.min(...known), high = Math.max(...known);
  if (high - low < 20) { low -= 10; high += 10; }
  const room = (rows.some((row) => (row.low === null) !== (row.high === null)) ? 0.3 : 0.05) * (high - low);
  low -= room; high += room;
  const height = top + line * rows.length + 24, letters = Math.floor((left - 16) / 7);
  const x = (value) => left + ((width - left - right) * (value - low)) / (high - low);
  const chart = chartSvg(width, height, label);
  for (const value of steps(low, high, Math.max(3, Math.round((width - left) / 55)))) {
    chart.append(svg("line", { x1: x(value), x2: x(value), y1: top, y2: height - 22, class: "axis" }));
    chart.append(svg("text", { x: x(value), y: height - 5, "text-anchor": "middle" }, plain(value)));
  }
  rows.forEach((row, index) => {
    const y = top + line * (index + 0.5);
    const name = row.name.length > letters ? row.name.slice(0, letters - 1) + "…" : row.name;
    chart.append(svg("text", { x: left - 10, y: y + 4, "text-anchor": "end", class: "label" }, name));
    if (row.low === null && row.high === null) return;
    const ends = [row.low, row.high].filter((end) => end !== null).map(x);
    chart.append(svg("g", { stroke: row.colour, "stroke-width": 2 }, svg("title", {}, `${row.name}: ${row.text}`),
      svg("line", { x1: row.low === null ? left : x(row.low), x2: row.high === null ? width - right : x(row.high), y1: y, y2: y }),
      ends.map((end) => svg("line", { x1: end, x2: end, y1: y - 4, y2: y + 4 })),
      row.value === null ? [] : svg("circle", { cx: x(row.value), cy: y, r: 4.5, fill: row.colour, stroke: "none" })));
  });
  return chart;
}

function histogram({ label, values, wide, width, height = 170 }) {
  if (!values.length) return el("p", { class: "muted" }, "no games yet");
  const counts = new Map();
  for (const value of values) counts.set(Math.floor(value / wide), (counts.get(Math.floor(value / wide)) || 0) + 1);
  const last = Math.max(...counts.keys()), most = Math.max(...counts.values());
  const left = 30, right = 12, top = 10, bottom = 22;
  const step = (width - left - right) / (last + 1);
  const y = (count) => top + (height - top - bottom) * (1 - count / most);
  const chart = chartSvg(width, height, label);
  for (const value of steps(0, most, 3)) {
    if (!Number.isInteger(value)) continue;
    chart.append(svg("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "axis" }));
    chart.append(svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, String(value)));
  }
  for (let bin = 0; bin <= last; bin++) {
    const count = counts.get(bin) || 0;
    chart.append(svg("rect", { x: left + bin * step + 0.5, y: y(count), width: Math.max(1, step - 1), height: height - bottom - y(count), rx: 1.5, fill: "var(--accent)" },
      svg("title", {}, `${bin * wide} to ${(bin + 1) * wide - 1}: ${count}`)));
  }
  for (const value of steps(0, (last + 1) * wide, Math.max(2, Math.round(width / 70)))) chart.append(svg("text", { x: left + (value / wide) * step, y: height - 5, "text-anchor": "middle" }, String(value)));
  return chart;
}

// Parts of a whole: each bar begins at nothing and would end at all of it. entries: [[name, count, colour], …].
function bars(entries, total) {
  return entries.map(([name, count, colour]) => {
    const share = total ? (100 * count) / total : 0, inner = el("u", {});
    inner.style.width = `${share}%`;
    if (colour) inner.style.background = colour;
    return el("div", { class: "bar" }, el("span", {}, name), el("b", {}, `${count} (${share.toFixed(share % 1 ? 1 : 0)} %)`), el("i", {}, inner));
  });
}

// entries: [[name, colour, kind], …], kind being how it is drawn: "line" (unless said otherwise), "band", "dashed" or "box".
function legend(entries) {
  return el("div", { class: "legend" }, entries.map(([name, colour, kind = "line"]) => {
    const sign = el("i", { class: kind });
    sign.style.setProperty("--sign", colour);
    return el("span", {}, sign, name);
  }));
}

// Tables that are wider than their place fade out on the side where there is more.
function watchScrolling(box) {
  const look = () => {
    const more = [];
    if (box.scrollLeft > 2) more.push("left");
    if (box.scrollLeft + box.clientWidth < box.scrollWidth - 2) more.push("right");
    box.dataset.more = more.join(" ");
    // What scrolls must be reachable without a mouse.
    if (box.scrollWidth > box.clientWidth + 2 || box.scrollHeight > box.clientHeight + 2) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  };
  box.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(box);
  new MutationObserver(look).observe(box, { childList: true, subtree: true });
  look();
}

// Browsers give the clipboard to this machine's pages; elsewhere the old way still works.
async function copy(button, text) {
  const before = button.textContent;
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = done ? "copied" : "not copied";
  setTimeout(() => { button.textContent = before; }, 1500);
}
