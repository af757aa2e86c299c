/**
 * The environment of `pool-contracts`. The only file of this package that reads it.
 *
 * @module
 */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}
