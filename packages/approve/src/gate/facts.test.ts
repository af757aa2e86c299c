import { chainsFileSchema, PoolError, parseWire } from '@pool/core';
import { expect, it, onTestFinished } from 'vitest';
import { createWorldA } from '../fixtures/custodian-a.ts';
import { createFakeChain } from '../fixtures/fake-chain.ts';
import { createRecordedLog, serveTestGate } from '../fixtures/gate-home.ts';
import { chainId, chainsJson, otherAddress, pool } from '../fixtures/payroll.ts';
import { createFactSource } from './facts.ts';

const chains = parseWire(chainsFileSchema, chainsJson, 'chains');
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
  expect(await facts.read(spendQuestion)).toMatchObject({ usedNullifiers: undefined });
  await facts.read(spendQuestion);
  expect(codes()).toEqual(['wrong_chain']);
  expect(facts.problems()).toEqual([
    expect.stringMatching(/^the node of chain 31337 does not answer \(wrong_chain\)/),
  ]);

  opened = 'chain_unreachable';
  await facts.read(spendQuestion);
  await facts.read(spendQuestion);
  expect(codes()).toEqual(['wrong_chain', 'chain_unreachable']);

  opened = 'open';
  expect(await facts.read(spendQuestion)).toMatchObject({ usedNullifiers: [] });
  expect(facts.problems()).toEqual([]);
  expect(lines.at(-1)).toMatchObject({ msg: 'the node answers again' });
});

it('forgets a question that nobody asks any more when its node answers', async () => {
  const chain = createFakeChain();
  const facts = createFactSource(chains, async () => chain.reader);
  chain.isDown = true;
  await facts.read(spendQuestion);
  await facts.probe([{ chainId, pool }]);
  expect(facts.problems()).toHaveLength(1);
  chain.isDown = false;
  await facts.probe([{ chainId, pool }]);
  expect(facts.problems()).toEqual([]);
  await facts.probe([{ chainId, pool: otherAddress }]);
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
