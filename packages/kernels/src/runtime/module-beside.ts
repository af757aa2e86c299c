/**
 * Modules of Node that are looked up at run time: a bundle for browsers has no import of them.
 *
 * @module
 */

type Name =
  | 'node:fs'
  | 'node:fs/promises'
  | 'node:module'
  | 'node:os'
  | 'node:path'
  | 'node:url'
  | 'node:worker_threads';

/** @returns undefined where there is no Node */
export function findBuiltin<TName extends Name>(
  name: TName,
): ReturnType<typeof process.getBuiltinModule<TName>> | undefined {
  // A bundler may give a browser a `process` without this function.
  const { process: node } = globalThis as { readonly process?: Partial<NodeJS.Process> };
  return node?.getBuiltinModule?.(name);
}

// Worker threads are started from a file: TypeScript in the repository, JavaScript in the built package.

/** URL of the module `name` in the folder of the module at `url`, with the same extension. */
export function moduleBeside(url: string, name: string): URL {
  return new URL(`./${name}${url.endsWith('.ts') ? '.ts' : '.js'}`, url);
}
