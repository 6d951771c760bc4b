// Pyodide's Python under node, as scripts/wasm.py starts it: node wasm_node.mjs PYODIDE ARCHIVE CODE
// PYODIDE is the folder of its files; ARCHIVE, unless it is empty, has Quetzal as the page unpacks it.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, archive, code] = process.argv.slice(2);
try {
  const { loadPyodide } = await import(pathToFileURL(resolve(folder, "pyodide.mjs")));
  const pyodide = await loadPyodide({ indexURL: resolve(folder) });
  if (archive) {
    pyodide.unpackArchive(new Uint8Array(readFileSync(archive)), "zip", { extractDir: "/" });
    pyodide.runPython("import sys; sys.path.insert(0, '/quetzal')");
  }
  pyodide.runPython(code);
} catch (error) {
  // Node would show the line of the source, which is a megabyte long.
  console.error(error.message || error);
  process.exitCode = 1;
}
