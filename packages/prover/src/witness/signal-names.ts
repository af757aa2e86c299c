/**
 * Names of a circuit's signals, for messages. A witness program knows only their hashes. The compiler writes the names to a file
 * (`circom --sym`), which is often still beside the program.
 *
 * @module
 */

/** The inputs of the main component are at the beginning, after its outputs. */
const readBytes = 2 ** 20;

/** Writes `name.sym`, and the program to `name_js/name.wasm`. */
function placesBeside(wasmPath: string): string[] {
  const [, folder = '', name = ''] = /^(.*[\\/])?([^\\/]*?)(?:\.wasm)?$/s.exec(wasmPath) ?? [];
  return [`${folder}${name}.sym`, `${folder}../${name}.sym`];
}

/**
 * Reads at most the first megabyte of the file of symbols, without waiting. Arrays are one name: `grid` for `main.grid[0][1]`.
 * @returns names of inputs, outputs and inner signals; an empty list if there is no such file
 */
export function readSignalNames(wasmPath: string): string[] {
  // Threads import only files of this package.
  const { process } = globalThis as { readonly process?: NodeJS.Process };
  const files = process?.getBuiltinModule('node:fs');
  for (const path of placesBeside(wasmPath)) {
    if (files === undefined) break;
    try {
      const file = files.openSync(path, 'r');
      try {
        const bytes = new Uint8Array(readBytes);
        const text = new TextDecoder().decode(bytes.subarray(0, files.readSync(file, bytes)));
        const names = text.matchAll(/^[^\n]*,main\.([^,\n]+?)(?:\[\d+\])*$/gm);
        return [...new Set(Array.from(names, ([, name = '']) => name))];
      } finally {
        files.closeSync(file);
      }
    } catch {
      // Without the file, the message has no names.
    }
  }
  return [];
}
