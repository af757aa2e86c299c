/**
 * The deployed circuits and the location of their sources.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CircuitName, circuitNames, PoolError } from '@pool/core';

/**
 * Checks a circuit's name.
 * @throws PoolError `invalid_option`
 */
export function parseCircuitName(name: string): CircuitName {
  const known = circuitNames.find((candidate) => candidate === name);
  if (known === undefined) {
    throw new PoolError(
      'invalid_option',
      `There is no such circuit. Choose one of ${circuitNames.join(', ')}.`,
    );
  }
  return known;
}

/** Folder of the circom sources, in the repository and in the published package. */
export function sourceFolder(): string {
  return fileURLToPath(new URL('../circom/', import.meta.url));
}

/** The main file of a circuit and everything that it includes, by path from `folder`, sorted. */
function listSources(circuit: string, folder: string): string[] {
  const found = new Set<string>();
  const visit = (name: string) => {
    if (found.has(name)) {
      return;
    }
    found.add(name);
    const text = readFileSync(join(folder, name), 'utf8');
    for (const [, included = ''] of text.matchAll(/^include "([^"]+)";/gm)) {
      visit(posix.join(posix.dirname(name), included));
    }
  };
  visit(`${circuit}.circom`);
  return [...found].sort();
}

/**
 * SHA-256 over the names and contents of a circom source, such as a circuit's main file, and all that it includes, as hex. Other sources
 * do not count, so a new circuit does not change the artifacts of the others.
 * @param source name of the file without its extension
 */
export function computeSourceDigest(source: string, folder = sourceFolder()): string {
  const hash = createHash('sha256');
  for (const name of listSources(source, folder)) {
    const digest = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    hash.update(`${name}\n${digest}\n`);
  }
  return hash.digest('hex');
}
