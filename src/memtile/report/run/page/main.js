// From the data to the page: keys, mouse, search, colours, printing.

const KINDS = [["channel", "channels", "c"], ["core", "cores", "o"], ["lock", "locks", "l"], ["port", "ports", "p"]];

function windowChanged() {
  const span = view.last - view.first;
  at("window").textContent = `cycles ${grouped(view.first)} to ${grouped(view.last)}: ${plural(Math.round(span), "cycle")}, ${time(span)}`;
  drawMap();
  if (view.chosen < 0) tell();
}

function showKind(kind) {
  view.kinds[kind] = !view.kinds[kind];
  at(`kind-${kind}`).setAttribute("aria-pressed", view.kinds[kind]);
  listRows(); drawLegend(); repaint();
}

function toggle(tile) {
  if (!view.closed.delete(tile)) view.closed.add(tile);
  listRows(); repaint();
}

/** Everything in the colours of the present scheme. */
function drawAll() {
  readColours();
  strip = null;
  listRows(); drawFindings(); drawBars(); drawHeat(); drawCards(); drawLegend(); tell(); drawMap(); paint();
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme;
  drawAll();
}

function search(text) {
  view.wanted = text.trim().toLowerCase();
  const matching = view.wanted ? tracks.filter(track => track.called.toLowerCase().includes(view.wanted)) : [];
  for (const [kind] of KINDS)
    if (!view.kinds[kind] && matching.some(track => track.kind === kind)) showKind(kind);
  at("found").textContent = view.wanted ? plural(matching.length, "track") : "";
  listRows(); drawBars(); drawCards(); repaint();
}

/** Choose the row above or below the chosen one. */
function step(by) {
  const numbers = view.shown.filter(row => row.number !== undefined).map(row => row.number);
  if (!numbers.length) return;
  const place = numbers.indexOf(view.chosen), next = place < 0 ? (by > 0 ? 0 : numbers.length - 1) : place + by;
  choose(numbers[Math.min(Math.max(next, 0), numbers.length - 1)], view.chosen < 0 ? view.first : view.cycle);
}

/** What the chosen track did before or after. */
function neighbour(by, single) {
  if (view.chosen < 0) { step(1); return; }
  const track = tracks[view.chosen], n = changeAt(track, view.cycle);
  if (single) choose(view.chosen, view.cycle + by);
  else choose(view.chosen, track.starts[Math.min(Math.max(n + by, 0), track.changes - 1)]);
}

function fit() {
  if (view.chosen < 0) return;
  const track = tracks[view.chosen], n = Math.max(changeAt(track, view.cycle), 0);
  const long = Math.max(track.starts[n + 1] - track.starts[n], 2);
  look(track.starts[n] - long * .25, track.starts[n + 1] + long * .25);
}

function follow() {
  if (view.chosen < 0) return;
  const {steps} = chain(view.chosen, view.cycle);
  if (steps.length > 1) choose(steps[1].number, view.cycle);
}

const ON_PAGE = {
  "/": () => { at("search").focus({preventScroll: true}); at("search").select(); },
  "?": () => at("keys").showModal(),
  t: () => setTheme(isDark() ? "light" : "dark"),
  c: () => showKind("channel"), o: () => showKind("core"), l: () => showKind("lock"), p: () => showKind("port"),
  w: () => zoom(.7), s: () => zoom(1 / .7), a: () => pan(-.15), d: () => pan(.15), "+": () => zoom(.7), "-": () => zoom(1 / .7),
  0: () => look(run.began, run.ended), f: fit,
  1: () => { const middle = view.chosen >= 0 ? view.cycle : (view.first + view.last) / 2; look(middle - 24, middle + 25); },
};
const ON_ROWS = {
  ArrowUp: () => step(-1), ArrowDown: () => step(1),
  ArrowLeft: event => neighbour(-1, event.shiftKey), ArrowRight: event => neighbour(1, event.shiftKey),
  Enter: follow, PageDown: () => { rows.scrollTop += rows.clientHeight / 2; }, PageUp: () => { rows.scrollTop -= rows.clientHeight / 2; },
  " ": () => { if (view.chosen >= 0) toggle(tracks[view.chosen].tile); },
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, dialog *")) return;
  const act = ON_PAGE[event.key] ?? (document.activeElement === rows || document.activeElement === document.body ? ON_ROWS[event.key] : null);
  if (!act || (document.activeElement === document.body && [" ", "PageDown", "PageUp"].includes(event.key))) return;
  event.preventDefault();
  act(event);
}

/** Row and cycle below the mouse. */
function below(event) {
  const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  const row = view.shown[Math.floor((y - AXIS + rows.scrollTop) / ROW)];
  return {row: y > AXIS ? row : undefined, x, cycle: view.first + (x - GUTTER) / (rows.clientWidth - GUTTER) * (view.last - view.first)};
}

function mouse() {
  let held = null;
  canvas.addEventListener("pointerdown", event => {
    if (event.button) return;
    held = {x: event.clientX, y: event.clientY, first: view.first, last: view.last, top: rows.scrollTop, moved: false};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    if (!held) return;
    const dx = event.clientX - held.x, dy = event.clientY - held.y;
    if (Math.abs(dx) + Math.abs(dy) > 4) { held.moved = true; canvas.classList.add("held"); }
    if (!held.moved) return;
    const shift = dx / (rows.clientWidth - GUTTER) * (held.last - held.first);
    rows.scrollTop = held.top - dy;
    look(held.first - shift, held.last - shift);
  });
  canvas.addEventListener("pointerup", event => {
    canvas.classList.remove("held");
    if (held && !held.moved) {
      const {row, x, cycle} = below(event);
      if (row?.tile !== undefined) toggle(row.tile);
      else if (row) choose(row.number, x < GUTTER ? view.cycle : cycle, {move: x >= GUTTER});
    }
    held = null;
  });
  canvas.addEventListener("dblclick", event => zoom(.4, below(event).cycle));
  rows.addEventListener("wheel", event => {
    if (event.ctrlKey || event.metaKey) { event.preventDefault(); zoom(Math.exp(event.deltaY * .004), below(event).cycle); }
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) { event.preventDefault(); pan((event.deltaX || event.deltaY) * .0012); }
  }, {passive: false});
  rows.addEventListener("scroll", repaint);
  strips();
}

/** A drag on the strip chooses the window; a click puts it there. */
function strips() {
  let from = null;
  const cycleAt = event => run.began + (event.offsetX - GUTTER) / Math.max(overview.clientWidth - GUTTER, 1) * elapsed;
  overview.addEventListener("pointerdown", event => { from = cycleAt(event); overview.setPointerCapture(event.pointerId); });
  overview.addEventListener("pointermove", event => {
    const to = from === null ? 0 : cycleAt(event);
    if (from !== null && Math.abs(to - from) > elapsed / 200) look(Math.min(from, to), Math.max(from, to));
  });
  overview.addEventListener("pointerup", event => {
    const to = cycleAt(event), half = (view.last - view.first) / 2;
    if (from !== null && Math.abs(to - from) <= elapsed / 200) look(to - half, to + half);
    from = null;
  });
}

function printing() {
  let before = "";
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme ?? "";
    setTheme("light");
    document.querySelectorAll("#cards canvas").forEach(drawOrder);
  });
  addEventListener("afterprint", () => setTheme(before));
}

/** What the address names: `#track=NAME&cycle=N&from=N&to=N`; with `&top` it stays at its top. */
function fromAddress() {
  const named = new URLSearchParams(location.hash.slice(1)), name = named.get("track");
  const number = name === null ? -1 : tracks.findIndex(track => track.called === name || track.name === name);
  if (named.has("from")) look(Number(named.get("from")), Number(named.get("to") ?? run.ended));
  if (number >= 0) choose(number, Number(named.get("cycle") ?? view.first));
  if ((named.has("from") || number >= 0) && !named.has("top")) at("timeline").scrollIntoView();
}

async function start() {
  giveChanges(await unpacked(run.packed));
  for (const [kind, name, key] of KINDS) {
    const many = tracks.filter(track => track.kind === kind).length;
    at("kinds").append(element("button", {type: "button", id: `kind-${kind}`, title: `show or hide (${key})`, "aria-pressed": view.kinds[kind],
      onclick: () => showKind(kind)}, `${many} ${name}`));
  }
  drawHead(); drawProvenance();
  drawAll(); windowChanged();
  at("theme").addEventListener("click", ON_PAGE.t);
  at("help").addEventListener("click", ON_PAGE["?"]);
  at("in").addEventListener("click", ON_PAGE.w); at("out").addEventListener("click", ON_PAGE.s); at("all").addEventListener("click", ON_PAGE[0]);
  at("search").addEventListener("input", event => search(event.target.value));
  at("search").addEventListener("keydown", event => {
    if (event.key === "Escape") { event.target.value = ""; search(""); rows.focus({preventScroll: true}); }
    if (event.key === "Enter") { const row = view.shown.find(each => each.number !== undefined); if (row) { choose(row.number, view.cycle); rows.focus({preventScroll: true}); } }
  });
  addEventListener("keydown", onKey);
  addEventListener("resize", () => { strip = null; listRows(); repaint(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  mouse(); printing(); fromAddress();
  addEventListener("hashchange", fromAddress);
  document.body.dataset.ready = Math.round(performance.now());
}

start();
