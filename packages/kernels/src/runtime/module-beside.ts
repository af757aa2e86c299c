/**
 * Worker threads are started from a file: TypeScript in the repository, JavaScript in the built package.
 *
 * @module
 */

/** URL of the module `name` in the folder of the module at `url`, with the same extension. */
export function moduleBeside(url: string, name: string): URL {
  return new URL(`./${name}${url.endsWith('.ts') ? '.ts' : '.js'}`, url);
}
