/**
 * The state file of a deployment: its terms, and each signed transaction before it is sent.
 *
 * @module
 */
import { existsSync, readFileSync } from 'node:fs';
import { PoolError } from '@pool/core';
import { replaceDurableFile } from '@pool/storage';
import type { DeploymentTerms } from './deployment-plan.ts';

export type DeploymentState = {
  /** All signed transactions of a contract, the newest first. They have one nonce: the chain executes one of them. */
  readonly read: (name: string) => readonly string[];
  /** Returns when the file is on disk. */
  readonly add: (name: string, rawTransaction: string) => void;
};

type StateFile = {
  readonly version: 2;
  readonly terms: DeploymentTerms;
  readonly transactions: Readonly<Record<string, readonly string[]>>;
};

/** The first nonce that an earlier run chose. @throws PoolError `invalid_deployment` */
export function readFirstNonce(path: string): number | undefined {
  return existsSync(path) ? readState(path).terms.firstNonce : undefined;
}

/**
 * Opens the state of this deployment. Nothing is written before the first transaction is signed.
 * @throws PoolError `invalid_deployment` when the file belongs to a deployment with other terms
 */
export function openState(path: string, terms: DeploymentTerms): DeploymentState {
  let file: StateFile = existsSync(path)
    ? readState(path)
    : { version: 2, terms, transactions: {} };
  for (const [name, value] of Object.entries(terms)) {
    const before = new Map<string, unknown>(Object.entries(file.terms)).get(name);
    if (before !== value) {
      throw new PoolError(
        'invalid_deployment',
        `${path} belongs to a deployment whose ${name} is ${String(before)}, not ${String(value)}. Use the same options, or another folder for another pool.`,
      );
    }
  }
  const read = (name: string): readonly string[] => file.transactions[name] ?? [];
  return {
    read,
    add(name, rawTransaction) {
      const others = read(name).filter((known) => known !== rawTransaction);
      const transactions = { ...file.transactions, [name]: [rawTransaction, ...others] };
      file = { ...file, transactions };
      replaceDurableFile(path, `${JSON.stringify(file, null, 2)}\n`);
    },
  };
}

function readState(path: string): StateFile {
  try {
    const file = JSON.parse(readFileSync(path, 'utf8')) as StateFile;
    if (file.version === 2 && typeof file.terms.firstNonce === 'number') return file;
  } catch {
    // Said below.
  }
  throw new PoolError(
    'invalid_deployment',
    `${path} is not the state of a deployment. Restore it, or use another folder.`,
  );
}
