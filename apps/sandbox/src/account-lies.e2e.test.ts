// A dishonest platform and a dishonest gate, played by proxies between a holder's real agent and the real services: nobody gets
// richer, no balance is wrong for longer than the lie, and only the chain says what became of a spend.
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { NotesResponse, RecipientRecord } from '@pool/api';
import { createPoolReader } from '@pool/contracts';
import {
  computeAssetId,
  createSignInMessage,
  type EncryptionPublicKey,
  type EvmAddress,
  fieldToHex,
  parseEvmAddress,
  parseField,
  parseHex,
  parseHex32,
  Secret,
} from '@pool/core';
import { createEvmProvider } from '@pool/evm-sender';
import { sealNote } from '@pool/notes';
import { createEdgeClient } from '@pool/platform-client';
import { type Json, type Lie, type LyingProxy, startLyingProxy } from '@pool/testkit';
import { JsonRpcProvider, Wallet } from 'ethers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chainId } from './chain/local-chain.ts';
import { openSession } from './chain/people.ts';
import { readReceivedNotes } from './demo/received-notes.ts';
import { createHolderAccount, type HolderAccount } from './fixtures/holder-account.ts';
import { type HolderAgent, startHolderAgent } from './fixtures/holder-agent.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { ensureProvingKey } from './processes/artifacts.ts';
import { createProgress } from './processes/progress.ts';

type ServedNote = NotesResponse['notes'][number];

const notesPath = /\/agent-edge\/notes\?/;
const lookupPath = /\/agent-edge\/recipients\/lookup$/;
const spendsPath = /\/agent-edge\/spends/;
const invented = `0x${'ab'.repeat(32)}`;

describe('a holder’s agent behind a dishonest platform and a dishonest gate', () => {
  let stack: TestStack;
  let proxy: LyingProxy;
  let gate: LyingProxy;
  let agent: HolderAgent;
  let account: HolderAccount;
  /** What the platform serves to the payee, another holder. */
  let foreign: readonly ServedNote[];

  beforeAll(async () => {
    const progress = createProgress({ stream: process.stdout, plainLines: false });
    await ensureProvingKey('spend-2x4', progress);
    stack = await startTestStack({ holderCount: 3 });
    proxy = await startLyingProxy(stack.platformUrl);
    gate = await startLyingProxy(stack.gateUrl);
    const { clientId, clientSecret } = stack.gateClients.reader;
    const env = {
      DISBURSE_POOL_GATE_URL: gate.url,
      POOL_GATE_OAUTH_TOKEN_URL: `${gate.url}/oauth/token`,
      POOL_GATE_OAUTH_CLIENT_ID: clientId,
      POOL_GATE_OAUTH_CLIENT_SECRET: clientSecret,
      POOL_GATE_OAUTH_SCOPE: 'gate.read',
    };
    agent = await startHolderAgent(stack, stack.holders[0]!, 'deceived', env, {
      platformUrl: proxy.url,
    });
    account = createHolderAccount(agent.url, agent.keys);
    await pay('first', { 0: 1_000_000n, 1: 700n });
    await pay('second', { 0: 30_000n, 1: 900n });
    const session = await openSession(new Secret(stack.holders[1]!.privateKey), stack);
    const { apiKey: token } = await session.mintKey('holder.read', 'test');
    const edge = createEdgeClient({ url: `${stack.platformUrl}/agent-edge`, token });
    foreign = (await edge.getNotes({ chain: stack.chain, token: 'USDC' })).notes;
  });
  afterEach(() => {
    // A lie that reached no client proves nothing.
    expect([...proxy.applied, ...gate.applied].every((count) => count > 0)).toBe(true);
    proxy.setLies([]);
    gate.setLies([]);
  });
  afterAll(async () => {
    await Promise.all([proxy.stop(), gate.stop()]);
    await stack.end();
  });

  async function pay(key: string, amounts: Readonly<Record<number, bigint>>): Promise<void> {
    await stack.client.disburse(key, stack.createRequest(amounts));
    expect(await stack.client.waitForJob(key)).toMatchObject({ result: { status: 'completed' } });
  }

  /** Deletes cache and archive, so the agent has nothing of its notes but what chain and platform serve from now on. */
  async function forgetNotes(): Promise<void> {
    await agent.process.stop();
    const files = readdirSync(agent.home).filter((name) => name.startsWith('holder-notes-'));
    for (const name of files) {
      rmSync(join(agent.home, name));
    }
    const { readKey, keys } = agent;
    agent = { ...(await agent.restart()), readKey, keys };
    account = createHolderAccount(agent.url, keys);
  }

  async function readTotal(): Promise<bigint> {
    const { status, body } = await account.balance();
    expect({ status, code: body['code'], detail: body['detail'] }).toMatchObject({ status: 200 });
    return BigInt(String(body['total']));
  }

  async function countSpends(): Promise<number> {
    const provider = createEvmProvider({ rpcUrl: stack.rpcUrl, chainId });
    try {
      const { pool } = stack.place.contracts;
      const finality = { kind: 'depth', blocks: 1 } as const;
      const reader = createPoolReader(provider, { pool: parseEvmAddress(pool), finality });
      return (await reader.fetchSpends(0, await provider.getBlockNumber())).length;
    } finally {
      provider.destroy();
    }
  }

  const aboutNotes = (change: (notes: readonly ServedNote[]) => readonly ServedNote[]): Lie => ({
    path: notesPath,
    method: 'GET',
    response: (body) => ({ ...body, notes: change(body['notes'] as ServedNote[]) }),
  });
  const changeFirst = (change: (note: ServedNote) => Partial<ServedNote>) =>
    aboutNotes(([first, ...others]) =>
      first === undefined ? [] : [{ ...first, ...change(first) }, ...others],
    );

  /** A note that opens with the holder's key and says more than the holder was paid. */
  function forge(commitment: string): string {
    const { pool } = stack.place.contracts;
    const token = stack.place.tokens['USDC']?.address;
    return sealNote({
      amount: 9_000_000_000n,
      nonce: parseField(fieldToHex(parseField(`0x${'0'.repeat(63)}7`))),
      encryptionPublicKey: stack.holders[0]!.encryptionPublicKey,
      commitment: parseField(commitment),
      assetId: computeAssetId(chainId, parseEvmAddress(pool), parseEvmAddress(token)),
      ephemeral: 12_345n,
    });
  }

  describe('about notes', () => {
    const total = (expected: string) => ({ status: 200, body: { total: expected } });
    const refused = { status: 503, body: { code: 'platform_invalid_response' } };

    // The first note is of 1,000,000, the second of 30,000.
    it.each<[string, object, () => Lie]>([
      [
        'a wrong commitment',
        total('30000'),
        () => changeFirst(() => ({ commitment: foreign[0]!.commitment })),
      ],
      [
        'another holder’s note in the place of its own',
        total('0'),
        () => aboutNotes(() => [...foreign]),
      ],
      [
        'another holder’s ciphertext under its commitment',
        total('30000'),
        () => changeFirst(() => ({ sealed: foreign[0]!.sealed })),
      ],
      ['a hidden note', total('30000'), () => aboutNotes((notes) => notes.slice(1))],
      ['all notes hidden', total('0'), () => aboutNotes(() => [])],
      ['a note twice', refused, () => aboutNotes((notes) => notes.flatMap((note) => [note, note]))],
      [
        'a note again at another place',
        total('1030000'),
        () =>
          aboutNotes((notes) =>
            notes.flatMap((note) => [note, { ...note, slot: note.slot + 1_000 }]),
          ),
      ],
      [
        'a larger amount, sealed to the holder under the commitment of the chain',
        total('30000'),
        () => changeFirst(({ commitment }) => ({ sealed: parseHex(forge(commitment)) })),
      ],
      [
        'a note of a batch that is on no chain',
        total('1030000'),
        () =>
          aboutNotes((notes) => [
            ...notes,
            {
              ...notes[0]!,
              batchIndex: 1_000,
              commitment: parseHex32(invented.replace('0xab', '0x0b')),
              sealed: parseHex(forge(invented.replace('0xab', '0x0b'))),
            },
          ]),
      ],
    ])('%s adds nothing, and is forgotten with the lie', async (_, expected, createLie) => {
      proxy.setLies([createLie()]);
      await forgetNotes();
      expect(await account.balance()).toMatchObject(expected);
      expect(proxy.applied).toEqual([expect.any(Number)]);
      expect(proxy.applied[0]).toBeGreaterThan(0);
      proxy.setLies([]);
      expect(await account.balance()).toMatchObject({
        status: 200,
        body: { total: '1030000', notes: 2, largestNote: '1000000' },
      });
    });
  });

  describe('about the keys of a payee', () => {
    const aboutPayee = (change: (record: RecipientRecord) => Partial<RecipientRecord>): Lie => ({
      path: lookupPath,
      response: (body) => ({
        recipients: (body['recipients'] as RecipientRecord[]).map((record) => ({
          ...record,
          ...change(record),
        })),
      }),
    });

    /** Evidence that names another key than the platform has. */
    async function signEvidence(
      signer: string,
      encryptionPublicKey: EncryptionPublicKey,
      address: EvmAddress,
    ) {
      const issuedAtMs = Date.now();
      const message = createSignInMessage({
        ...stack.chains.evidence,
        address,
        chainId: stack.chainId,
        nonce: 'abcdefgh12345678',
        issuedAtMs,
        expirationTimeMs: issuedAtMs + 60_000,
        encryptionPublicKey,
      });
      const signature = parseHex(await new Wallet(signer).signMessage(message));
      return { message, signature };
    }

    it.each<[string, () => Promise<Partial<RecipientRecord>>]>([
      ['another W', async () => ({ walletPub: stack.holders[2]!.walletPub })],
      ['another P', async () => ({ encryptionPublicKey: stack.holders[2]!.encryptionPublicKey })],
      [
        'another P under a signature of the thief',
        async () => {
          const [, victim, thief] = stack.holders;
          const { encryptionPublicKey, privateKey } = thief!;
          const evidence = await signEvidence(privateKey, encryptionPublicKey, victim!.address);
          return { encryptionPublicKey, evidence };
        },
      ],
      [
        'the thief’s whole record, with good evidence, in the payee’s place',
        async () => {
          const { encryptionPublicKey, privateKey, address, walletPub } = stack.holders[2]!;
          const evidence = await signEvidence(privateKey, encryptionPublicKey, address);
          return { walletPub, encryptionPublicKey, evidence };
        },
      ],
    ])('%s is refused before anything is proved', async (_, createChange) => {
      const change = await createChange();
      proxy.setLies([aboutPayee(() => change)]);
      const { walletPub } = stack.holders[1]!;
      expect(await account.transfer(randomUUID(), [{ walletPub, amount: '5' }])).toMatchObject({
        status: 400,
        body: { code: 'unregistered-recipient' },
      });
      expect(await countSpends()).toBe(0);
    });
  });

  it('takes no root, path or outcome from the services: a transfer ends as the chain says', async () => {
    const { walletPub } = stack.holders[1]!;
    // The platform keeps the spend to itself, and says that it settled.
    proxy.setLies([
      {
        path: spendsPath,
        method: 'POST',
        request: withhold,
        response: describeSettled,
        status: 200,
      },
      { path: spendsPath, method: 'GET', response: describeSettled, status: 200 },
    ]);
    // The gate serves its paths under a root of its own, then with changed nodes.
    gate.setLies([{ path: /\/v1\/paths$/, response: (body) => ({ ...body, root: ownRoot }) }]);
    let isAnswered = false;
    const call = account.transfer('rent', [{ walletPub, amount: '400000' }]).finally(() => {
      isAnswered = true;
    });
    await expect.poll(() => gate.applied[0]).toBeGreaterThan(0);
    gate.setLies([{ path: /\/v1\/paths$/, response: changeNodes }]);
    await expect.poll(() => gate.applied[0]).toBeGreaterThan(0);
    expect(await countSpends()).toBe(0);
    gate.setLies([]);

    await expect.poll(() => proxy.applied[1]).toBeGreaterThan(3);
    expect([isAnswered, await countSpends()]).toEqual([false, 0]);
    expect(await readTotal()).toBe(1_030_000n);

    // From now on it relays, and says that the spend reverted in another transaction.
    const [batch] = await readReceivedNotes(stack.place, stack.holders[0]!, 'USDC');
    proxy.setLies([
      {
        path: spendsPath,
        method: 'GET',
        response: (body, status) =>
          status === 404
            ? body
            : {
                ...body,
                state: 'reverted',
                txHash: batch?.txHash,
                error: { code: 'nullifier-used', message: 'spent' },
              },
      },
    ]);
    const answer = await call;
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'success', changeAmount: '600000' },
    });
    const txHash = String(answer.body['txHash']);
    expect([invented, batch?.txHash]).not.toContain(txHash);
    expect(await countSpends()).toBe(1);
    const received = await readReceivedNotes(stack.place, stack.holders[1]!, 'USDC');
    expect(received.filter((note) => note.txHash === txHash).map(({ amount }) => amount)).toEqual([
      400_000n,
    ]);
    expect(await readTotal()).toBe(630_000n);
  });

  it('has its change although the platform hides it', async () => {
    proxy.setLies([aboutNotes((notes) => notes.filter((note) => note.batchIndex < 2))]);
    await forgetNotes();
    const whole = { status: 200, body: { total: '630000', notes: 2 } };
    expect(await account.balance()).toMatchObject(whole);
    expect(proxy.applied[0]).toBeGreaterThan(0);
    proxy.setLies([]);
    expect(await account.balance()).toMatchObject(whole);
  });

  it('does not call a spend reverted that was never sent: it expires, and its notes are free', async () => {
    proxy.setLies([
      {
        path: spendsPath,
        method: 'POST',
        request: withhold,
        response: () => ({ ...describeSettled(), state: 'reverted' }),
        status: 200,
      },
      {
        path: spendsPath,
        method: 'GET',
        response: () => ({ ...describeSettled(), state: 'reverted' }),
        status: 200,
      },
    ]);
    const call = account.send('cash', '600000');
    await expect.poll(() => proxy.applied[1]).toBeGreaterThan(0);
    const provider = new JsonRpcProvider(stack.rpcUrl);
    await provider.send('evm_increaseTime', [3_600]);
    provider.destroy();
    expect(await call).toMatchObject({ status: 504, body: { code: 'settlement_expired' } });
    expect(await countSpends()).toBe(1);
    expect(await readTotal()).toBe(630_000n);
  });

  let outRoot = invented;
  /** The platform does not get the spend. */
  function withhold(body: Json): Json {
    outRoot = String((body['spend'] as Json)['outRoot']);
    return { ...body, chain: 'withheld' };
  }

  /** A row that says what never happened. */
  function describeSettled(): Json {
    return {
      key: 'invented',
      state: 'settled',
      chain: stack.chain,
      outRoot,
      deadline: Math.floor(Date.now() / 1_000) + 900,
      txHash: invented,
      blockNumber: 1,
    };
  }
});

const ownRoot = `0x${'07'.repeat(32)}`;

/** Another value in each node of each path. */
function changeNodes(body: Json): Json {
  const text = JSON.stringify(body['paths']).replaceAll(
    /"0x0([0-9a-f])([0-9a-f]{62})"/g,
    (_, digit: string, rest: string) => `"0x0${digit === '1' ? '2' : '1'}${rest}"`,
  );
  return { ...body, paths: JSON.parse(text) as unknown };
}
