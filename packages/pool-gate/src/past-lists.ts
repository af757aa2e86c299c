/**
 * The lists that the gate serves paths of (docs/decisions/0005): the one under the last final root, and those under roots
 * that were replaced a short time ago. A proof under way keeps the root that it began with, and a spend proves with the root
 * that a final block had, whatever was published since.
 *
 * In memory: the leaves of past lists are in the rows of the publications, so the lists are made again at each start.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import {
  type EligibilityPathWire,
  type Field,
  fieldToHex,
  type Hex32,
  PoolError,
  parseField,
  zeroField,
} from '@pool/core';
import { askChain } from '@pool/evm-sender';
import type { Log } from '@pool/http-server';
import type { EligibilitySnapshot, EligibilityTree, HashMany } from '@pool/notes';
import type { RegistryChain } from './registry-chain.ts';

/** What a publication did to one wallet. */
export type Change = {
  readonly walletId: string;
  readonly leafIndex: number;
  readonly wanted: boolean;
};

/** A list of wallets under one root. */
export type PublishedList = {
  readonly root: Hex32;
  has(walletId: Field): boolean;
  /** @throws PoolError `unregistered-recipient` if the wallet is not on the list */
  path(walletId: Field): EligibilityPathWire;
};

/** A final publication, as its row has it. */
export type FinalPublication = {
  readonly root: string;
  readonly changes: readonly Change[];
  readonly finalAtMs: number;
};

export type PastLists = Awaited<ReturnType<typeof createPastLists>>;

/** Bounds the memory on a chain that finalises within seconds. At one publication per 12 seconds these are 50 minutes. */
const maxPastLists = 250;

type PastList = {
  readonly snapshot: EligibilitySnapshot;
  /** What the publication did that replaced it. */
  readonly changed: ReadonlyMap<Field, Change>;
  readonly replacedAtMs: number;
};

/**
 * @param tree - the list under the last final root. Only `replace` changes it from now on
 * @param publications - the final ones, the newest first
 * @param maxAgeMs - how long after its replacement a list is served
 */
export async function createPastLists(
  tree: EligibilityTree,
  publications: readonly FinalPublication[],
  options: { maxAgeMs: number; nowMs: () => number; log: Log; hashMany: HashMany },
) {
  const { maxAgeMs, nowMs, log, hashMany } = options;
  /** The oldest first. */
  let past = await restore(tree, publications, log, hashMany);

  function forgetOld(): void {
    const oldest = nowMs() - maxAgeMs;
    past = past.filter(({ replacedAtMs }) => replacedAtMs > oldest).slice(-maxPastLists);
  }

  /** Where a wallet was on a past list: what later publications did to it says so, otherwise it is where it was. */
  function placeAt(age: number, walletId: Field): number | undefined {
    const change = past
      .slice(age)
      .find(({ changed }) => changed.has(walletId))
      ?.changed.get(walletId);
    if (change === undefined) {
      return tree.indexOf(walletId);
    }
    return change.wanted ? undefined : change.leafIndex;
  }

  return {
    /** Keeps the list under the root that is replaced now, and applies the changes to the tree. */
    replace(changes: readonly Change[]): void {
      const snapshot = tree.snapshot();
      applyChanges(tree, changes);
      if (tree.root !== snapshot.root) {
        past.push({ snapshot, changed: mapChanges(changes), replacedAtMs: nowMs() });
      }
      forgetOld();
    },
    /** Undefined: there is no list of that root, or it was replaced too long ago. */
    find(root: Field): PublishedList | undefined {
      forgetOld();
      if (root === tree.root) {
        return { root: fieldToHex(root), has: tree.has, path: tree.path };
      }
      const age = past.findLastIndex(({ snapshot }) => snapshot.root === root);
      const found = past[age];
      if (found === undefined) {
        return undefined;
      }
      const { snapshot } = found;
      return {
        root: fieldToHex(root),
        has: (walletId) => placeAt(age, walletId) !== undefined,
        path: (walletId) => {
          const place = placeAt(age, walletId);
          if (place === undefined) {
            throw new PoolError('unregistered-recipient', 'this wallet was not on the list');
          }
          return snapshot.pathAt(place);
        },
      };
    },
  };
}

/** Undoes the publications one by one on the tree itself, and brings it back to where it was. Each in a turn of the event loop. */
async function restore(
  tree: EligibilityTree,
  publications: readonly FinalPublication[],
  log: Log,
  hashMany: HashMany,
): Promise<PastList[]> {
  const past: PastList[] = [];
  const undone: (readonly Change[])[] = [];
  await tree.hashAll(hashMany);
  for (const { root, changes, finalAtMs } of publications.slice(0, maxPastLists)) {
    if (fieldToHex(tree.root) !== root) {
      // A store that was repaired by hand, or restored in part. What is left are lists that are certainly right.
      log.warn(
        { root },
        'the stored publications do not lead to this root: older lists are not served',
      );
      break;
    }
    applyChanges(
      tree,
      changes.map((change) => ({ ...change, wanted: !change.wanted })),
    );
    undone.unshift(changes);
    await setImmediate();
    await tree.hashAll(hashMany);
    past.unshift({
      snapshot: tree.snapshot(),
      changed: mapChanges(changes),
      replacedAtMs: finalAtMs,
    });
  }
  for (const changes of undone) {
    applyChanges(tree, changes);
  }
  await tree.hashAll(hashMany);
  return past;
}

/** Writes the changes of one publication. Each of them concerns another wallet and another position. */
export function applyChanges(tree: EligibilityTree, changes: readonly Change[]): void {
  for (const { walletId, leafIndex, wanted } of changes) {
    tree.set(leafIndex, wanted ? parseField(walletId) : zeroField);
  }
}

function mapChanges(changes: readonly Change[]): Map<Field, Change> {
  return new Map(changes.map((change) => [parseField(change.walletId), change]));
}

/** A proof under a root that the registry no longer accepts costs its holder time and reverts. @throws PoolError `invalid_configuration` */
export async function assertAccepted(
  chain: Pick<RegistryChain, 'fetchGraceSeconds'>,
  pastRootSeconds: number,
): Promise<void> {
  const graceSeconds = await askChain(() => chain.fetchGraceSeconds());
  if (graceSeconds < pastRootSeconds) {
    throw new PoolError(
      'invalid_configuration',
      `configuration: GATE_PAST_ROOT_SECONDS is ${pastRootSeconds}, and the registry of this chain accepts a replaced root for ${graceSeconds} seconds only; set it to ${graceSeconds} or less`,
    );
  }
}
