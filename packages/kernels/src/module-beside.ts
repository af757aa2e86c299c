/**
 * Worker threads are started by file: TypeScript in the repository, JavaScript once the package is built.
 *
 * @module
 */

/** URL of the module `name` in the folder of the module at `url`, with the same extension. */
export function moduleBeside(url: string, name: string): URL {
  return new URL(`./${name}${url.endsWith('.ts') ? '.ts' : '.js'}`, url);
}
