// What an agent does with spends that settled, over its real files. The spend is that of vectors/spend.json, which an independent
// implementation made. The platform lists no note.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EvmChainSettings,
  fieldToHex,
  parseEvmAddress,
  parseField,
  parseHex32,
  parseWire,
  Secret,
  spendManifestSchema,
} from '@pool/core';
import { computeBatchRoot, createNoteScanner, type NoteScanner } from '@pool/notes';
import { createFakeClock, createFakeHolder, createFakeNotePool } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import vectors from '../../../../../vectors/spend.json' with { type: 'json' };
import type { ArchivedSpend } from '../../archive/spend-archive.ts';
import type { Holder } from '../../holder/holder.ts';
import { openNoteArchive } from '../cache/note-archive.ts';
import { createHolderNotes } from '../holder/holder-notes.ts';
import { openSpendArchive } from '../store/spend-archive.ts';
import { keepSpends } from './spend-keeping.ts';

const vector = firstVector();
const manifest = parseWire(spendManifestSchema, vector.manifest, 'the vector');
const outRoot = parseHex32(vector.operation.outRoot);
const settings: EvmChainSettings = {
  family: 'evm',
  chainId: manifest.chainId,
  rpcUrl: 'http://127.0.0.1:9',
  pool: parseEvmAddress(manifest.pool),
  registry: parseEvmAddress('0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'),
  deployedAtBlock: 5,
  finality: { kind: 'depth', blocks: 1 },
  maxRecipients: 3,
  tokens: { USDC: { address: parseEvmAddress(manifest.token), decimals: 6 } },
};
const chain = { key: manifest.chain, settings };

let scanner: NoteScanner;
beforeAll(async () => {
  scanner = await createNoteScanner({ threads: 1 });
});
afterAll(() => scanner.close());

function firstVector() {
  const [first] = vectors.spends;
  if (first === undefined) {
    throw new Error('vectors/spend.json has no spend');
  }
  return first;
}

/** An agent that archived the spend and was killed. @param changes - of the archived spend */
async function start(changes: Partial<ArchivedSpend> = {}) {
  const home = mkdtempSync(join(tmpdir(), 'pool-keeping-'));
  const clock = createFakeClock();
  const archive = openSpendArchive(join(home, 'spends.sqlite'));
  await archive.add({
    ...{ version: 1, operation: 'transfer', chain: chain.key, chainId: manifest.chainId },
    ...{ pool: settings.pool, outRoot, deadline: manifest.deadline },
    inputNullifiers: manifest.inputNullifiers,
    changeAmount: manifest.changeAmount,
    createdAtMs: clock.nowMs(),
    secrets: { manifest, seed: parseHex32(vector.seed) },
    state: { kind: 'settled', txHash: parseHex32(`0x${'77'.repeat(32)}`), blockNumber: 11 },
    ...changes,
  });
  const pool = createFakeNotePool({ asset: settings });
  const warnings: unknown[] = [];
  const errors: unknown[] = [];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (fields: unknown) => void warnings.push(fields),
    error: (fields: unknown) => void errors.push(fields),
  };
  const holder = {
    ...{ family: undefined, signer: undefined, earlier: [] },
    ...{ walletPub: manifest.walletPub, address: createFakeHolder(1).address },
    viewingKey: new Secret(BigInt(vector.changeViewingKey)),
    encryptionPublicKey: manifest.changeEncryptionPublicKey,
  } as unknown as Holder;
  const notes = createHolderNotes({
    ...{ home, log },
    openHolder: async () => holder,
    findChain: () => chain,
    createDeliveries: () => ({ fetchPage: async () => ({ notes: [] }) }),
    createHistory: () => pool.history,
    createScanner: async () => ({ ...scanner, close: async () => undefined }),
  });
  const stopping = new AbortController();
  let passes = 0;
  const keeping = keepSpends({
    ...{ archive, notes, log, retentionDays: 30, keepOpenings: async () => undefined },
    chains: new Map([[chain.key, chain]]),
    clock: {
      ...clock,
      async sleep(ms) {
        passes += 1;
        clock.advanceSeconds(ms / 1000);
        await new Promise((resolve) => setTimeout(resolve, 2));
      },
    },
    signal: stopping.signal,
  });
  onTestFinished(async () => {
    stopping.abort();
    await keeping;
    await notes.close();
    archive.close();
    rmSync(home, { recursive: true });
  });
  return {
    ...{ home, clock, archive, pool, notes, warnings, errors },
    /** A relayer lands the spend. Nobody lists its notes. */
    land(): void {
      const commitments = vector.operation.commitments.map((word) => parseField(word));
      const root = computeBatchRoot(commitments);
      pool.mine(1);
      pool.leaves.push({
        ...{ leafIndex: 0, root, newRoot: root },
        commitments: commitments.map(fieldToHex),
        nullifiers: vector.operation.nullifiers.map((word) => parseHex32(word)),
        ...{ txHash: parseHex32(`0x${'77'.repeat(32)}`), blockNumber: pool.head() },
        // This node hides them.
        sealedNotes: [],
      });
    },
    /** Waits for two more passes. */
    async pass(): Promise<void> {
      const until = passes + 2;
      await expect.poll(() => passes, { interval: 2 }).toBeGreaterThanOrEqual(until);
    },
    /** Sealed notes in the archive of notes, on disk. */
    readKept: (): readonly string[] =>
      readdirSync(home)
        .filter((name) => name.endsWith('.archive'))
        .flatMap((name) => [...openNoteArchive(join(home, name)).read(0)])
        .map(({ note }) => note.sealed),
    isErased: async (): Promise<boolean> => (await archive.get(outRoot))?.secrets === undefined,
  };
}

describe('an agent with a spend of an earlier process', () => {
  it('keeps its change on disk before anybody asks for a balance, and erases the seed only later', async () => {
    const agent = await start();
    agent.land();
    await expect.poll(agent.readKept).toEqual([vector.sealedNotes[0]?.sealed]);
    await agent.pass();
    expect((await agent.archive.get(outRoot))?.isChangeKept).toBe(true);
    expect(await agent.isErased()).toBe(false);
    const { total, notes } = await agent.notes.readBalance('USDC');
    expect([total, notes]).toEqual([BigInt(manifest.changeAmount), 1]);
    agent.clock.advanceSeconds(31 * 86_400);
    await expect.poll(agent.isErased).toBe(true);
    expect(agent.readKept()).toHaveLength(1);
  });

  it('never erases the seed while the chain does not show the change, and says so once', async () => {
    const agent = await start();
    agent.clock.advanceSeconds(400 * 86_400);
    await agent.pass();
    agent.clock.advanceSeconds(2 * 3_600);
    await agent.pass();
    expect(await agent.isErased()).toBe(false);
    expect(agent.errors).toEqual([{ outRoot, code: 'change_not_found' }]);
    agent.land();
    agent.clock.advanceSeconds(2 * 3_600);
    await expect.poll(agent.isErased).toBe(true);
    expect(agent.readKept()).toHaveLength(1);
  });

  it('never erases it while the chain is not read, whatever outcome it stored', async () => {
    const agent = await start({ state: { kind: 'expired' } });
    agent.land();
    agent.pool.failures = 1_000;
    agent.clock.advanceSeconds(400 * 86_400);
    await agent.pass();
    expect(await agent.isErased()).toBe(false);
    agent.pool.failures = 0;
    agent.clock.advanceSeconds(2 * 3_600);
    await expect.poll(agent.isErased).toBe(true);
    expect(agent.readKept()).toHaveLength(1);
  });

  it('keeps it when it settles while the agent runs', async () => {
    const agent = await start({ state: { kind: 'recovered' } });
    await agent.pass();
    agent.land();
    await agent.pass();
    expect(agent.readKept()).toEqual([]);
    const state = { kind: 'settled', txHash: outRoot, blockNumber: 11 } as const;
    await agent.archive.change(outRoot, (spend) => ({ ...spend, state }));
    await expect.poll(agent.readKept).toEqual([vector.sealedNotes[0]?.sealed]);
  });
});
