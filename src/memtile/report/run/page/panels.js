// What stands beside and below the timeline: the story of what is chosen, the array, bars, banks, descriptors, findings.

const SVG = "http://www.w3.org/2000/svg";
const shape = (name, attributes = {}, text = "") => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
};
const percent = share => `${(100 * share).toFixed(share < .0995 && share > 0 ? 1 : 0)} %`;
const time = cycles => {
  const us = cycles / result.clock_mhz;
  return us >= 1000 ? `${(us / 1000).toPrecision(4)} ms` : us >= 1 ? `${us.toPrecision(4)} \u00b5s` : `${(us * 1000).toPrecision(3)} ns`;
};
const plural = (n, word) => `${grouped(n)} ${word}${n === 1 ? "" : "s"}`;
const goTo = (number, cycle, text) => element("button", {class: "link", type: "button",
  onclick: () => { choose(number, cycle); rows.focus({preventScroll: true}); }}, text);
const dot = colour => element("i", {class: "dot", style: `background:${colour}`});

/** What is chosen: what it does from when to when, why, and who comes before it. */
function tell() {
  const told = at("told");
  if (view.chosen < 0) { told.replaceChildren(...introduction()); return; }
  const track = tracks[view.chosen], n = changeAt(track, view.cycle), parts = [element("h3", {}, track.called)];
  if (n < 0) { told.replaceChildren(...parts, "not seen yet"); return; }
  const begin = track.starts[n], end = track.starts[n + 1], list = element("dl");
  const line = (name, ...what) => list.append(element("dt", {}, name), element("dd", {}, ...what));
  line("does", dot(colours[track.kind][track.classes[n]]), says(track, n));
  line("cycles", `${grouped(begin)} to ${grouped(Math.max(end - 1, begin))}, ${plural(end - begin, "cycle")} (${time(end - begin)})`);
  line("cursor", `cycle ${grouped(view.cycle)}`);
  if (hasBd(track, n)) line("descriptor", ...bdParts(track, bdOf(track.values[n])));
  parts.push(list);
  const {steps, circle} = chain(view.chosen, view.cycle);
  if (steps.length > 1 || steps[0].text) {
    parts.push(element("h3", {}, "Why"), element("ol", {}, ...steps.map(step => whyLine(step))));
    if (circle >= 0) parts.push(element("p", {class: "fail"}, `A circle: back at ${tracks[circle].called}.`));
  }
  if (track.kind === "lock") parts.push(...lockLines(track, n));
  told.replaceChildren(...parts);
}

function bdParts(track, bd) {
  const number = descriptorOf(track.tile, bd), place = number >= 0 ? run.descriptors[number].place : "";
  const text = `BD ${bd}${place ? `, ${place}` : ""}`;
  return [number >= 0 ? element("a", {href: `#bd-${number}`}, text) : text];
}

function whyLine({number, n, text}) {
  const track = tracks[number], item = element("li", {}, goTo(number, view.cycle, track.called), ": ");
  if (n >= 0) item.append(dot(colours[track.kind][track.classes[n]]), says(track, n));
  if (text) item.append(`; ${text}`);
  return item;
}

function lockLines(track, n) {
  const items = [];
  for (let k = Math.max(n - 3, 0); k < Math.min(n + 4, track.changes); k++) {
    const value = track.values[k], act = value & 3, agent = run.agents[value >>> 10];
    const who = act === 3 ? "" : agent.track >= 0 ? goTo(agent.track, track.starts[k], agent.name) : agent.name;
    items.push(element("li", k === n ? {class: "warning"} : {},
      goTo(view.chosen, track.starts[k], `cycle ${grouped(track.starts[k])}`), `: ${levelOf(value)}, ${ACTS[act]} `, who));
  }
  return [element("h3", {}, "Around it"), element("ul", {}, ...items)];
}

function introduction() {
  const worst = tracks.map((track, number) => ({track, number})).filter(each => each.track.kind === "channel" || each.track.kind === "core")
    .map(each => ({...each, share: busy(each.track, view.first, view.last)})).sort((a, b) => b.share - a.share).slice(0, 6);
  return [element("h3", {}, "Nothing chosen"),
    element("p", {class: "quiet"}, "Click a row, or go there with the arrow keys: here stands what it does, why, and who gave what it waited for."),
    element("h3", {}, "Busiest in the window"),
    element("ol", {}, ...worst.map(each => element("li", {}, goTo(each.number, view.first, each.track.called), `: ${percent(each.share)}`)))];
}

/** The array: tiles by how busy they are in the window, streams as lines. */
const TILE_WIDE = 128, TILE_HIGH = 62, GAP = 34;
function drawMap() {
  const drawn = run.tiles.map((tile, number) => tile.column >= 0 || tracks.some(track => track.tile === number));
  const west = Math.min(...run.tiles.filter((_, n) => drawn[n]).map(t => t.column)), top = Math.max(...run.tiles.map(t => t.row));
  const columns = Math.max(...run.tiles.map(t => t.column)) + 1 - west, rowTops = topsOfRows(top);
  const wide = columns * (TILE_WIDE + GAP) + GAP, high = rowTops.end;
  const svg = shape("svg", {width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "group", "aria-label": "array"});
  const corner = tile => [GAP + (tile.column - west) * (TILE_WIDE + GAP), rowTops.y[tile.row]];
  for (let tile = 0; tile < run.tiles.length; tile++)
    if (drawn[tile] && !rowTops.folded[run.tiles[tile].row]) svg.append(drawTile(tile, corner(run.tiles[tile])));
  for (const [y, text] of rowTops.bands) svg.append(shape("text", {x: GAP, y: y + 15, fill: ink.quiet, class: "band"}, text));
  drawWays(svg, corner);
  at("map").replaceChildren(svg);
  drawStreams();
}

const FOLDED = 24;  // height of unused rows together

/** Where each row of the array begins, from the top; rows that nobody uses are one band. */
function topsOfRows(top) {
  const used = new Set(tracks.map(track => run.tiles[track.tile].row));
  for (const way of run.ways) for (const step of way.steps) for (const tile of step) used.add(run.tiles[tile].row);
  const y = [], folded = [], bands = [];
  let at = GAP;
  for (let row = top; row >= 0; row--) {
    folded[row] = !used.has(row);
    y[row] = at;
    if (!folded[row]) { at += TILE_HIGH + GAP; continue; }
    let last = row;
    while (last > 0 && !used.has(last - 1)) { last--; folded[last] = true; y[last] = at; }
    bands.push([at, row === last ? `row ${row}: unused` : `rows ${last} to ${row}: unused`]);
    row = last; at += FOLDED;
  }
  return {y, folded, bands, end: at};
}

/** The streams by how busy they are in the window. */
function drawStreams() {
  const share = way => Math.max(0, ...way.ports.map(port => busy(tracks[port], view.first, view.last)));
  const found = run.ways.filter(way => way.ports.length).map(way => ({way, share: share(way)})).sort((a, b) => b.share - a.share);
  const link = number => goTo(number, view.cycle, tracks[number].called);
  at("streams").replaceChildren(element("h3", {}, `Streams in the window${found.length > 14 ? ", the busiest of " + found.length : ""}`),
    element("table", {}, ...found.slice(0, 14).map(each => element("tr", {}, element("td", {class: "n"}, percent(each.share)),
      element("td", {}, link(each.way.from), " to ", ...each.way.to.slice(0, 4).flatMap((end, n) => [n ? ", " : "", link(end)]),
        each.way.to.length > 4 ? ` and ${each.way.to.length - 4} more` : "")))));
}

function drawTile(tile, [x, y]) {
  const mine = tracks.filter(track => track.tile === tile), group = shape("g", {class: "tile", tabindex: 0, role: "button"});
  const most = kind => Math.max(0, ...mine.filter(kind).map(track => busy(track, view.first, view.last)));
  const core = mine.find(track => track.kind === "core");
  const into = most(t => t.kind === "channel" && t.receives), out = most(t => t.kind === "channel" && !t.receives);
  const whole = Math.max(into, out, core ? busy(core, view.first, view.last) : 0), name = run.tiles[tile].name;
  group.append(shape("title", {}, `${name}: ${mine.length} tracks`),
    shape("rect", {x, y, width: TILE_WIDE, height: TILE_HIGH, rx: 5, fill: ink.panel, stroke: ink.line, "stroke-width": 1.5}),
    shape("rect", {x, y, width: TILE_WIDE, height: TILE_HIGH, rx: 5, fill: colours.channel[MOVING], "fill-opacity": (.5 * whole).toFixed(3)}));
  const text = (row, words, small) => group.append(shape("text", {x: x + 9, y: y + 18 + 15 * row, class: small ? "small" : ""}, words));
  text(0, name, false);
  if (mine.some(track => track.kind === "channel")) text(1, `in ${percent(into)}, out ${percent(out)}`, true);
  else if (!mine.length) text(1, "unused", true);
  if (core) { text(2, `core ${percent(busy(core, view.first, view.last))}`, true); stack(group, core, x + 9, y + TILE_HIGH - 9, TILE_WIDE - 18); }
  const open = () => { const number = tracks.findIndex(track => track.tile === tile && view.kinds[track.kind]); if (number >= 0) choose(number, view.cycle); };
  group.addEventListener("click", open);
  group.addEventListener("keydown", event => { if (event.key === "Enter") { open(); event.stopPropagation(); } });
  return group;
}

/** A thin stack of causes. */
function stack(group, track, x, y, wide) {
  spent(track, view.first, view.last).forEach((cycles, kind) => {
    const part = cycles / Math.max(view.last - view.first, 1) * wide;
    if (part > 0) group.append(shape("rect", {x: x.toFixed(1), y, width: part.toFixed(1), height: 4, fill: colours[track.kind][kind]}));
    x += part;
  });
}

function drawWays(svg, corner) {
  const lanes = new Map();
  for (const way of run.ways)
    for (const [from, to] of way.steps) {
      const key = `${Math.min(from, to)}-${Math.max(from, to)}`;
      if (!lanes.has(key)) lanes.set(key, []);
      lanes.get(key).push({way, from, to});
    }
  const names = way => `${tracks[way.from].called} to ${way.to.map(n => tracks[n].called).join(", ") || "nothing"}`;
  for (const lane of lanes.values())
    lane.forEach(({way, from, to}, place) => {
      const [x1, y1] = corner(run.tiles[from]), [x2, y2] = corner(run.tiles[to]);
      const ports = way.ports.filter(port => tracks[port].tile === from), share = Math.max(0, ...ports.map(port => busy(tracks[port], view.first, view.last)));
      const vertical = x1 === x2, room = vertical ? TILE_WIDE - 16 : TILE_HIGH - 16, aside = 8 + room * (place + .5) / lane.length;
      const ends = vertical ? [x1 + aside, y1 > y2 ? y1 : y1 + TILE_HIGH, x2 + aside, y1 > y2 ? y2 + TILE_HIGH : y2]
        : [x1 < x2 ? x1 + TILE_WIDE : x1, y1 + aside, x1 < x2 ? x2 : x2 + TILE_WIDE, y2 + aside];
      const [a, b, c, d] = ends, line = shape("line", {x1: a, y1: b, x2: c, y2: d, stroke: share > 0 ? colours.channel[MOVING] : ink.quiet,
        "stroke-width": (1 + 4 * share).toFixed(2), "stroke-opacity": share > 0 ? .9 : .5});
      const along = [Math.sign(c - a), Math.sign(d - b)], tip = 6, side = 3.2;
      const arrow = shape("path", {d: `M${c} ${d} L${c - along[0] * tip + along[1] * side} ${d - along[1] * tip + along[0] * side} `
        + `L${c - along[0] * tip - along[1] * side} ${d - along[1] * tip - along[0] * side} Z`, fill: share > 0 ? colours.channel[MOVING] : ink.quiet});
      line.append(shape("title", {}, `${names(way)}: ${percent(share)}`));
      svg.append(line, arrow);
    });
}

/** A bar for each channel and core; its parts add up to the run. */
function drawBars() {
  const bars = at("bars"), parts = [];
  let tile = -1;
  tracks.forEach((track, number) => {
    if (track.kind !== "channel" && track.kind !== "core") return;
    if (view.wanted && !track.called.toLowerCase().includes(view.wanted)) return;
    if (track.tile !== tile) parts.push(element("div", {class: "tile"}, run.tiles[tile = track.tile].name));
    const cycles = spent(track, run.began, run.ended), stacked = element("div", {class: "stack", role: "img"});
    const said = [];
    cycles.forEach((many, kind) => {
      if (!many) return;
      const cause = run.causes[track.kind][kind];
      said.push(`${grouped(many)} ${cause.text}`);
      stacked.append(element("span", {style: `flex:${many} 0 0;background:${colours[track.kind][kind]}`,
        title: `${cause.text}: ${grouped(many)} cycles, ${percent(many / Math.max(elapsed, 1))}`}));
    });
    stacked.setAttribute("aria-label", said.join(", "));
    parts.push(element("div", {class: "who", title: track.called}, goTo(number, run.began, shortName(track))), stacked,
      element("div", {class: "n"}, percent(cycles[0] / Math.max(elapsed, 1))));
  });
  bars.replaceChildren(...parts);
  at("sums").textContent = `Each bar adds up to the ${plural(elapsed, "cycle")} of the run; at the right the part in which it moved or ran.`;
}

/** Banks by time. */
function drawHeat() {
  const {list, bins, stretch} = run.banks, left = 190, cell = Math.max(2, Math.min(6, Math.floor(1000 / bins))), tall = 13;
  const heat = at("heat"), ratio = Math.min(devicePixelRatio || 1, 2), wide = left + bins * cell + 10, high = list.length * tall + 6;
  heat.width = wide * ratio; heat.height = high * ratio; heat.style.width = `${wide}px`; heat.style.height = `${high}px`;
  const pen = heat.getContext("2d"), ramp = viridis(256);
  pen.scale(ratio, ratio); pen.font = "11px system-ui, sans-serif"; pen.textBaseline = "middle";
  let tile = -1;
  list.forEach((bank, row) => {
    pen.fillStyle = bank.tile !== tile ? ink.ink : ink.quiet;
    pen.fillText(bank.tile !== tile ? `${run.tiles[tile = bank.tile].name} ${bank.name}` : `    ${bank.name}`, 2, row * tall + tall / 2);
    for (let bin = 0; bin < bins; bin++) {
      const share = Math.min(bank.accesses[bin] / stretch, 1), clash = bank.conflicts[bin] / stretch;
      pen.fillStyle = share > 0 ? ramp[Math.round(255 * Math.sqrt(share))] : ink.row;
      pen.fillRect(left + bin * cell, row * tall + 1, cell, tall - 2);
      if (clash > 0) {
        const part = Math.max(2, (tall - 2) * Math.min(clash, 1));
        pen.fillStyle = "#ff4d1c"; pen.fillRect(left + bin * cell, row * tall + tall - 1 - part, cell, part);
      }
    }
  });
  at("heatnote").textContent = list.length ? `Accesses of each bank in stretches of ${plural(stretch, "cycle")}: the brighter, the fuller; `
    + "red from below: cycles in which more than one asked for it." : "No bank was accessed.";
  heat.onmousemove = event => {
    const bin = Math.floor((event.offsetX - left) / cell), row = Math.floor(event.offsetY / tall), bank = list[row];
    if (!bank || bin < 0 || bin >= bins) return;
    const first = run.began + bin * stretch, last = Math.min(first + stretch, run.ended);
    at("heattold").textContent = `${run.tiles[bank.tile].name} ${bank.name}, cycles ${grouped(first)} to ${grouped(last - 1)}: `
      + `${plural(bank.accesses[bin], "access").replace("accesss", "accesses")}, ${plural(bank.conflicts[bin], "cycle")} with a conflict`;
  };
}

const VIRIDIS = ["440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"];
function viridis(many) {
  return Array.from({length: many}, (_, n) => {
    const where = n / Math.max(many - 1, 1) * (VIRIDIS.length - 1), low = Math.min(Math.floor(where), VIRIDIS.length - 2);
    const mix = [0, 2, 4].map(k => Math.round(parseInt(VIRIDIS[low].slice(k, k + 2), 16) * (low + 1 - where)
      + parseInt(VIRIDIS[low + 1].slice(k, k + 2), 16) * (where - low)));
    return `rgb(${mix.join(",")})`;
  });
}

function drawCards() {
  const wanted = view.wanted, cards = [];
  run.descriptors.forEach((each, number) => {
    const users = each.users.map(user => tracks[user].called);
    const words = [run.tiles[each.tile].name, `BD ${each.bd}`, each.place, ...users].join(" ").toLowerCase();
    if (wanted && !words.includes(wanted)) return;
    const picture = element("canvas", {"data-number": number, role: "img", "aria-label": `order of ${plural(each.length, "word")}`});
    cards.push(element("div", {class: "card", id: `bd-${number}`, tabindex: -1},
      element("h3", {}, `${run.tiles[each.tile].name} BD ${each.bd}`), element("div", {class: "quiet"}, each.place),
      element("div", {}, ...each.users.flatMap((user, k) => [k ? ", " : "", goTo(user, firstUse(tracks[user], each.bd), tracks[user].called)])),
      picture, each.drawn < each.length ? element("div", {class: "quiet"}, `the first ${each.drawn} of ${plural(each.length, "word")}`) : "",
      element("ul", {}, ...each.lines.map(([topic, text]) => element("li", {}, element("span", {class: "topic"}, `${topic}: `), text)))));
  });
  at("cards").replaceChildren(...(cards.length ? cards : ["none"]));
  const seen = new IntersectionObserver(found => {
    for (const each of found) if (each.isIntersecting) { drawOrder(each.target); seen.unobserve(each.target); }
  }, {rootMargin: "400px"});
  document.querySelectorAll("#cards canvas").forEach(canvas => seen.observe(canvas));
}

const firstUse = (track, bd) => {
  for (let n = 0; n < track.changes; n++) if ((track.values[n] & 255) === MOVING && bdOf(track.values[n]) === bd) return track.starts[n];
  return run.began;
};

/** The order of a descriptor: rows of its pitch, each word in the colour of its first place in the stream. */
function drawOrder(canvas) {
  const each = run.descriptors[canvas.dataset.number], {order, pitch} = each;
  let highest = 0, zeros = 0;
  for (const word of order) if (word > highest) highest = word; else if (word === 0) zeros++;
  const across = Math.min(Math.max(pitch, 1), 1024), down = Math.min(Math.ceil(highest / Math.max(pitch, 1)), 512);
  const cell = Math.max(1, Math.min(14, Math.floor(290 / across), Math.floor(220 / Math.max(down, 1))));
  const pen = canvas.getContext("2d"), ramp = viridis(256), strip = zeros ? cell + 6 : 0;
  canvas.width = Math.max(across * cell, 40); canvas.height = Math.max(down * cell, 4) + strip;
  pen.fillStyle = ink.row; pen.fillRect(0, 0, across * cell, down * cell);
  for (let step = order.length - 1; step >= 0; step--) {
    const word = order[step] - 1, x = word % pitch, y = Math.floor(word / pitch);
    if (word < 0 || x >= across || y >= down) continue;
    pen.fillStyle = ramp[Math.round(255 * step / Math.max(order.length - 1, 1))];
    pen.fillRect(x * cell, y * cell, cell > 3 ? cell - 1 : cell, cell > 3 ? cell - 1 : cell);
  }
  if (zeros) paintZeros(pen, order, down * cell + 3, canvas.width, cell);
}

/** The stream from left to right, the zeros in it hatched. */
function paintZeros(pen, order, top, wide, high) {
  for (let step = 0; step < order.length; step++) {
    const x = step / order.length * wide, part = Math.max(wide / order.length, 1);
    pen.fillStyle = order[step] ? ink.line : ink.mark;
    pen.fillRect(x, top, part, high);
  }
}

function drawFindings() {
  const parts = result.findings.map(found => element("div", {class: `finding ${found.severity}`},
    element("span", {class: "code"}, `${found.code} ${found.severity}`), ` ${found.title}`, element("div", {}, found.message),
    element("ul", {}, ...found.sides.map(side => element("li", {}, sideText(side)))),
    found.fix ? element("div", {}, element("b", {}, "Repair: "), found.fix) : ""));
  if (result.waits.nodes.length)
    parts.splice(0, parts.length, element("div", {class: "split"}, element("div", {class: "said"}, ...parts), element("div", {class: "graph"}, drawWaits())));
  const lists = [["Errors", result.errors], ["Waits", result.waiting], ["At rest", result.resting], ["Not simulated", result.unsimulated],
    ["All waits", result.waits.edges.map(edge => `${nodeName(edge.waits)} ${edge.text}${waysOf(edge)}`)]];
  for (const [name, lines] of lists) if (lines.length) parts.push(folded(name, lines));
  at("list").replaceChildren(...(parts.length ? parts : [element("p", {class: "note"}, "Nothing was found wrong.")]));
}

/** A list that is open if it is short. */
const folded = (name, lines) => element("details", lines.length <= 8 ? {open: ""} : {}, element("summary", {}, `${name} (${lines.length})`),
  element("ul", {}, ...lines.map(line => element("li", {}, line))));

function waysOf(edge) {
  const ways = result.waits.edges.filter(other => other.waits === edge.waits).map(other => other.way), different = new Set(ways).size;
  if (ways.length === 1) return "";
  if (different === ways.length) return ` (one of ${different} ways, one is enough)`;
  return different === 1 ? ` (one of ${ways.length} that are all needed)` : ` (way ${edge.way + 1} of ${different})`;
}

const nodeName = id => (result.waits.nodes.find(node => node.id === id) ?? {name: id}).name;

function sideText(side) {
  const number = tracks.findIndex(track => track.called === side.who || track.name === side.who
    || side.who.startsWith(`${track.name} (kernel`));
  const where = [side.place, side.cycle === null ? "" : `cycle ${grouped(side.cycle)}`].filter(Boolean).join(", ");
  const who = number >= 0 ? goTo(number, side.cycle ?? run.ended - 1, side.who) : element("span", {}, side.who);
  const text = element("span", {}, who, ` ${side.does}${where ? ` (${where})` : ""}`);
  return text;
}

function drawProvenance() {
  const {provenance, bytes, why, verdict} = run.record, table = element("table"), list = values => values.length ? values.join("; ") : "none";
  const line = (name, text, kind = "") => table.append(element("tr", {}, element("th", {}, name), element("td", {class: kind}, text)));
  line("verdict", `${verdict}: ${list(why)}`);
  if (run.command) line("command", run.command, "hash");
  for (const [name, hash] of Object.entries(provenance.inputs)) line(`SHA-256 of ${name}`, hash, "hash");
  for (const name of ["memtile", "python", "numpy", "numba"]) line(name, provenance[name]);
  line("parameters", list(result.parameters.map(each => `${each.name} = ${JSON.stringify(each.value)}`)));
  line("assumed timing", list(result.assumed));
  line("timing changed", list((Array.isArray(result.timing) ? result.timing : Object.entries(result.timing ?? {})).map(
    each => Array.isArray(each) ? each.join(" = ") : `${each.name} = ${each.value}`)));
  for (const [level, moved] of Object.entries(bytes)) line(`bytes, ${level}`, `${grouped(moved.read)} read, ${grouped(moved.written)} written`);
  line("registers that only store", list(run.record.stored_registers));
  line("ignored", list(run.record.ignored_operations));
  at("facts2").replaceChildren(table, element("details", {}, element("summary", {}, "The result as text"), element("pre", {}, run.text)));
}

function drawHead() {
  const {verdict} = run.record, exact = result.bit_exact === null ? "" : result.bit_exact ? " \u00b7 bit-exact" : " \u00b7 not bit-exact";
  at("title").textContent = run.title;
  at("verdict").textContent = verdict; at("verdict").className = `pill ${verdict}`;
  at("verdict").title = run.record.why.join("; ");
  at("facts").textContent = `${plural(elapsed, "cycle")} \u00b7 ${time(elapsed)} at ${result.clock_mhz} MHz \u00b7 ${result.status}${exact}`
    + (result.findings.length ? ` \u00b7 ${plural(result.findings.length, "finding")}` : "");
  at("bound").textContent = run.text.split("\n").find(line => /^(limited by|no resource is saturated)/i.test(line)) ?? "";
  at("ahead").replaceChildren(...run.ahead.filter(line => line !== at("bound").textContent).map(line => element("li", {}, line)));
}

function drawLegend() {
  const parts = [];
  for (const kind of ["channel", "core", "port"]) {
    if (!view.kinds[kind]) continue;
    const seen = new Set(tracks.filter(track => track.kind === kind).flatMap(track => [...new Set(track.classes)]));
    run.causes[kind].forEach((cause, n) => { if (seen.has(n)) parts.push([cause.text, colours[kind][n]]); });
  }
  if (view.kinds.lock) colours.lock.forEach((colour, n) => parts.push([`lock ${n}${n === LEVELS - 1 ? " or more" : ""}`, colour]));
  const once = [...new Map(parts.map(([text, colour]) => [text + colour, [text, colour]])).values()];
  at("legend").replaceChildren(...once.map(([text, colour]) => element("span", {}, dot(colour), text)));
}
