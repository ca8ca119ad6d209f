// Python, apart from the page, so that it can be ended while a program runs. Nothing is computed here.
import { loadPyodide } from "./pyodide.mjs";

const say = (text) => postMessage({ say: text });
const later = () => new Promise((done) => { setTimeout(done, 0); }); // questions come first
let answers, loading = 0;

async function bytes(name) {
  const found = await fetch(name);
  if (!found.ok) throw new Error(`${name}: ${found.status} ${found.statusText}`);
  return found.arrayBuffer();
}

async function python() {
  say("loading Python, some 16 MB");
  const pyodide = await loadPyodide({ indexURL: new URL(".", import.meta.url).href, env: { MEMTILE_JIT: "0", HOME: "/tmp" } });
  say("loading NumPy");
  await pyodide.loadPackage("numpy", { messageCallback: () => {} });
  say("loading memtile");
  const packages = pyodide.runPython("import site; site.getsitepackages()[0]");
  for (const name of ["rich.whl", "memtile.zip"]) {
    pyodide.unpackArchive(await bytes(name), "zip", { extractDir: packages });
  }
  for (const name of ["absent.py", "pastes.py", "answers.py", "designs.py"]) {
    pyodide.FS.writeFile(`${packages}/${name}`, new Uint8Array(await bytes(name)));
  }
  pyodide.pyimport("absent").install();
  answers = pyodide.pyimport("answers");
  return pyodide;
}

// What designs need, module by module: all before the first design, or one by one while nothing is asked.
function load(pyodide) {
  pyodide.pyimport(answers.DESIGNS.get(loading));
  loading += 1;
}

async function loadAhead() {
  const pyodide = await loaded;
  while (loading < answers.DESIGNS.length) {
    load(pyodide);
    await later();
  }
}

const asks = {
  answer(pyodide, text, tile, line) {
    if (answers.is_design(text)) {
      if (loading < answers.DESIGNS.length) say("loading what designs need, once");
      while (loading < answers.DESIGNS.length) load(pyodide);
      say("building the design");
    }
    return JSON.parse(answers.answer(text, tile, line));
  },
  part: (_, number) => JSON.parse(answers.part(number)),
  names: () => ({ names: answers.names() }),
};

const loaded = python();
loaded.then(() => postMessage({ ready: true }), (error) => postMessage({ failed: String(error.message ?? error) }));

onmessage = async ({ data: { id, what, given } }) => {
  if (what === "ahead") {
    loadAhead();
    return;
  }
  const pyodide = await loaded;
  try {
    postMessage({ id, found: asks[what](pyodide, ...given) });
  } catch (error) {
    // no refusal of memtile: whatever has happened, the next answer comes from a Python that it did not happen to
    const last = String(error.message ?? error).trim().split("\n").pop();
    postMessage({ id, found: { error: `${last}\nPython starts again.` }, ended: true });
  }
};
