// Shows what answers.py says; nothing is computed here.
import { loadPyodide } from "./pyodide.mjs";

const at = (id) => document.getElementById(id);
const say = (text) => { at("status").textContent = text; };

async function bytes(name) {
  const found = await fetch(name);
  if (!found.ok) throw new Error(`${name}: ${found.status} ${found.statusText}`);
  return found.arrayBuffer();
}

async function python() {
  const pyodide = await loadPyodide({ indexURL: new URL(".", import.meta.url).href, env: { MEMTILE_JIT: "0", HOME: "/tmp" } });
  say("loading NumPy");
  await pyodide.loadPackage("numpy", { messageCallback: () => {} });
  say("loading memtile");
  const packages = pyodide.runPython("import site; site.getsitepackages()[0]");
  for (const name of ["rich.whl", "memtile.zip"]) {
    pyodide.unpackArchive(await bytes(name), "zip", { extractDir: packages });
  }
  pyodide.FS.writeFile(`${packages}/answers.py`, new Uint8Array(await bytes("answers.py")));
  return pyodide.pyimport("answers").answer;
}

function show(found) {
  at("error").textContent = found.error ?? "";
  at("answer").hidden = "error" in found;
  if ("error" in found) return;
  at("picture").innerHTML = found.picture || "too large to draw";
  at("words").textContent = found.words.map((each, n) => `BD ${n}: ${each.join(" ")}`).join("\n");
  at("text").textContent = found.text;
  at("walk").textContent = found.walk;
}

async function begin() {
  const examples = JSON.parse(new TextDecoder().decode(await bytes("examples.json")));
  for (const each of examples) at("examples").add(new Option(each.name));
  const choose = () => { at("given").value = examples[at("examples").selectedIndex].text; };
  choose();
  const answer = await python();
  const go = () => {
    const began = performance.now();
    show(JSON.parse(answer(at("given").value, at("tile").value)));
    say(`answered in ${Math.round(performance.now() - began)} ms`);
  };
  at("examples").addEventListener("change", () => { choose(); go(); });
  at("tile").addEventListener("change", go);
  at("go").addEventListener("click", go);
  at("given").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) go();
  });
  at("go").disabled = false;
  go();
}

begin()
  .catch((error) => {
    say("");
    at("error").textContent = `The playground did not start: ${error.message ?? error}`;
  })
  .finally(() => { document.body.dataset.ready = "yes"; });
