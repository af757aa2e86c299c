import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { encodeApproveCall } from '@pool/policy';
import { afterEach, describe, expect, it } from 'vitest';
import { rebaselineLedger } from '../commands/ledger-command.ts';
import { ledgerPath } from '../config/gate-home.ts';
import { fundBody, permitBody, rebuildFund } from '../fixtures/bodies.ts';
import { contractCall, createWorldB, typedMessage, type WorldB } from '../fixtures/custodian-b.ts';
import {
  manifestToken,
  metricsToken,
  type ServedGate,
  serveTestGate,
} from '../fixtures/gate-home.ts';
import { fundFile, otherAddress, pool, recipient, token } from '../fixtures/payroll.ts';

const byTest = { by: 'a test', acceptUnknown: 0, nowMs: Date.now };

let world: WorldB;
let served: ServedGate | undefined;

async function start(...options: Parameters<typeof createWorldB>): Promise<ServedGate> {
  world = await createWorldB(...options);
  return await startGate();
}

async function startGate(): Promise<ServedGate> {
  served = await serveTestGate(world.home, { port: world.port });
  await served.gate.examine();
  return served;
}

afterEach(async () => {
  await served?.close();
  served = undefined;
  await world.close();
});

/** Waits for the end of a transaction; reads every 2 ms. */
async function endOf(id: string): Promise<string> {
  await expect
    .poll(() => world.statusOf(id), { interval: 2 })
    .toMatch(/COMPLETED|REJECTED|FAILED|CANCELLED/);
  return world.statusOf(id);
}

const forms = [
  { rawTx: 'signing' },
  { rawTx: 'always' },
  { rawTx: 'never' },
  { rawTx: 'signing', requestIds: 'stage' },
] as const;

describe.each(forms)('with callbacks of the form %o', (form) => {
  it('approves a stored batch and its permit at both stages', async () => {
    const gate = await start(form);
    expect(gate.gate.health().problems).toEqual([]);
    const file = fundFile();
    await gate.post(file);
    const id = await world.create(typedMessage(fundBody(file)));
    expect(await endOf(id)).toBe('COMPLETED');
    const permit = await world.create(typedMessage(permitBody(file)));
    expect(await endOf(permit)).toBe('COMPLETED');
    expect(world.custodian.control.violations()).toEqual([]);
    const { sum } = readDay(gate);
    expect(sum).toBe(300n);
  });
});

/** What counts today. */
function readDay({ gate }: ServedGate): { readonly sum: bigint } {
  const { counts } = gate.ledger.exportHistory();
  return { sum: counts.reduce((sum, { amount }) => sum + amount, 0n) };
}

describe('a callback is rejected', () => {
  it('for a request that does not follow from its manifest', async () => {
    const gate = await start();
    const file = fundFile();
    await gate.post(file);
    const changed = fundBody(file, { batchRoot: `0x${'07'.repeat(32)}` });
    const id = await world.create(typedMessage(changed));
    expect(await endOf(id)).toBe('REJECTED');
    expect(world.answersOf(id)).toEqual(['REJECT']);
  });

  it.each([
    ['whose digest is not that of the transaction', 'disagree'],
    ['with neither a digest nor a transaction', 'neither'],
    ['with two digests', 'second-raw'],
    ['for another signer', 'foreign-signer'],
  ] as const)('%s', async (_, effect) => {
    const gate = await start({ rawTx: 'always' });
    const file = fundFile();
    await gate.post(file);
    world.custodian.control.fault({ kind: 'callback', effect });
    const id = await world.create(typedMessage(fundBody(file)));
    expect(await endOf(id)).toBe('REJECTED');
    expect(readDay(gate).sum).toBe(0n);
  });

  it.each(['foreign-key', 'unsigned'] as const)(
    'without an answer, with a token that is %s',
    async (effect) => {
      const gate = await start();
      const file = fundFile();
      await gate.post(file);
      world.custodian.control.fault({ kind: 'callback', effect });
      const id = await world.create(typedMessage(fundBody(file)));
      expect(await endOf(id)).not.toBe('COMPLETED');
      expect(readDay(gate).sum).toBe(0n);
    },
  );

  it('for a change of the configuration', async () => {
    await start();
    const answer = await world.custodian.control.sendConfigChange('TX_POLICY_CHANGE', {});
    expect(answer).toMatchObject({ action: 'REJECT' });
  });

  it('only when that can be written down', async () => {
    await start();
    const other = new DatabaseSync(ledgerPath(world.home.path));
    other.exec('ALTER TABLE audit RENAME TO away');
    const { control } = world.custodian;
    const first = await control.sendConfigChange('TX_POLICY_CHANGE', {});
    other.exec('ALTER TABLE away RENAME TO audit');
    other.close();
    const second = await control.sendConfigChange('TX_POLICY_CHANGE', {});
    expect([first, second]).toMatchObject([{ action: 'RETRY' }, { action: 'REJECT' }]);
  });

  it.each([
    ['another spender', token, encodeApproveCall(otherAddress, 300n)],
    ['another value', token, encodeApproveCall(pool, 301n)],
    ['another token', otherAddress, encodeApproveCall(pool, 300n)],
    ['another call', token, `0xa9059cbb${'00'.repeat(64)}`],
  ])('for a contract call with %s', async (_, to, data) => {
    const gate = await start({ timeScale: 1e9 });
    await gate.post(fundFile());
    const id = await world.create(contractCall(to, data));
    expect(await endOf(id)).toMatch(/REJECTED|FAILED/);
    expect(world.answersOf(id)).not.toContain('APPROVE');
  });
});

it('approves the call of an approval for a stored batch before it is built', async () => {
  const gate = await start();
  await gate.post(fundFile());
  const id = await world.create(contractCall(token, encodeApproveCall(pool, 300n)));
  await expect.poll(() => world.answersOf(id), { interval: 2 }).toEqual(['APPROVE']);
});

it('answers RETRY while the manifest is missing, and approves when it is there', async () => {
  const gate = await start();
  const file = fundFile();
  const id = await world.create(typedMessage(fundBody(file)));
  await expect.poll(() => world.answersOf(id), { interval: 2 }).toEqual(['RETRY']);
  await gate.post(file);
  world.custodian.control.setTimeScale(1e9);
  world.custodian.control.skipPauses();
  expect(await endOf(id)).toBe('COMPLETED');
});

it.each(['callback.after-decide', 'callback.before-answer'] as const)(
  'a gate that fails at %s is asked again, answers the same and counts once',
  async (point) => {
    world = await createWorldB({ onNoAnswer: 'retry', timeScale: 1e9 });
    let isBroken = true;
    served = await serveTestGate(world.home, {
      port: world.port,
      fault(passed) {
        if (passed === point && isBroken) {
          isBroken = false;
          throw new Error('killed');
        }
      },
    });
    await served.gate.examine();
    const file = fundFile();
    await served.post(file);
    const id = await world.create(typedMessage(fundBody(file)));
    expect(await endOf(id)).toBe('COMPLETED');
    expect(isBroken).toBe(false);
    expect(readDay(served).sum).toBe(300n);
    expect(served.gate.ledger.status()).toMatchObject({ votes: 1 });
  },
);

it('says in its health that the custodian has no handler configured', async () => {
  const gate = await start();
  world.custodian.control.setCallback(undefined);
  await gate.gate.examine();
  expect(gate.gate.health().problems.join()).toMatch(/no handler configured/);
  const response = await fetch(`${gate.url}/healthz`);
  expect([response.status, await response.json()]).toEqual([503, { ok: false }]);
  const headers = { authorization: `Bearer ${metricsToken}` };
  const details = await fetch(`${gate.url}/healthz`, { headers });
  expect([details.status, await details.text()]).toEqual([
    503,
    expect.stringMatching(/no handler configured/),
  ]);
  const wrong = { authorization: `Bearer ${manifestToken}` };
  expect((await fetch(`${gate.url}/healthz`, { headers: wrong })).status).toBe(401);
});

it('answers the signing stage from the vote, with the digest alone, also after a restart', async () => {
  const gate = await start({ rawTx: 'signing' });
  const file = fundFile();
  await gate.post(file);
  const { control } = world.custodian;
  const body = fundBody(file);
  const id = await world.create(typedMessage(body));
  expect(await endOf(id)).toBe('COMPLETED');
  const signing = control.callbacks().at(-1);
  await gate.close();
  await startGate();
  // The same bytes again, after the gate was restarted: the guard and the stored vote answer, not a time in the token.
  expect(await control.replayCallback(signing?.index ?? 0)).toMatchObject({ action: 'APPROVE' });
  const { txId: _txId, ...digestOnly } = signing?.payload ?? {};
  expect(await control.sendCallback(digestOnly)).toMatchObject({ action: 'APPROVE' });
  const foreign = { ...digestOnly, rawTx: [{ payload: '07'.repeat(32) }] };
  const large = fundFile({ recipients: [1, 2, 3].map((index) => recipient(index, '500')) });
  expect(await served?.post(large)).toMatchObject({ status: 200 });
  const other = { ...digestOnly, rawTx: [{ payload: rebuildFund(large).fundDigest.slice(2) }] };
  expect(await control.sendCallback(other)).toMatchObject({ action: 'REJECT' });
  expect(await control.sendCallback(foreign)).toMatchObject({ action: 'REJECT' });
  expect(served === undefined ? 0n : readDay(served).sum).toBe(300n);
});

it('counts as restored when the ledger lacks what the custodian signed', async () => {
  const gate = await start();
  const file = fundFile();
  await gate.post(file);
  expect(await endOf(await world.create(typedMessage(fundBody(file))))).toBe('COMPLETED');
  await gate.close();
  for (const end of ['', '-wal', '-shm', '.generation']) {
    rmSync(join(world.home.path, `ledger.sqlite${end}`), { force: true });
  }
  const again = await startGate();
  expect(again.gate.health().problems.join()).toMatch(/counts as restored/);
  expect(await rebaselineLedger(world.home.config, byTest)).toMatchObject({
    guards: 1,
    unknown: [],
  });
  expect(readDay(again).sum).toBe(300n);
  expect(again.gate.ledger.status()).toMatchObject({ isRestored: false });
});
