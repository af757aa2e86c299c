/**
 * The deployed circuits and the location of their sources.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PoolError } from '@pool/core';
import { type CircuitName, circuitNames } from './circuit-names.ts';

export { type CircuitName, circuitNames, circuitSizes } from './circuit-names.ts';

/**
 * Checks a circuit's name.
 * @throws PoolError `unknown_circuit`
 */
export function parseCircuitName(name: string): CircuitName {
  const known = circuitNames.find((candidate) => candidate === name);
  if (known === undefined) {
    throw new PoolError(
      'unknown_circuit',
      `There is no such circuit. Choose one of ${circuitNames.join(', ')}.`,
    );
  }
  return known;
}

/** Folder of the circom sources, in the repository and in the published package. */
export function sourceFolder(): string {
  return fileURLToPath(new URL('../circom/', import.meta.url));
}

function listSources(folder: string, prefix = ''): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) =>
      entry.isDirectory()
        ? listSources(join(folder, entry.name), `${prefix}${entry.name}/`)
        : [`${prefix}${entry.name}`],
    )
    .filter((name) => name.endsWith('.circom'))
    .sort();
}

/**
 * SHA-256 over the names and contents of the circom sources that a circuit may include, as hex. It excludes the main files of the
 * other circuits, so that a new size does not change the artifacts of the others.
 */
export function computeSourceDigest(circuit: CircuitName, folder = sourceFolder()): string {
  const others = circuitNames.filter((name) => name !== circuit).map((name) => `${name}.circom`);
  const hash = createHash('sha256');
  for (const name of listSources(folder).filter((source) => !others.includes(source))) {
    const digest = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    hash.update(`${name}\n${digest}\n`);
  }
  return hash.digest('hex');
}
