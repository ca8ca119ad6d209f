// Python, apart from the page: it can be ended while a program runs. Nothing is computed here.
import { loadPyodide } from "./pyodide.mjs";

const say = (text) => postMessage({ say: text });
let answers;

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
  for (const name of ["absent.py", "answers.py", "designs.py"]) {
    pyodide.FS.writeFile(`${packages}/${name}`, new Uint8Array(await bytes(name)));
  }
  pyodide.pyimport("absent").install();
  answers = pyodide.pyimport("answers");
  return pyodide;
}

const loaded = python();
loaded.then(() => postMessage({ ready: true }), (error) => postMessage({ failed: String(error.message ?? error) }));

let designs = false;
const asks = {
  answer(pyodide, text, tile, line) {
    if (!designs && answers.is_design(text)) {
      say("loading memtile's IRON, once");
      pyodide.pyimport("designs");
      designs = true;
      say("building the design");
    }
    return JSON.parse(answers.answer(text, tile, line));
  },
  part: (_, number) => JSON.parse(answers.part(number)),
  names: () => ({ names: answers.names() }),
};

onmessage = async ({ data: { id, what, given } }) => {
  const pyodide = await loaded;
  try {
    postMessage({ id, found: asks[what](pyodide, ...given) });
  } catch (error) {
    const last = String(error.message ?? error).trim().split("\n").pop();
    // Python is not to be used again after an error of its own
    postMessage({ id, found: { error: last }, ended: error.name !== "PythonError" });
  }
};
