// The two files that this program reads, and the one that it writes.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import {
  type EvmChainSettings,
  parseEvmAddress,
  parseHex32,
  parseWire,
  type SpendManifest,
  spendManifestSchema,
} from '@pool/core';
import type { SpendSignature } from '@pool/notes';

/** `exit.json`: where the pool is, and where the circuits' files are. */
export type ExitFile = {
  readonly chain: Pick<
    EvmChainSettings,
    'rpcUrl' | 'chainId' | 'pool' | 'deployedAtBlock' | 'finality'
  >;
  readonly token: string;
  /** Domain in the viewing-key text: that of the platform where the holder enrolled. Not needed with HOLDER_VIEWING_KEY. */
  readonly platformDomain?: string;
  readonly circuits: Readonly<Record<string, { readonly wasm: string; readonly zkey: string }>>;
};

/** The file of kept notes, `pool-notes`. */
export type NotesFile = {
  readonly format: 'pool-notes';
  readonly notes: readonly {
    readonly token: string;
    readonly leafIndex: number;
    readonly slot: number;
    readonly sealed: string;
  }[];
};

/** A withdrawal that has begun. Secret: it holds the seed, from which the change is rebuilt. */
export type Withdrawal = {
  readonly manifest: SpendManifest;
  readonly seed: string;
  readonly signature?: SpendSignature;
};

export function readExitFile(path: string): ExitFile {
  const file = JSON.parse(readFileSync(path, 'utf8')) as ExitFile;
  return { ...file, chain: { ...file.chain, pool: parseEvmAddress(file.chain.pool) } };
}

export function readNotesFile(path: string): NotesFile {
  const file = JSON.parse(readFileSync(path, 'utf8')) as NotesFile;
  if (file.format !== 'pool-notes') {
    throw new Error(`${path} is not a file of exported notes (format pool-notes)`);
  }
  return file;
}

/** Undefined: there is none yet. */
export function readWithdrawal(path: string): Withdrawal | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
  const { manifest, seed, signature } = JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'string' && /^[0-9]+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as Withdrawal;
  return {
    manifest: parseWire(spendManifestSchema, manifest, path),
    seed: parseHex32(seed),
    ...(signature === undefined ? {} : { signature }),
  };
}

/** On disk when it returns, whole or not at all. */
export function writeWithdrawal(path: string, withdrawal: Withdrawal): void {
  const text = JSON.stringify(withdrawal, (_key, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  const file = openSync(`${path}.new`, 'w', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
}
