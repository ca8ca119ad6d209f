"use strict";
// The data of the page: numbers unpacked, tracks with their changes, and questions about them.

const run = JSON.parse(document.getElementById("data").textContent);
const result = run.record.result;
const elapsed = run.ended - run.began;
const grouped = number => Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter(child => child !== null && child !== ""));
  return made;
};
const at = id => document.getElementById(id);

/** The numbers of `run.packed`: base64 of deflated bytes, all lowest bytes first, then the next ones. */
async function unpacked(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let n = 0; n < raw.length; n++) bytes[n] = raw.charCodeAt(n);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const places = new Uint8Array(await new Response(stream).arrayBuffer());
  const many = places.length / 4, numbers = new Uint32Array(many);
  for (let n = 0; n < many; n++)
    numbers[n] = places[n] | places[many + n] << 8 | places[2 * many + n] << 16 | places[3 * many + n] << 24;
  return numbers;
}

const MOVING = 0, LOCK_WAIT = 4, STARVED = 7, BLOCKED = 8;  // of causes of channels
const RUNNING = 0, CORE_LOCK = 2, CORE_CASCADE = 8, CORE_STREAM = 9;  // of causes of cores
const LEVELS = 5;  // colours of a lock: 0, 1, 2, 3, more
const LOCK_COLOURS = {light: ["#e5e5e5", "#a6d8c4", "#5fb797", "#2d8f6f", "#0f5f47"],
  dark: ["#2a3038", "#1f5c4a", "#2f8f70", "#58bd9b", "#a3e6cd"]};
const ACTS = ["acquired by", "released by", "set by", "begins"];
const tracks = run.tracks;

/** Give each track its changes: `starts` (one more than it has, the last is the end), `values`, `classes`. */
function giveChanges(numbers) {
  let place = 0;
  for (const track of tracks) {
    const many = track.changes, starts = new Float64Array(many + 1);
    for (let n = 0, cycle = run.began; n < many; n++) starts[n] = cycle += numbers[place + n];
    starts[many] = run.ended;
    track.starts = starts;
    place += many;
  }
  for (const track of tracks) {
    track.values = numbers.subarray(place, place + track.changes);
    place += track.changes;
    const lock = track.kind === "lock", classes = track.classes = new Uint8Array(track.changes);
    for (let n = 0; n < track.changes; n++)
      classes[n] = lock ? Math.max(0, Math.min(levelOf(track.values[n]), LEVELS - 1)) : track.values[n] & 255;
    track.kinds = lock ? LEVELS : run.causes[track.kind].length;
    track.place = run.tiles[track.tile];
    track.called = track.label ? `${track.name} '${track.label}'` : track.name;
  }
  for (const bank of run.banks.list)
    for (const what of ["accesses", "conflicts"]) {
      bank[what] = numbers.subarray(place, place + run.banks.bins);
      place += run.banks.bins;
    }
  for (const descriptor of run.descriptors) {
    descriptor.order = numbers.subarray(place, place + descriptor.drawn);
    place += descriptor.drawn;
  }
}

const levelOf = value => (value >>> 2 & 255) - 64;
const lockOf = value => run.locks[(value >>> 16) - 1];
const bdOf = value => value >>> 8 & 255;

/** Number of the change in force in a cycle; -1 before the first one. */
function changeAt(track, cycle) {
  let low = 0, high = track.changes;
  while (low < high) {
    const middle = low + high >>> 1;
    if (track.starts[middle] <= cycle) low = middle + 1; else high = middle;
  }
  return low - 1;
}

/** Cycles by class in the window from `first` to `last`. */
function spent(track, first, last) {
  const found = new Float64Array(track.kinds);
  for (let n = Math.max(changeAt(track, first), 0); n < track.changes && track.starts[n] < last; n++)
    found[track.classes[n]] += Math.max(Math.min(track.starts[n + 1], last) - Math.max(track.starts[n], first), 0);
  return found;
}

/** The part of the window in which a track moved, 0 to 1. */
function busy(track, first, last) {
  return spent(track, first, last)[track.kind === "port" ? 1 : 0] / Math.max(last - first, 1);
}

/** A change of a track in words. */
function says(track, n) {
  const value = track.values[n];
  if (track.kind === "lock") {
    const act = value & 3, who = act === 3 ? "" : ` ${run.agents[value >>> 10].name}`;
    return `${levelOf(value)}, ${ACTS[act]}${who}`;
  }
  const cause = value & 255;
  return run.causes[track.kind][cause].text;
}

const hasBd = (track, n) => track.kind === "channel" && ![1, 2, 13].includes(track.values[n] & 255);
const waitsForLock = (track, n) => (track.kind === "channel" || track.kind === "core") && track.values[n] >>> 16 > 0;
const lockName = lock => lock.label ? `'${lock.label}' (${lock.name})` : lock.name;
const descriptorOf = (tile, bd) => run.descriptors.findIndex(each => each.tile === tile && each.bd === bd);

/** Who gave what a change waited for, and who had taken it: changes of the lock. */
function lockStory(track, n) {
  const lock = lockOf(track.values[n]), locks = lock && tracks[lock.track];
  if (!locks) return {lock, locks: null, taken: -1, given: -1, level: null};
  const begin = track.starts[n], end = track.starts[n + 1];
  const story = {lock, locks, taken: -1, given: -1, level: null};
  let now = changeAt(locks, begin);
  if (now >= 0) story.level = levelOf(locks.values[now]);
  for (let k = now; k >= 0 && story.taken < 0; k--) if ((locks.values[k] & 3) === 0) story.taken = k;
  for (let k = Math.max(now, 0); k < locks.changes && locks.starts[k] <= end; k++) {
    const act = locks.values[k] & 3;
    if ((act === 1 || act === 2) && locks.starts[k] >= begin - 1) story.given = k;
  }
  if (end >= run.ended) story.given = -1;
  return story;
}

/** What a track waits for in a cycle: a sentence, and the track that it hangs on, -1 = nobody. */
function reason(number, cycle) {
  const track = tracks[number], n = changeAt(track, cycle);
  if (n < 0) return {text: "not seen yet", next: -1};
  const cause = track.values[n] & 255;
  if (waitsForLock(track, n)) return lockReason(track, n);
  const gives = direction => run.ways.filter(way => direction === "to" ? way.to.includes(number) : way.from === number);
  if (track.kind === "channel" && cause === STARVED || track.kind === "core" && cause === CORE_STREAM) {
    const sources = gives("to").map(way => way.from);
    if (sources.length) return {text: `no word came from ${sources.map(s => tracks[s].called).join(" or ")}`,
      next: sources.find(s => !moves(s, cycle)) ?? sources[0]};
  }
  if (track.kind === "channel" && cause === BLOCKED || track.kind === "core" && cause === CORE_STREAM) {
    const ends = gives("from").flatMap(way => way.to), slow = ends.find(end => !moves(end, cycle));
    if (ends.length) return {text: `${ends.map(end => tracks[end].called).join(" and ")} took no word`,
      next: slow ?? ends[0]};
  }
  return {text: "", next: -1};
}

const moves = (number, cycle) => {
  const n = changeAt(tracks[number], cycle);
  return n >= 0 && tracks[number].classes[n] === MOVING;
};

function lockReason(track, n) {
  const {lock, locks, taken, given, level} = lockStory(track, n);
  if (!lock) return {text: "the lock is out of its reach", next: -1};
  const parts = [`${lockName(lock)}${level === null ? "" : ` was ${level}`}`];
  if (taken >= 0) parts.push(`taken last by ${agentOf(locks, taken).name} in cycle ${grouped(locks.starts[taken])}`);
  parts.push(given >= 0 ? `given by ${agentOf(locks, given).name} in cycle ${grouped(locks.starts[given])}`
    : track.starts[n + 1] >= run.ended ? "never given" : "another one got it first");
  const earlier = releasers(locks).filter(giver => tracks[giver] !== track);
  const could = [...new Set([...lock.givers, ...earlier])].filter(giver => tracks[giver] !== track);
  const idle = could.find(giver => !moves(giver, Math.max(track.starts[n + 1] - 1, run.began)));
  if (given < 0 && could.length) parts.push(`${could.map(giver => tracks[giver].called).join(" or ")} could give it`);
  const next = given >= 0 ? agentOf(locks, given).track : could.length ? idle ?? could[0] : -1;
  return {text: parts.join("; "), next, lock: lock.track};
}

/** Tracks of those who have released a lock in the run. */
function releasers(locks) {
  const found = new Set();
  for (let k = 0; k < locks.changes; k++)
    if ((locks.values[k] & 3) === 1 && agentOf(locks, k).track >= 0) found.add(agentOf(locks, k).track);
  return [...found];
}

const agentOf = (locks, n) => run.agents[locks.values[n] >>> 10];

/** From a track and a cycle to who is at work, or to a circle: [number, change, sentence], ... */
function chain(number, cycle) {
  const steps = [], met = new Set();
  while (number >= 0 && !met.has(number) && steps.length < 24) {
    met.add(number);
    const found = reason(number, cycle);
    steps.push({number, n: changeAt(tracks[number], cycle), ...found});
    number = found.next;
  }
  return {steps, circle: number >= 0 && met.has(number) ? number : -1};
}
