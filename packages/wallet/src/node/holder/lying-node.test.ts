// The running agent and a node that changes what is inside an event: 503 with the name of the node, and the cache heals without a restart and
// without "rescan".
import { bigintToHex32, chainFamilies, fieldToHex, parseEvmAddress, Secret } from '@pool/core';
import { createNoteScanner, type NoteScanner } from '@pool/notes';
import { createLocalKeyHolder } from '@pool/signers';
import { createFakeHolder, createFakeNotePool } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createHolderNotes } from './holder-notes.ts';

const anna = createFakeHolder(1);

const settings = {
  family: 'evm',
  chainId: 31337,
  rpcUrl: 'http://127.0.0.1:9',
  pool: parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3'),
  registry: parseEvmAddress('0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'),
  deployedAtBlock: 5,
  finality: { kind: 'depth', blocks: 1 },
  maxRecipients: 3,
  tokens: {
    USDC: { address: parseEvmAddress('0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'), decimals: 6 },
  },
} as const;

let scanner: NoteScanner;
beforeAll(async () => {
  scanner = await createNoteScanner({ threads: 1 });
});
afterAll(() => scanner.close());

function start() {
  const pool = createFakeNotePool({ asset: settings });
  const note = (): void => undefined;
  const notes = createHolderNotes({
    home: undefined,
    log: { debug: note, info: note, error: note, warn: note },
    openHolder: async () => ({
      signer: createLocalKeyHolder({ privateKey: new Secret(anna.wallet.privateKey) }),
      family: chainFamilies.evm,
      walletPub: anna.walletPub,
      address: anna.address,
      viewingKey: new Secret(anna.viewingKey),
      encryptionPublicKey: anna.encryptionPublicKey,
      earlier: [],
    }),
    findChain: () => ({ key: 'anvil', settings }),
    createDeliveries: () => pool.deliveries,
    createHistory: () => pool.history,
    createScanner: async () => ({ ...scanner, close: async () => undefined }),
  });
  onTestFinished(() => notes.close());
  return { pool, notes };
}

/** A slot of leaf 0 that the node replaces while it lies. */
function lie(pool: ReturnType<typeof start>['pool'], slot: number): () => void {
  const honest = pool.tamper;
  pool.tamper = (found) =>
    found.map((leaf) => ({
      ...leaf,
      commitments: leaf.commitments.with(slot, bigintToHex32(4_711n)),
    }));
  return () => {
    pool.tamper = honest;
  };
}

const refused = {
  code: 'note_history_incomplete',
  status: 503,
  message: expect.stringContaining('the node rpc.example'),
};

describe('a running agent', () => {
  it('names the node in place of a balance of 0, and answers the balance once the node is honest', async () => {
    const { pool, notes } = start();
    pool.fund([{ holder: anna, amount: 333_000n }]);
    const stop = lie(pool, 0);
    await expect(notes.readBalance('USDC')).rejects.toMatchObject(refused);
    await expect(notes.readBalance('USDC')).rejects.toMatchObject(refused);
    stop();
    expect(await notes.readBalance('USDC')).toMatchObject({ total: 333_000n });
  });

  it('names the node in place of invalid_value, and makes the path once the node is honest', async () => {
    const { pool, notes } = start();
    pool.fund([{ holder: anna, amount: 333_000n }]);
    const stop = lie(pool, 1);
    const [note] = await notes.listSpendable('USDC');
    const commitments = note === undefined ? [] : [fieldToHex(note.commitment)];
    await expect(notes.computePaths('USDC', commitments)).rejects.toMatchObject(refused);
    stop();
    const { noteRoot } = await notes.computePaths('USDC', commitments);
    expect(noteRoot).toBe(pool.leaves[0]?.newRoot);
  });
});
