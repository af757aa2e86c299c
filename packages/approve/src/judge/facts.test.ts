import { createServer } from 'node:http';
import { chainsFileSchema, PoolError, parseHex32, parseWire } from '@pool/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWorldA } from '../fixtures/custodian-a.ts';
import { createFakeChain } from '../fixtures/fake-chain.ts';
import { createRecordedLog, serveTestGate } from '../fixtures/gate-home.ts';
import { chainId, chainsJson, funder, otherAddress, pool } from '../fixtures/payroll.ts';
import { createFactSource, openPoolReader } from './facts.ts';

const chains = parseWire(chainsFileSchema, chainsJson, 'chains');
const noWord = parseHex32(`0x${'0a'.repeat(32)}`);
const nullifiers = { chainId, pool, values: [] };
const nothing = { batch: undefined, previousAttempt: undefined, nullifiers: undefined };
const spendQuestion = {
  ...nothing,
  nullifiers: { ...nullifiers, values: [`0x${'00'.repeat(31)}01`] },
  earlierSpends: [],
} as unknown as Parameters<ReturnType<typeof createFactSource>['read']>[0];

it('logs a failure of the node once, and again when its code changes', async () => {
  const chain = createFakeChain();
  const { log, lines } = createRecordedLog();
  let opened: 'wrong_chain' | 'chain_unreachable' | 'open' = 'wrong_chain';
  const facts = createFactSource(
    chains,
    async () => {
      if (opened !== 'open') {
        throw new PoolError(opened, 'the RPC serves another chain');
      }
      return chain.reader;
    },
    log,
  );
  const codes = () => lines.flatMap(({ error }) => error ?? []);
  expect(facts.problems()).toEqual([]);
  expect(await facts.read(spendQuestion, Date.now())).toMatchObject({ usedNullifiers: undefined });
  await facts.read(spendQuestion, Date.now());
  expect(codes()).toEqual(['wrong_chain']);
  expect(facts.problems()).toEqual([
    expect.stringMatching(/^the node of chain 31337 does not answer \(wrong_chain\)/),
  ]);

  opened = 'chain_unreachable';
  await facts.read(spendQuestion, Date.now());
  await facts.read(spendQuestion, Date.now());
  expect(codes()).toEqual(['wrong_chain', 'chain_unreachable']);

  opened = 'open';
  expect(await facts.read(spendQuestion, Date.now())).toMatchObject({ usedNullifiers: [] });
  expect(facts.problems()).toEqual([]);
  expect(lines.at(-1)).toMatchObject({ msg: 'the node answers again' });
});

it('forgets a question that nobody asks any more when its node answers', async () => {
  const chain = createFakeChain();
  const facts = createFactSource(chains, async () => chain.reader);
  chain.isDown = true;
  await facts.read(spendQuestion, Date.now());
  await facts.probe([{ chainId, pool }], Date.now());
  expect(facts.problems()).toHaveLength(1);
  chain.isDown = false;
  await facts.probe([{ chainId, pool }], Date.now());
  expect(facts.problems()).toEqual([]);
  await facts.probe([{ chainId, pool: otherAddress }], Date.now());
  expect(facts.problems()).toEqual([expect.stringMatching(/invalid_configuration/)]);
});

it('is a problem of the gate while its node does not answer', async () => {
  const world = await createWorldA();
  onTestFinished(() => world.close());
  const served = await serveTestGate(world.home);
  onTestFinished(() => served.close());
  served.chain.isDown = true;
  await served.gate.examine();
  expect(served.gate.health().problems).toEqual([
    expect.stringMatching(/^the node of chain 31337 does not answer/),
  ]);
  expect((await fetch(`${served.url}/healthz`)).status).toBe(503);
  served.chain.isDown = false;
  await served.gate.examine();
  expect(served.gate.health().problems).toEqual([]);
});

describe('a second node', () => {
  const deadline = 1_800_000_000;
  const pastMs = 1000 * (deadline + 901);
  const batch = { chainId, pool, funder, deadline, isApproved: true };
  const previousAttempt = { ...batch, batchNonce: noWord, batchId: noWord };
  const questions = { ...nothing, previousAttempt, earlierSpends: [] };
  const nullifier = { values: [noWord], chainId, pool };
  const earlierSpends = [{ manifestDigest: noWord, deadline, nullifiers: [noWord] }];

  function openNodes() {
    const [first, second] = [createFakeChain(), createFakeChain()];
    first.finalTimestamp = deadline + 1;
    second.finalTimestamp = deadline + 1;
    const anvil = { ...chainsJson.chains.anvil, approve: { secondRpcUrl: 'http://127.0.0.1:2' } };
    const file = parseWire(chainsFileSchema, { ...chainsJson, chains: { anvil } }, 'chains');
    const facts = createFactSource(file, async ({ rpcUrl }) =>
      rpcUrl.endsWith(':2') ? second.reader : first.reader,
    );
    return { first, second, facts };
  }

  it('must see the deadline of an attempt and of a spend pass too', async () => {
    const { second, facts } = openNodes();
    const spends = { ...questions, nullifiers: nullifier, earlierSpends };
    expect(await facts.read(spends, pastMs)).toMatchObject({
      previousAttempt: 'dead',
      deadSpends: [noWord],
    });
    second.finalTimestamp = deadline;
    expect(await facts.read(spends, pastMs)).toMatchObject({
      previousAttempt: undefined,
      deadSpends: [],
    });
  });

  it('must say the same about a withdrawal, which then ends an attempt before its deadline', async () => {
    const { first, second, facts } = openNodes();
    first.voided.add(noWord);
    expect((await facts.read(questions, 0)).previousAttempt).toBeUndefined();
    second.voided.add(noWord);
    expect((await facts.read(questions, 0)).previousAttempt).toBe('dead');
  });

  it('must answer, and tells the time too', async () => {
    const { second, facts } = openNodes();
    expect(await facts.readClock([{ chainId, pool }])).toHaveLength(2);
    second.isDown = true;
    expect(await facts.readClock([{ chainId, pool }])).toBeUndefined();
    expect((await facts.read(questions, pastMs)).previousAttempt).toBeUndefined();
  });

  it('is believed when it alone calls a note spent', async () => {
    const { second, facts } = openNodes();
    second.usedNullifiers.add(noWord);
    const { usedNullifiers } = await facts.read({ ...questions, nullifiers: nullifier }, pastMs);
    expect(usedNullifiers).toEqual([noWord]);
  });
});

it('believes one node that an attempt was voided only if it was never approved', async () => {
  const chain = createFakeChain();
  chain.voided.add(noWord);
  const facts = createFactSource(chains, async () => chain.reader);
  const read = async (isApproved: boolean, deadline?: number) => {
    const place = { chainId, pool, funder, batchNonce: noWord, batchId: noWord };
    const previousAttempt = { ...place, deadline, isApproved };
    return (await facts.read({ ...nothing, previousAttempt, earlierSpends: [] }, 901_000))
      .previousAttempt;
  };
  expect(await read(false)).toBe('dead');
  expect(await read(true)).toBe('alive');
  expect(await read(true, 1)).toBe('alive');
  expect(await read(true, 0)).toBe('dead');
});

it('answers nothing about a pool whose contracts are not the expected ones, and says so', async () => {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part.toString();
    });
    request.on('end', () => {
      const { id, method } = JSON.parse(body) as { readonly id: number; readonly method: string };
      const result = method === 'eth_chainId' ? `0x${chainId.toString(16)}` : '0xfe';
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const { log, lines } = createRecordedLog();
  const facts = createFactSource(
    chains,
    (settings) => openPoolReader({ ...settings, rpcUrl: `http://127.0.0.1:${port}` }, undefined),
    log,
  );
  expect(await facts.read(spendQuestion, Date.now())).toMatchObject({ usedNullifiers: undefined });
  await facts.probe([{ chainId, pool }], Date.now());
  expect(facts.problems()).toEqual([expect.stringContaining('pool_code_differs')]);
  expect(lines).toContainEqual(
    expect.objectContaining({
      error: 'pool_code_differs',
      reason: expect.stringContaining(pool) as string,
    }),
  );
});
