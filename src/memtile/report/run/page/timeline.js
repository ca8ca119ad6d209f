// The timeline: a canvas with a row for each track, painted anew whenever the window changes.

const ROW = 17, AXIS = 24, LEAST = 4;  // pixels; cycles of the narrowest window
const NARROW = 560;  // pixels: a page below it is on a phone
let GUTTER = 250;  // pixels for names, less on a phone
const view = {first: run.began, last: run.ended, chosen: -1, cycle: run.began, shown: [],
  kinds: {channel: true, core: true, lock: false, port: false}, closed: new Set(), wanted: "", frames: 0};
let colours = {}, ink = {};
const rows = at("rows"), canvas = at("canvas"), overview = at("overview");

const isDark = () => document.documentElement.dataset.theme
  ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const packedColour = hex => {
  const n = parseInt(hex.slice(1), 16);
  return (255 << 24 | (n & 255) << 16 | (n >> 8 & 255) << 8 | n >> 16) >>> 0;
};

/** Colours of all classes in the present scheme: texts for CSS, and numbers for pixels. */
function readColours() {
  const scheme = isDark() ? "dark" : "light", style = getComputedStyle(document.documentElement);
  for (const kind of ["channel", "core", "port"]) colours[kind] = run.causes[kind].map(cause => cause[scheme]);
  colours.lock = LOCK_COLOURS[scheme];
  for (const kind of Object.keys(colours))
    if (!kind.endsWith("Pixels")) colours[`${kind}Pixels`] = Uint32Array.from(colours[kind].map(packedColour));
  for (const name of ["ground", "panel", "ink", "quiet", "line", "accent", "mark", "bad", "chosen", "row"])
    ink[name] = style.getPropertyValue(`--${name}`).trim();
}

/** The rows: a heading for each tile, then those of its tracks that are wanted. */
function listRows() {
  view.shown = [];
  let tile = -1;
  for (let number = 0; number < tracks.length; number++) {
    const track = tracks[number];
    if (!view.kinds[track.kind] && number !== view.chosen) continue;
    if (view.wanted && !track.called.toLowerCase().includes(view.wanted)) continue;
    if (track.tile !== tile) view.shown.push({tile: tile = track.tile});
    if (!view.closed.has(tile) || view.wanted) view.shown.push({number});
  }
  at("spacer").style.height = `${Math.max(view.shown.length * ROW + AXIS + 4 - rows.clientHeight, 0)}px`;
}

let pending = false, settle = 0;
/** Have everything that shows the window painted with the next frame. */
function repaint() {
  if (!pending) { pending = true; requestAnimationFrame(() => { pending = false; paint(); }); }
  clearTimeout(settle);
  settle = setTimeout(windowChanged, 140);
}

const shares = {wide: 0, sums: null, full: null};

/** Paint one track into `pixels`: whole pixels in one colour, others as a stack of what happened in them. */
function paintTrack(track, pixels, width, top, height) {
  const {starts, classes, kinds, changes} = track, palette = colours[`${track.kind}Pixels`];
  if (shares.wide !== width * 16) Object.assign(shares, {wide: width * 16, sums: new Float32Array(width * 16),
    full: new Int8Array(width)});
  const sums = shares.sums, full = shares.full.fill(-1), scale = width / (view.last - view.first);
  let partial = false;
  for (let n = Math.max(changeAt(track, view.first), 0); n < changes; n++) {
    let left = (starts[n] - view.first) * scale, right = (starts[n + 1] - view.first) * scale;
    if (left >= width) break;
    if (right <= 0) continue;
    if (left < 0) left = 0;
    if (right > width) right = width;
    const first = left | 0, last = right | 0, kind = classes[n];
    if (first === last) { sums[first * 16 + kind] += right - left; full[first] = -2; partial = true; continue; }
    let begin = first;
    if (left > first) { sums[first * 16 + kind] += first + 1 - left; full[first] = -2; partial = true; begin++; }
    for (let x = begin; x < last; x++) full[x] = kind;
    if (last < width && right > last) { sums[last * 16 + kind] += right - last; full[last] = -2; partial = true; }
  }
  for (let x = 0; x < width; x++) {
    const kind = full[x];
    if (kind >= 0) {
      const colour = palette[kind];
      for (let y = 0, place = top * width + x; y < height; y++, place += width) pixels[place] = colour;
    } else if (kind === -2) {
      let place = top * width + x, filled = 0, whole = 0;
      for (let k = 0; k < kinds; k++) {
        const share = sums[x * 16 + k];
        if (share === 0) continue;
        whole += share * height;
        for (const colour = palette[k]; filled < Math.round(whole) && filled < height; filled++, place += width)
          pixels[place] = colour;
      }
    }
  }
  if (partial) sums.fill(0);
}

function paint() {
  const ratio = Math.min(devicePixelRatio || 1, 2), wide = rows.clientWidth, high = rows.clientHeight;
  GUTTER = wide < NARROW ? 104 : 250;
  if (canvas.width !== wide * ratio || canvas.height !== high * ratio) {
    canvas.width = wide * ratio; canvas.height = high * ratio; canvas.style.height = `${high}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.fillStyle = ink.ground;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  const width = Math.max(Math.floor((wide - GUTTER) * ratio), 1), line = ROW * ratio;
  const first = Math.floor(rows.scrollTop / ROW), many = Math.ceil((high - AXIS) / ROW) + 1;
  const image = pen.createImageData(width, Math.ceil(many * line)), pixels = new Uint32Array(image.data.buffer);
  for (let k = 0; k < many && first + k < view.shown.length; k++) {
    const {number} = view.shown[first + k];
    if (number !== undefined)
      paintTrack(tracks[number], pixels, width, Math.round(k * line + 2 * ratio), Math.round(line - 4 * ratio));
  }
  const offset = rows.scrollTop % ROW;
  pen.putImageData(image, GUTTER * ratio, (AXIS - offset) * ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  words(pen, wide, first, many, offset);
  axis(pen, wide, high);
  cursor(pen, high, first, offset);
  paintOverview();
  view.frames++;
}

const xOf = (cycle, wide) => GUTTER + (cycle - view.first) / (view.last - view.first) * (wide - GUTTER);

/** Names to the left, headings of tiles, and what a run is where there is room for it. */
function words(pen, wide, first, many, offset) {
  pen.textBaseline = "middle";
  for (let k = 0; k < many && first + k < view.shown.length; k++) {
    const {number, tile} = view.shown[first + k], y = AXIS - offset + k * ROW + ROW / 2;
    if (tile !== undefined) {
      pen.fillStyle = ink.row; pen.fillRect(0, y - ROW / 2, wide, ROW);
      pen.fillStyle = ink.ink; pen.font = "600 12px system-ui, sans-serif";
      pen.fillText(`${view.closed.has(tile) ? "\u25b8" : "\u25be"} ${run.tiles[tile].name}`, 6, y);
      continue;
    }
    const track = tracks[number], chosen = number === view.chosen;
    pen.fillStyle = chosen ? ink.chosen : ink.ground; pen.fillRect(0, y - ROW / 2, GUTTER, ROW);
    pen.fillStyle = chosen ? ink.ink : track.kind === "port" ? ink.quiet : ink.ink;
    pen.font = `${chosen ? "600 " : ""}11.5px system-ui, sans-serif`;
    pen.fillText(fitted(pen, shortName(track), GUTTER - 26), 18, y + .5);
    if (view.last - view.first < (wide - GUTTER) / 3) runWords(pen, track, y, wide);
  }
}

const shortName = track => {
  const name = track.name.replace(`${track.place.name} `, "").replace(` of ${track.place.name}`, "")
    .replace(/ of tile \(.*\)$/, "").replace(/^core \(.*\)$/, "core");
  return track.label ? `${name}  ${track.label}` : name;
};

const widths = new Map();
function fitted(pen, text, room) {
  const key = `${pen.font}|${room}|${text}`;
  if (widths.has(key)) return widths.get(key);
  let short = text;
  while (short.length > 1 && pen.measureText(short === text ? text : `${short}\u2026`).width > room) short = short.slice(0, -1);
  short = short === text ? text : `${short}\u2026`;
  widths.set(key, short);
  return short;
}

function runWords(pen, track, y, wide) {
  pen.font = "10.5px system-ui, sans-serif";
  for (let n = Math.max(changeAt(track, view.first), 0); n < track.changes && track.starts[n] < view.last; n++) {
    const left = Math.max(xOf(track.starts[n], wide), GUTTER), right = Math.min(xOf(track.starts[n + 1], wide), wide);
    if (right - left < 26) continue;
    const colour = colours[track.kind][track.classes[n]], level = parseInt(colour.slice(1, 3), 16) * .3
      + parseInt(colour.slice(3, 5), 16) * .59 + parseInt(colour.slice(5, 7), 16) * .11;
    pen.fillStyle = level > 140 ? "#14171c" : "#ffffff";
    const bd = hasBd(track, n) ? `BD ${bdOf(track.values[n])} ` : "";
    pen.fillText(fitted(pen, bd + (track.kind === "lock" ? says(track, n) : says(track, n)), right - left - 8), left + 4, y);
  }
}

/** Ticks at round numbers of cycles; lines between cycles where they are wide enough. */
function axis(pen, wide, high) {
  pen.fillStyle = ink.panel; pen.fillRect(0, 0, wide, AXIS);
  pen.strokeStyle = ink.line; pen.fillStyle = ink.quiet; pen.font = "11px system-ui, sans-serif"; pen.lineWidth = 1;
  const span = view.last - view.first, room = wide - GUTTER, rough = span / Math.max(room / 110, 1);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = Math.max([1, 2, 5, 10].map(k => k * power).find(k => k >= rough), 1);
  pen.fillText("cycle", 18, AXIS / 2);
  pen.beginPath();
  for (let cycle = Math.ceil(view.first / step) * step; cycle <= view.last; cycle += step) {
    const x = Math.round(xOf(cycle, wide)) + .5;
    pen.moveTo(x, AXIS - 6); pen.lineTo(x, AXIS);
    pen.fillText(grouped(cycle), x + 3, AXIS / 2 - 1);
  }
  pen.stroke();
  if (room / span > 8) {
    pen.globalAlpha = .35; pen.beginPath();
    for (let cycle = Math.ceil(view.first); cycle <= view.last; cycle++) {
      const x = Math.round(xOf(cycle, wide)) + .5;
      pen.moveTo(x, AXIS); pen.lineTo(x, high);
    }
    pen.stroke(); pen.globalAlpha = 1;
  }
}

/** The chosen run, and the cycle in which the cursor is. */
function cursor(pen, high, first, offset) {
  if (view.chosen < 0) return;
  const wide = rows.clientWidth, x = xOf(view.cycle + .5, wide), row = view.shown.findIndex(r => r.number === view.chosen);
  pen.save();
  pen.beginPath(); pen.rect(GUTTER, AXIS, wide - GUTTER, high - AXIS); pen.clip();
  pen.strokeStyle = ink.mark; pen.lineWidth = 1;
  pen.setLineDash([4, 3]); pen.beginPath(); pen.moveTo(x, AXIS); pen.lineTo(x, high); pen.stroke(); pen.setLineDash([]);
  const track = tracks[view.chosen], n = changeAt(track, view.cycle);
  if (row >= 0 && n >= 0) {
    const left = xOf(track.starts[n], wide), right = Math.max(xOf(track.starts[n + 1], wide), left + 3);
    pen.lineWidth = 2;
    pen.strokeRect(left, AXIS - offset + (row - first) * ROW + 1, right - left, ROW - 2);
  }
  pen.restore();
}

/** The strip above: how many of the channels move, how many cores run, over the whole run; and the window. */
let strip = null;
function paintOverview() {
  const ratio = Math.min(devicePixelRatio || 1, 2), wide = overview.clientWidth, high = 46;
  if (!strip || strip.width !== Math.floor(wide * ratio) || strip.dark !== isDark()) drawStrip(Math.floor(wide * ratio), high * ratio);
  if (overview.width !== strip.width) { overview.width = strip.width; overview.height = high * ratio; }
  const pen = overview.getContext("2d");
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, overview.width, overview.height);
  pen.drawImage(strip, 0, 0);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const left = overX(view.first), right = Math.max(overX(view.last), left + 2);
  pen.fillStyle = ink.ground; pen.globalAlpha = .65;
  pen.fillRect(GUTTER, 2, left - GUTTER, high - 6); pen.fillRect(right, 2, wide - right, high - 6);
  pen.globalAlpha = 1; pen.strokeStyle = ink.mark; pen.lineWidth = 1.5;
  pen.strokeRect(left, 2, right - left, high - 6);
}

const overX = cycle => GUTTER + (cycle - run.began) / Math.max(elapsed, 1) * (overview.clientWidth - GUTTER);

function drawStrip(wide, high) {
  strip = document.createElement("canvas");
  strip.width = wide; strip.height = high; strip.dark = isDark();
  const ratio = high / 46, pen = strip.getContext("2d"), left = GUTTER * ratio, many = Math.max(Math.floor(wide - left), 1);
  const bands = [["channel", colours.channel[MOVING], 0], ["core", colours.core[RUNNING], 1]].filter(
    band => tracks.some(track => track.kind === band[0]));
  for (const [kind, colour, place] of bands) {
    const mine = tracks.filter(track => track.kind === kind), sums = new Float64Array(many);
    for (const track of mine)
      for (let n = 0; n < track.changes; n++)
        if (track.classes[n] === 0) addRun(sums, many, track.starts[n], track.starts[n + 1]);
    const tall = high / bands.length - 6 * ratio, bottom = (place + 1) * high / bands.length - 4 * ratio;
    pen.fillStyle = ink.row; pen.fillRect(left, bottom - tall, many, tall);
    pen.fillStyle = colour;
    for (let x = 0; x < many; x++) {
      const share = sums[x] / mine.length * tall;
      pen.fillRect(left + x, bottom - share, 1, share);
    }
    pen.fillStyle = ink.quiet; pen.font = `${11 * ratio}px system-ui, sans-serif`;
    pen.textBaseline = "middle"; pen.textAlign = "right";
    const about = kind === "channel" ? "channels that move" : "cores that run";
    const text = GUTTER < 250 ? `${kind}s (${mine.length})` : `${about} (of ${mine.length})`;
    pen.fillText(text, left - 8 * ratio, bottom - tall / 2);
  }
}

function addRun(sums, many, begin, end) {
  const scale = many / Math.max(elapsed, 1), left = (begin - run.began) * scale, right = (end - run.began) * scale;
  const first = left | 0, last = Math.min(right | 0, many - 1);
  if (first >= last) { sums[Math.min(first, many - 1)] += right - left; return; }
  sums[first] += first + 1 - left;
  for (let x = first + 1; x < last; x++) sums[x]++;
  sums[last] += right - last;
}

/** Put the window somewhere, inside the run. */
function look(first, last) {
  const span = Math.min(Math.max(last - first, Math.min(LEAST, elapsed)), Math.max(elapsed, 1));
  const begin = Math.min(Math.max(first, run.began), run.began + Math.max(elapsed, 1) - span);
  view.first = begin; view.last = begin + span;
  repaint();
}

function zoom(factor, around) {
  const middle = around ?? (view.chosen >= 0 && view.cycle >= view.first && view.cycle <= view.last
    ? view.cycle + .5 : (view.first + view.last) / 2);
  const span = (view.last - view.first) * factor, share = (middle - view.first) / (view.last - view.first);
  const kept = Math.max(Math.min(span, elapsed), Math.min(LEAST, elapsed));
  look(middle - share * kept, middle + (1 - share) * kept);
}

const pan = share => look(view.first + share * (view.last - view.first), view.last + share * (view.last - view.first));

/** Choose a track and a cycle; the window and the rows follow if they do not show it. */
function choose(number, cycle, {move = true} = {}) {
  view.chosen = number;
  view.cycle = Math.min(Math.max(Math.floor(cycle), run.began), Math.max(run.ended - 1, run.began));
  const track = tracks[number];
  if (!view.shown.some(row => row.number === number)) { view.closed.delete(track.tile); view.wanted = ""; listRows(); }
  const row = view.shown.findIndex(each => each.number === number);
  if (row < 0) { listRows(); }
  const top = view.shown.findIndex(each => each.number === number) * ROW;
  if (top < rows.scrollTop) rows.scrollTop = Math.max(top - ROW, 0);
  else if (top + ROW > rows.scrollTop + rows.clientHeight - AXIS - ROW) rows.scrollTop = top - rows.clientHeight + AXIS + 3 * ROW;
  if (move && (view.cycle < view.first || view.cycle >= view.last)) {
    const half = (view.last - view.first) / 2;
    look(view.cycle - half, view.cycle + half);
  }
  tell();
  repaint();
}
