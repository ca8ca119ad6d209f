"""The page of an animated access order: one file, no other resources, works from disk.

``PAGE`` holds five marks: ``$TITLE``, ``$SUBTITLE``, ``$GRADIENT``, ``$NOTE`` and ``$DATA``. Its script
draws the slices on canvases and moves through the stream with a slider; ``page.html#17`` opens it after 17
elements.
"""

from __future__ import annotations

STYLE = """\
:root { --ink: #16202c; --soft: #5b6775; --line: #d5dae0; --paper: #ffffff; --accent: #e8590c; }
* { box-sizing: border-box; }
body { margin: 0; padding: 1.5rem 2rem; color: var(--ink); background: var(--paper);
       font: 15px/1.45 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.25rem; margin: 0 0 .2rem; }
p { margin: 0 0 1rem; color: var(--soft); }
.bar { display: flex; gap: .6rem; align-items: center; padding: .6rem 0; position: sticky; top: 0;
       background: var(--paper); border-bottom: 1px solid var(--line); }
button { font: inherit; padding: .25rem .8rem; border: 1px solid var(--line); border-radius: 6px;
         background: #f5f7f9; color: var(--ink); cursor: pointer; }
button:hover { border-color: var(--soft); }
#step { flex: 1; accent-color: var(--accent); }
#now { min-height: 1.6em; margin: .7rem 0 .4rem; font-variant-numeric: tabular-nums; }
#slices { display: flex; flex-wrap: wrap; gap: 1.2rem 1.6rem; }
figure { margin: 0; }
figcaption { font-size: .85rem; color: var(--soft); margin-bottom: .2rem; }
.key { display: flex; flex-wrap: wrap; gap: .4rem 1.4rem; margin-top: 1.2rem; font-size: .85rem;
       color: var(--soft); align-items: center; }
.key i { display: inline-block; width: 1.6rem; height: .9rem; vertical-align: -.1rem; margin-right: .4rem; }
"""

SCRIPT = """\
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const total = data.cells.length, area = data.width * data.height;
const slider = document.getElementById("step"), now = document.getElementById("now");
const play = document.getElementById("play"), speed = document.getElementById("speed");
const ratio = window.devicePixelRatio || 1;
const room = data.names.length > 1 ? 300 : 560;
const edge = Math.max(1, Math.min(40, Math.floor(room / Math.max(data.width, data.height))));
const left = 40, top_ = 6, bottom = 34;

function colour(t) {
  const at = t * (data.colours.length - 1), low = Math.min(Math.floor(at), data.colours.length - 2);
  const mix = [0, 1, 2].map(i => Math.round(
    data.colours[low][i] + (at - low) * (data.colours[low + 1][i] - data.colours[low][i])));
  return `rgb(${mix.join(",")})`;
}
const colours = Array.from({length: 256}, (_, i) => colour(i / 255));
const shade = step => colours[total > 1 ? Math.round(step * 255 / (total - 1)) : 0];

const drawings = data.names.map((name, index) => {
  const figure = document.createElement("figure"), canvas = document.createElement("canvas");
  const caption = document.createElement("figcaption");
  caption.textContent = name;
  if (name) figure.append(caption);
  const width = left + data.width * edge + 10, height = top_ + data.height * edge + bottom;
  canvas.width = width * ratio; canvas.height = height * ratio;
  canvas.style.width = width + "px"; canvas.style.height = height + "px";
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `access order ${name}`);
  figure.append(canvas);
  document.getElementById("slices").append(figure);
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  return {canvas, pen, index};
});

const x_of = cell => left + (cell % area % data.width) * edge;
const y_of = cell => top_ + Math.floor(cell % area / data.width) * edge;
const column_of = cell => cell % area % data.width + data.corner[0];
const row_of = cell => Math.floor(cell % area / data.width) + data.corner[1];

function hatch(pen, x, y) {
  pen.save(); pen.beginPath(); pen.rect(x, y, edge, edge); pen.clip();
  pen.strokeStyle = "rgba(255,255,255,.85)"; pen.lineWidth = 1.2; pen.beginPath();
  for (let d = -edge; d < edge; d += 5) { pen.moveTo(x + d, y + edge); pen.lineTo(x + d + edge, y); }
  pen.stroke(); pen.restore();
}
function paint(cell, step) {
  const {pen} = drawings[Math.floor(cell / area)], gap = edge > 8 ? 1 : 0;
  pen.fillStyle = step < 0 ? "#e6e8eb" : shade(step);
  pen.fillRect(x_of(cell), y_of(cell), edge - gap, edge - gap);
  if (step >= 0 && data.inside[cell] === "0") hatch(pen, x_of(cell), y_of(cell));
}
function axes({pen, index}) {
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, left + data.width * edge + 10, top_ + data.height * edge + bottom);
  pen.fillStyle = "#5b6775"; pen.font = "11px sans-serif";
  const every = n => Math.max(1, Math.ceil(n / Math.max(1, Math.floor(n * edge / 40))));
  const ticks = (n, from) => [...Array(n).keys()].filter(i => (i + from) % every(n) === 0);
  pen.textAlign = "center";
  for (const c of ticks(data.width, data.corner[0]))
    pen.fillText(c + data.corner[0], left + (c + .5) * edge, top_ + data.height * edge + 13);
  pen.fillText(data.axes[0], left + data.width * edge / 2, top_ + data.height * edge + 28);
  pen.textAlign = "right";
  if (data.height > 1) for (const r of ticks(data.height, data.corner[1]))
    pen.fillText(r + data.corner[1], left - 5, top_ + (r + .5) * edge + 4);
  pen.save(); pen.translate(10, top_ + data.height * edge / 2); pen.rotate(-Math.PI / 2);
  pen.textAlign = "center"; pen.fillText(data.axes[1], 0, 0); pen.restore();
  for (let at = index * area; at < (index + 1) * area; at++) if (data.inside[at] === "1") paint(at, -1);
}
const first = new Int32Array(data.names.length * area).fill(-1);
for (let step = total - 1; step >= 0; step--) if (data.cells[step] >= 0) first[data.cells[step]] = step;
let drawn = -1, marked = -1;
function draw(count) {
  if (drawn < 0 || count < drawn) { drawings.forEach(axes); drawn = 0; marked = -1; }
  if (marked >= 0) paint(marked, first[marked]);
  for (let step = drawn; step < count; step++)
    if (data.cells[step] >= 0 && first[data.cells[step]] === step) paint(data.cells[step], step);
  drawn = count; mark(count - 1);
}
function mark(step) {
  marked = -1;
  const cell = step < 0 ? -1 : data.cells[step];
  if (cell >= 0 && step < total - 1) {
    const {pen} = drawings[Math.floor(cell / area)];
    pen.fillStyle = "#e8590c";
    pen.fillRect(x_of(cell), y_of(cell), Math.max(edge - 1, 1), Math.max(edge - 1, 1));
    marked = cell;
  }
  now.textContent = tell(step);
}
function tell(step) {
  if (step < 0) return `nothing moved yet, ${total} elements to come`;
  const cell = data.cells[step], part = data.parts.find(p => step < p.end);
  const by = part ? `BD ${part.bd}, run ${part.run}` : "";
  const head = `element ${step + 1} of ${total} \\u00b7 ${by} \\u00b7 `;
  if (cell < 0) return head + "in a slice that is not shown";
  const what = data.inside[cell] === "1" ? "data" : "zero padding";
  const place = data.fold ? [row_of(cell) * data.fold + column_of(cell)] : [column_of(cell), row_of(cell)];
  const name = data.names[Math.floor(cell / area)];
  return head + `${what} at (${place.join(", ")})` + (name ? `, ${name}` : "");
}
let timer = 0;
function stop() { cancelAnimationFrame(timer); timer = 0; play.textContent = "Play"; }
function go() {
  if (timer) { stop(); return; }
  if (Number(slider.value) >= total) slider.value = 0;
  play.textContent = "Pause";
  let position = Number(slider.value), last = performance.now();
  const frame = time => {
    position += (time - last) / 1000 * total / Number(speed.value);
    last = time;
    slider.value = Math.min(Math.floor(position), total);
    draw(Number(slider.value));
    if (position < total) timer = requestAnimationFrame(frame); else stop();
  };
  timer = requestAnimationFrame(frame);
}
function move(by) {
  stop();
  slider.value = Math.max(0, Math.min(total, Number(slider.value) + by));
  draw(Number(slider.value));
}
slider.max = total;
slider.value = /^#\\d+$/.test(location.hash) ? Number(location.hash.slice(1)) : total;
slider.addEventListener("input", () => move(0));
play.addEventListener("click", go);
document.getElementById("back").addEventListener("click", () => move(-1));
document.getElementById("on").addEventListener("click", () => move(1));
move(0);
document.body.dataset.drawn = drawn;
"""

PAGE = f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$TITLE</title>
<style>
{STYLE}</style>
</head>
<body>
<h1>$TITLE</h1>
<p>$SUBTITLE</p>
<div class="bar">
<button id="play">Play</button>
<button id="back" aria-label="one element back">&#8722;1</button>
<button id="on" aria-label="one element on">+1</button>
<input id="step" type="range" min="0" step="1" aria-label="elements moved">
<label>pace <select id="speed" aria-label="pace">
<option value="40">slow</option><option value="15" selected>medium</option><option value="4">fast</option>
</select></label>
</div>
<div id="now" role="status"></div>
<div id="slices"></div>
<div class="key">
<span><i style="background: linear-gradient(90deg, $GRADIENT)"></i>first to last in the stream</span>
<span><i style="background: repeating-linear-gradient(135deg, #7c7b78 0 3px, #fff 3px 5px)"></i>zero
padding</span>
<span><i style="background: #e6e8eb"></i>not moved</span>
<span><i style="background: var(--accent)"></i>the element that moves now</span>
<span>$NOTE</span>
</div>
<script type="application/json" id="data">$DATA</script>
<script>
{SCRIPT}</script>
</body>
</html>
"""
