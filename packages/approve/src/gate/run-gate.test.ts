// The process of the gate: what ends it, and what it survives.
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { ledgerPath } from '../config/gate-home.ts';
import { fundBody } from '../fixtures/bodies.ts';
import { createWorldA, funderWallet } from '../fixtures/custodian-a.ts';
import { createFakeChain } from '../fixtures/fake-chain.ts';
import { createRecordedLog, serveTestGate } from '../fixtures/gate-home.ts';
import { fundFile } from '../fixtures/payroll.ts';
import { runGate } from './run-gate.ts';

it('goes on when the ledger cannot be written, votes nothing, and recovers', async () => {
  const world = await createWorldA();
  onTestFinished(() => world.close());
  const { log, lines } = createRecordedLog();
  const served = await serveTestGate(world.home, { log });
  onTestFinished(() => served.close());
  await served.gate.examine();
  const file = fundFile();
  await served.post(file);
  const id = await world.ask(funderWallet, fundBody(file));

  const other = new DatabaseSync(ledgerPath(world.home.path));
  onTestFinished(() => other.close());
  other.exec('ALTER TABLE audit RENAME TO away');
  expect(await served.gate.examine()).toMatchObject({ ok: false });
  expect(served.gate.health().problems).toEqual([
    expect.stringMatching(/^ledger: the ledger cannot be written \(.*audit/),
  ]);
  expect(lines).toContainEqual(expect.objectContaining({ check: 'ledger' }));
  await served.gate.poll();
  expect(world.votesOf(id)).toEqual([]);

  other.exec('ALTER TABLE away RENAME TO audit');
  expect(await served.gate.examine()).toMatchObject({ ok: true });
  await served.gate.poll();
  expect(world.statusOf(id)).toBe('Signed');
});

it('closes its server and fails when a loop ends by itself', async () => {
  const world = await createWorldA();
  onTestFinished(() => world.close());
  const { log, lines } = createRecordedLog();
  const listeners = process.listenerCount('SIGHUP');
  let isBroken = false;
  const listening = Promise.withResolvers<string>();
  const running = runGate(
    {
      config: world.home.config,
      log,
      openReader: async () => createFakeChain().reader,
      nowMs() {
        if (isBroken) {
          throw new RangeError('the clock is broken');
        }
        return Date.now();
      },
    },
    listening.resolve,
  );
  const ended = expect(running).rejects.toThrow('the clock is broken');
  const url = await listening.promise;
  await expect.poll(async () => (await fetch(`${url}/healthz`)).status, { interval: 5 }).toBe(200);
  isBroken = true;
  // A policy that is read again is examined at once.
  expect(process.emit('SIGHUP')).toBe(true);
  await ended;
  await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
  expect(lines).toContainEqual(expect.objectContaining({ error: 'RangeError' }));
  expect(process.listenerCount('SIGHUP')).toBe(listeners);
});

it('stands by while another process votes with the ledger, and takes over when that one ends', async () => {
  const world = await createWorldA();
  onTestFinished(() => world.close());
  const start = (isStandby: boolean) => {
    const { log, lines } = createRecordedLog();
    const listening = Promise.withResolvers<string>();
    let isBroken = false;
    const running = runGate(
      {
        config: world.home.config,
        log,
        isStandby,
        openReader: async () => createFakeChain().reader,
        nowMs() {
          if (isBroken) {
            throw new RangeError('the clock is broken');
          }
          return Date.now();
        },
      },
      listening.resolve,
    );
    const end = async (): Promise<void> => {
      const ended = expect(running).rejects.toThrow('the clock is broken');
      isBroken = true;
      process.emit('SIGHUP');
      await ended;
    };
    return { url: listening.promise, lines, end };
  };
  const first = start(false);
  const url = await first.url;
  const second = start(true);
  await expect
    .poll(() => second.lines.map(({ msg }) => msg))
    .toContainEqual('standing by: another process votes with this ledger');
  await expect.poll(async () => (await fetch(`${url}/healthz`)).status, { interval: 5 }).toBe(200);
  await first.end();
  const next = await second.url;
  await expect.poll(async () => (await fetch(`${next}/healthz`)).status, { interval: 5 }).toBe(200);
  await second.end();
});
