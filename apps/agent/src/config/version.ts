/**
 * The version of this package and that of Node which it needs, read from its own package.json.
 *
 * @module
 */
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

export const { version } = manifest;

/** A range, for example `>=22.18`. */
export const requiredNode = manifest.engines.node;
