// Shows what answers.py says; nothing is computed here.
const at = (id) => document.getElementById(id);
const say = (text) => { at("status").textContent = text; };
const FIRST = 400; // milliseconds after which a wait can be stopped

let worker, ready, waiting, last = 0;

function start() {
  worker = new Worker("worker.js", { type: "module" });
  ready = new Promise((done, failed) => {
    const fail = (why) => {
      failed(new Error(why));
      waiting?.({ error: `Python did not start: ${why}` });
    };
    worker.onmessage = ({ data }) => {
      if ("say" in data) say(data.say);
      else if ("ready" in data) done();
      else if ("failed" in data) fail(data.failed);
      else {
        if (data.id === last) waiting?.(data.found);
        if (data.ended) restart();
      }
    };
    worker.onerror = (event) => fail(event.message ?? "this browser cannot run worker.js");
  });
  ready.catch(() => {}); // begin() reports it
}

function restart() {
  worker.terminate();
  at("answer").hidden = true; // of descriptors that the new Python does not know
  start();
}

// What Python answers; null if another question came before the answer. Shows how long it takes, and a button.
async function ask(what, ...given) {
  const began = performance.now();
  const passed = () => Math.round(performance.now() - began);
  waiting?.(null);
  const id = last += 1;
  const seconds = setInterval(() => { at("seconds").textContent = `${Math.round(passed() / 1000)} s`; }, 1000);
  const late = setTimeout(() => { at("stop").hidden = false; }, FIRST);
  document.body.dataset.asking = "yes";
  worker.postMessage({ id, what, given });
  const found = await new Promise((done) => { waiting = done; });
  clearInterval(seconds);
  clearTimeout(late);
  if (id !== last) return null;
  waiting = undefined;
  at("seconds").textContent = "";
  at("stop").hidden = true;
  delete document.body.dataset.asking;
  if (what === "answer") say(found.stopped ? "" : `answered in ${passed()} ms`);
  return found;
}

function stop() {
  restart();
  waiting?.({ stopped: true, error: "Stopped. Python starts again." });
}

function showPart(found) {
  at("picture").innerHTML = found.picture || "too large to draw";
  at("words").textContent = found.words.map((each, n) => `BD ${found.number ?? n}: ${each.join(" ")}`).join("\n");
  at("text").textContent = found.text;
  at("walk").textContent = found.walk;
}

async function choosePart() {
  const found = await ask("part", at("parts").selectedIndex);
  if (!found) return;
  at("error").textContent = found.error ?? "";
  at("part").hidden = "error" in found;
  if (!("error" in found)) showPart(found);
}

async function showDesign(found) {
  at("array").innerHTML = found.array;
  at("summary").textContent = found.text;
  at("printed").textContent = found.printed ?? "";
  at("prints").hidden = !found.printed;
  at("parts").replaceChildren(...found.parts.map((each) => new Option(each)));
  if (found.parts.length) await choosePart();
}

async function show(found) {
  at("error").textContent = found.error ?? "";
  at("names").hidden = !found.error?.includes("The list is below");
  at("answer").hidden = "error" in found;
  if ("error" in found) return;
  const design = found.kind === "design";
  at("design").hidden = !design;
  at("chosen").hidden = !design || !found.parts.length;
  at("part").hidden = design; // until one is chosen
  if (design) await showDesign(found);
  else showPart(found);
}

async function go() {
  const found = await ask("answer", at("given").value, at("tile").value, at("arguments").value);
  if (found) await show(found);
}

async function showNames() {
  if (!at("names").open || at("listed").textContent) return;
  const found = await ask("names");
  at("listed").textContent = found?.names ?? "";
}

async function begin() {
  start();
  const given = await fetch("examples.json");
  if (!given.ok) throw new Error(`examples.json: ${given.status} ${given.statusText}`);
  const examples = await given.json();
  for (const each of examples) at("examples").add(new Option(each.name));
  const choose = () => {
    const example = examples[at("examples").selectedIndex];
    at("given").value = example.text;
    at("arguments").value = example.arguments ?? "";
  };
  choose();
  await ready;
  at("examples").addEventListener("change", () => { choose(); go(); });
  at("tile").addEventListener("change", go);
  at("go").addEventListener("click", go);
  at("stop").addEventListener("click", stop);
  at("parts").addEventListener("change", choosePart);
  at("names").addEventListener("toggle", showNames);
  for (const name of ["given", "arguments"]) { // a design may be pasted: load what it needs before it comes
    at(name).addEventListener("focus", () => worker.postMessage({ what: "ahead" }));
  }
  at("given").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) go();
  });
  at("arguments").addEventListener("keydown", (event) => { if (event.key === "Enter") go(); });
  at("go").disabled = false;
  await go();
}

begin()
  .catch((error) => {
    say("");
    at("error").textContent = `The playground did not start: ${error.message ?? error}`;
  })
  .finally(() => { document.body.dataset.ready = "yes"; });
