// Runs Quetzal beside the page: Pyodide's Python, and play/browser.py in it. Messages are JSON texts in both directions.
// A search takes this thread until it ends; what the page asks for meanwhile waits.
importScripts("pyodide/pyodide.js");

const write = (message) => postMessage(JSON.stringify(message));
let program = null, isWorking = false;

async function start() {
  const pyodide = await loadPyodide({ indexURL: new URL("pyodide/", location.href).href });
  const reply = await fetch("quetzal.zip");
  if (!reply.ok) throw new Error(`quetzal.zip: ${reply.status} ${reply.statusText}`);
  pyodide.unpackArchive(await reply.arrayBuffer(), "zip", { extractDir: "/" });
  pyodide.runPython("import sys; sys.path.insert(0, '/quetzal')");
  program = pyodide.pyimport("play.browser").Program((text) => postMessage(text));
  write({ kind: "ready" });
}

// An error that Python does not know of, such as the end of all memory, leaves nothing that could go on.
function attempt(action) {
  try {
    return action();
  } catch (error) {
    program = null;
    write({ kind: "failed", text: `Quetzal has stopped: ${String(error.message || error).trim().split("\n").pop()}. Load the page again to go on` });
    return false;
  }
}

function work() {
  isWorking = program !== null && attempt(() => program.work());
  if (isWorking) setTimeout(work, 0);
}

const started = start().catch((error) => write({ kind: "failed", text: `Quetzal could not be loaded: ${error.message || error}` }));

onmessage = async (event) => {
  await started;
  if (program === null) return;
  attempt(() => program.ask(event.data));
  if (!isWorking) {
    isWorking = true;
    setTimeout(work, 0);
  }
};
