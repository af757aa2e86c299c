/**
 * The archive of spends: what each spend is, and what became of it. A spend is archived before anything of it leaves, because manifest
 * and seed are the only way to rebuild its change (protocol §3). The archive also holds the locks of the inputs. All processes of one
 * agent directory share it.
 *
 * @module
 */
import {
  type EvmAddress,
  type Hex32,
  PoolError,
  parseHex32,
  parseWire,
  type SpendManifest,
  type SpendOperationName,
  spendManifestSchema,
} from '@pool/core';
import { assertMove } from '@pool/idempotency/engine';
import { type SpendState, spendPhases } from './spend-state.ts';

/** A process that performs spends: a random name. Process ids are used again, and each container has its own. */
export type SpendOwner = string;

/** One spend. Confidential. `secrets` is secret as well, until retention erases it. */
export type ArchivedSpend = {
  readonly version: 1;
  readonly operation: SpendOperationName;
  readonly chain: string;
  readonly chainId: number;
  readonly pool: EvmAddress;
  /**
   * Root of the outputs. It names the spend here, at the platform and on chain. Two spends never share it: it depends on the seed.
   */
  readonly outRoot: Hex32;
  /** Of the notes that are spent, without dummies. */
  readonly inputNullifiers: readonly Hex32[];
  /** Unix seconds. */
  readonly deadline: number;
  /** Decimal base units. */
  readonly changeAmount: string;
  readonly createdAtMs: number;
  /** The process that began or continued it last. */
  readonly owner?: SpendOwner;
  /** A final block of that time: the spend can only be in a later one. Undefined: an earlier version archived it. */
  readonly archivedAtBlock?: number;
  /** When this archive learned what the chain decided, which can be weeks after the decision. Undefined: open, abandoned or older. */
  readonly concludedAtMs?: number;
  /** The archive of notes has the change. Absent: it does not, as far as is known. */
  readonly isChangeKept?: true;
  /** Everything that rebuilds the spend. Undefined: erased by retention. */
  readonly secrets?: { readonly manifest: SpendManifest; readonly seed: Hex32 };
  readonly state: SpendState;
};

/**
 * A last look at the other spends before one is stored, in the transaction that stores it: no other process can store one in between.
 * What it throws is passed on, and nothing is stored.
 */
export type SpendCheck = (listRecent: (sinceMs: number) => readonly ArchivedSpend[]) => void;

/**
 * A durable store. Every method is atomic, across processes too. A change is on disk when the promise resolves.
 */
export type SpendArchive = {
  /**
   * Stores a spend and so locks its inputs, unless another spend holds one of them ({@link holdsInputs} in spend-state.ts).
   * @param check - may refuse it; asked first
   * @returns false: an input is locked and nothing was stored
   */
  add(spend: ArchivedSpend, check?: SpendCheck): Promise<boolean>;
  get(outRoot: Hex32): Promise<ArchivedSpend | undefined>;
  /**
   * Replaces a spend by what `change` makes of it, in one transaction. `change` may run more than once.
   * @returns the spend as it is stored then. @throws for an unknown spend, and whatever `change` throws; then nothing is stored
   */
  change(outRoot: Hex32, change: (spend: ArchivedSpend) => ArchivedSpend): Promise<ArchivedSpend>;
  /** Spends that are not decided, oldest first. */
  listOpen(): Promise<readonly ArchivedSpend[]>;
  /** Spends that are not decided, and decided ones that were created or concluded at a time or later. Oldest first. */
  listRecent(sinceMs: number): Promise<readonly ArchivedSpend[]>;
  /** Inputs that no other spend may use. */
  listLocked(): Promise<ReadonlySet<Hex32>>;
  /** Spends with secrets and without `isChangeKept`, whatever became of them. Oldest first. */
  listUnkept(): Promise<readonly ArchivedSpend[]>;
  /** Decided spends with secrets that were created before a time, oldest first. */
  listErasable(createdBeforeMs: number, limit: number): Promise<readonly ArchivedSpend[]>;
};

/**
 * Moves a spend to another state. Undefined from `next`: it stays as it is.
 * @param facts - stored with the new state
 * @returns the stored spend. Compare its state: another process may have been faster
 */
export async function changeSpendState(
  archive: SpendArchive,
  outRoot: Hex32,
  next: (state: SpendState) => SpendState | undefined,
  facts: Pick<ArchivedSpend, 'concludedAtMs'> = {},
): Promise<ArchivedSpend> {
  return archive.change(outRoot, (spend) => {
    const state = next(spend.state);
    if (state === undefined) {
      return spend;
    }
    assertMove<SpendState['kind']>(spendPhases, spend.state.kind, state.kind);
    return { ...spend, ...facts, state };
  });
}

/** Manifest and seed of a spend that is not decided. @throws PoolError `spend_unreadable` */
export function requireSecrets(spend: ArchivedSpend): NonNullable<ArchivedSpend['secrets']> {
  if (spend.secrets === undefined) {
    throw new PoolError(
      'spend_unreadable',
      'the archive has erased the manifest of a spend that is not decided; restore the archive of spends from a backup',
    );
  }
  return spend.secrets;
}

export function serializeSpend(spend: ArchivedSpend): string {
  return JSON.stringify(spend);
}

/** @throws PoolError `spend_unreadable` for a text that {@link serializeSpend} of this version did not write */
export function deserializeSpend(text: string): ArchivedSpend {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // An error of the parser would quote the text.
    throw unreadable('it is not JSON');
  }
  if (typeof value !== 'object' || value === null || !('version' in value) || value.version !== 1) {
    throw unreadable('another version of the agent stored it');
  }
  // Written by this module into a store that only this agent writes. What decides over money is parsed again.
  const spend = value as ArchivedSpend;
  parseHex32(spend.outRoot);
  if (spend.secrets !== undefined) {
    parseWire(spendManifestSchema, spend.secrets.manifest, 'the archived manifest');
    parseHex32(spend.secrets.seed);
  }
  return spend;
}

function unreadable(problem: string): PoolError {
  return new PoolError(
    'spend_unreadable',
    `an archived spend cannot be read: ${problem}; restore the archive of spends from a backup`,
  );
}
