// A holder with 100,000 notes in a pool of 1,000,000: the balance with an empty cache, after a restart, and in a running agent. Chain and
// platform answer from memory, so downloads are apart. Everything derives from the seed below. The sample repeats a thousand different
// notes, which does not change the work; of the notes that are equal, one counts.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  assertField,
  bigintToHex32,
  type Field,
  fieldToHex,
  parseEvmAddress,
  parseWalletPub,
  reduceToField,
} from '@pool/core';
import { computeEncryptionPublicKey, createLeanImt, createNoteScanner } from '@pool/notes';
import { openNoteArchive } from '../../packages/wallet/src/node/cache/note-archive.ts';
import { deriveNoteCacheKey } from '../../packages/wallet/src/node/cache/note-cache-file.ts';
import { openNoteStore } from '../../packages/wallet/src/node/cache/note-store.ts';
import { createHolderSync } from '../../packages/wallet/src/sync/holder-sync.ts';
import type { BenchFile, OneRun } from './rates.ts';
import { createScanNotes, holder } from './scan-sample.ts';

const seed = 'pool/bench/sync/1';
const poolNotes = 1_000_000;
const ownNotes = 100_000;
const pageSize = 200;

const assetId = assertField(99n);

function deriveField(label: string): Field {
  return reduceToField(createHash('sha256').update(`${seed} ${label}`).digest());
}

/** @param slots - commitments per batch */
function createPool(slots: number) {
  const count = Math.ceil(poolNotes / slots);
  const sample = createScanNotes(ownNotes, 1);
  const roots = Array.from({ length: count }, (_, index) => deriveField(`root ${index}`));
  const listing = sample.map(({ sealed, commitment }, place) => ({
    sealed,
    commitment: fieldToHex(commitment),
    batchIndex: Math.floor((place * count) / ownNotes),
    slot: 0,
  }));
  let last = -1;
  let slot = 0;
  const placed = listing.map((note) => {
    slot = note.batchIndex === last ? slot + 1 : 0;
    last = note.batchIndex;
    return { ...note, slot };
  });
  const bySlot = new Map(placed.map((note) => [note.batchIndex * slots + note.slot, note]));
  const leaves = roots.map((root, leafIndex) => ({
    leafIndex,
    root,
    newRoot: root,
    commitments: Array.from({ length: slots }, (_, at) => {
      const own = bySlot.get(leafIndex * slots + at);
      return own?.commitment ?? bigintToHex32(BigInt(leafIndex * slots + at));
    }),
    nullifiers: [],
    sealedNotes: [],
    txHash: bigintToHex32(BigInt(leafIndex)),
    blockNumber: leafIndex + 1,
  }));
  const tree = createLeanImt();
  const rootsAt = new Map<number, Field>();
  /** Root with all leaves up to a block. Asked for in ascending order the first time. */
  const rootAt = (block: number): Field => {
    const known = rootsAt.get(block);
    if (known !== undefined) return known;
    tree.insertMany(roots.slice(tree.size, block));
    rootsAt.set(block, tree.root);
    return tree.root;
  };
  const hashOf = (block: number) => bigintToHex32(BigInt(block) + 2n ** 90n);
  return {
    history: {
      node: 'bench',
      fetchFinalBlock: async () => ({ number: count, hash: hashOf(count) }),
      fetchBlockHash: async (block: number) => hashOf(block),
      // Only the last leaf of a window is compared with its root.
      fetchLeaves: async (from: number, to: number) =>
        leaves
          .slice(Math.max(0, from - 1), to)
          .map((leaf) => (leaf.blockNumber === to ? { ...leaf, newRoot: rootAt(to) } : leaf)),
      fetchNoteRoot: async (block: number) => rootAt(block),
    },
    deliveries: {
      fetchPage: async (_token: string, cursor: string | undefined) => {
        const start = cursor === undefined ? 0 : Number(cursor.split('.')[0]);
        const end = start + pageSize;
        const page = { notes: placed.slice(start, end), before: start };
        return end < placed.length ? { ...page, cursor: `${end}.0` } : page;
      },
    },
  };
}

async function measure(slots: number): Promise<readonly OneRun[]> {
  const kernels = await createNoteScanner();
  const folder = mkdtempSync(join(tmpdir(), 'pool-bench-sync-'));
  const pool = createPool(slots);
  const encryptionPublicKey = computeEncryptionPublicKey(holder.viewingKey);
  const open = (name: string) => {
    const store = openNoteStore({
      path: join(folder, name),
      key: deriveNoteCacheKey(holder.viewingKey),
      identity: {
        chainId: 31337,
        pool: parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3'),
        deployedAtBlock: 1,
        walletPub: parseWalletPub(
          `0x02${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'}`,
        ),
        encryptionPublicKey,
      },
      onDiscard: (reason) => {
        throw new Error(`the cache was discarded: ${reason}`);
      },
    });
    const archive = openNoteArchive(join(folder, `${name}.archive`));
    const change = { list: async () => [], markKept: async () => undefined };
    const deps = {
      ...pool,
      ...holder,
      kernels,
      store,
      archive,
      change,
      assets: [assetId],
      deployedAtBlock: 1,
    };
    return { store, deps, sync: createHolderSync(deps) };
  };
  const runs: OneRun[] = [];
  const time = async (name: string, work: () => Promise<void>): Promise<void> => {
    const cpu = process.cpuUsage();
    const started = performance.now();
    await work();
    const seconds = (performance.now() - started) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const busy = ((user + system) / 1e6).toFixed(1);
    const detail = `${seconds.toFixed(2)} s; ${busy} s of processor time`;
    runs.push({ name: `${name}, batches of ${slots}`, detail, perSecond: 1 / seconds });
  };
  const read = async ({ sync }: ReturnType<typeof open>): Promise<void> => {
    await sync.sync({ symbol: 'USDC', assetId });
    sync.computeBalance(assetId);
  };
  try {
    // Computes the roots that the windows name, which a chain has.
    const warm = open('warm.sqlite');
    await createHolderSync({
      ...warm.deps,
      deliveries: { fetchPage: async () => ({ notes: [] }) },
    }).sync({ symbol: 'USDC', assetId });
    warm.store.close();
    const first = open('notes.sqlite');
    await time('balance with an empty cache', () => read(first));
    await time('balance in a running agent', () => read(first));
    first.store.close();
    await time('balance after a restart', async () => {
      const again = open('notes.sqlite');
      await read(again);
      again.store.close();
    });
    return runs;
  } finally {
    await kernels.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export const bench: BenchFile = {
  title: `holder with ${ownNotes.toLocaleString('en')} notes in a pool of ${poolNotes.toLocaleString('en')} (seed ${seed})`,
  add: () => undefined,
  once: async () => [...(await measure(256)), ...(await measure(16))],
};
