// Shows what answers.py says; nothing is computed here.
const at = (id) => document.getElementById(id);
const say = (text) => { at("status").textContent = text; };
const FIRST = 400; // milliseconds after which a wait is shown

let worker, ready, waiting, last = 0;

function start() {
  worker = new Worker("worker.js", { type: "module" });
  ready = new Promise((done, failed) => {
    worker.onmessage = ({ data }) => {
      if ("say" in data) say(data.say);
      else if ("ready" in data) done();
      else if ("failed" in data) failed(new Error(data.failed));
      else if (data.id === last && waiting) {
        waiting(data.found);
        if (data.ended) restart();
      }
    };
    worker.onerror = (event) => failed(new Error(event.message ?? "the browser cannot run worker.js as a module"));
  });
}

function restart() {
  worker.terminate();
  start();
}

// What Python answers; a later question takes the place of one that is not answered yet.
function ask(what, ...given) {
  waiting?.(null);
  last += 1;
  worker.postMessage({ id: last, what, given });
  return new Promise((done) => { waiting = (found) => { waiting = null; done(found); }; });
}

// Ask, and show how long it takes and a button that ends it.
async function timed(what, ...given) {
  const began = performance.now();
  const seconds = setInterval(() => { at("seconds").textContent = `${Math.round((performance.now() - began) / 1000)} s`; }, 1000);
  const late = setTimeout(() => { at("stop").hidden = false; }, FIRST);
  document.body.dataset.asking = "yes";
  try {
    await ready;
    const found = await ask(what, ...given);
    if (found) say(found.stopped ? "" : `answered in ${Math.round(performance.now() - began)} ms`);
    return found;
  } finally {
    clearInterval(seconds);
    clearTimeout(late);
    at("seconds").textContent = "";
    at("stop").hidden = true;
    delete document.body.dataset.asking;
  }
}

function stop() {
  const found = { stopped: true, error: "Stopped. Python starts again." };
  restart();
  waiting?.(found);
}

function showPart(found) {
  at("picture").innerHTML = found.picture || "too large to draw";
  at("words").textContent = found.words.map((each, n) => `BD ${found.number ?? n}: ${each.join(" ")}`).join("\n");
  at("walk").textContent = found.walk;
}

async function choosePart() {
  const found = await timed("part", at("parts").selectedIndex);
  if (!found) return;
  at("error").textContent = found.error ?? "";
  at("part").hidden = "error" in found;
  if ("error" in found) return;
  at("text").textContent = found.text;
  showPart(found);
}

async function show(found) {
  at("error").textContent = found.error ?? "";
  at("answer").hidden = "error" in found;
  at("names").hidden = !found.error?.includes("The list is below");
  if ("error" in found) return;
  const design = found.kind === "design";
  for (const name of ["design", "chosen"]) at(name).hidden = !design;
  at("part").hidden = design && !found.parts.length;
  if (!design) {
    at("text").textContent = found.text;
    showPart(found);
    return;
  }
  at("array").innerHTML = found.array;
  at("summary").textContent = found.text;
  at("printed").textContent = found.printed ?? "";
  at("prints").hidden = !found.printed;
  at("chosen").hidden = !found.parts.length;
  at("parts").replaceChildren(...found.parts.map((each) => new Option(each)));
  if (found.parts.length) await choosePart();
}

async function go() {
  const found = await timed("answer", at("given").value, at("tile").value, at("arguments").value);
  if (found) await show(found);
}

async function showNames() {
  if (!at("names").open || at("listed").textContent) return;
  at("listed").textContent = "loading";
  const found = await timed("names");
  at("listed").textContent = found?.names ?? "";
}

async function begin() {
  start();
  const examples = await (await fetch("examples.json")).json();
  for (const each of examples) at("examples").add(new Option(each.name));
  const choose = () => {
    const example = examples[at("examples").selectedIndex];
    at("given").value = example.text;
    at("arguments").value = example.arguments ?? "";
  };
  choose();
  await ready;
  const run = () => go().catch((error) => { at("error").textContent = String(error.message ?? error); });
  at("examples").addEventListener("change", () => { choose(); run(); });
  at("tile").addEventListener("change", run);
  at("go").addEventListener("click", run);
  at("stop").addEventListener("click", stop);
  at("parts").addEventListener("change", choosePart);
  at("names").addEventListener("toggle", showNames);
  at("given").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
  });
  at("arguments").addEventListener("keydown", (event) => { if (event.key === "Enter") run(); });
  at("go").disabled = false;
  await run();
}

begin()
  .catch((error) => {
    say("");
    at("error").textContent = `The playground did not start: ${error.message ?? error}`;
  })
  .finally(() => { document.body.dataset.ready = "yes"; });
