// A dry run beside each custodian: it says what it would do, and the custodian hears nothing final.
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FaultPoint } from '../config/variables.ts';
import { fundBody } from '../fixtures/bodies.ts';
import { createWorldA, funderWallet } from '../fixtures/custodian-a.ts';
import { createWorldB, typedMessage } from '../fixtures/custodian-b.ts';
import { createRecordedLog, type ServeOptions, serveTestGate } from '../fixtures/gate-home.ts';
import { fundFile } from '../fixtures/payroll.ts';

function failAt(point: FaultPoint) {
  return (passed: FaultPoint): void => {
    if (passed === point) {
      throw new Error('killed');
    }
  };
}

describe('a dry run beside custodian A', () => {
  it('sends no vote that an earlier run stored', async () => {
    const world = await createWorldA();
    onTestFinished(() => world.close());
    const first = await serveTestGate(world.home, { fault: failAt('vote.before-send') });
    await first.gate.examine();
    const file = fundFile();
    await first.post(file);
    const id = await world.ask(funderWallet, fundBody(file));
    await first.gate.poll();
    expect(first.gate.ledger.listOpenVotes()).toHaveLength(1);
    await first.close();

    const { log, lines } = createRecordedLog();
    const dry = await serveTestGate(world.home, { isDryRun: true, log });
    onTestFinished(() => dry.close());
    await dry.gate.examine();
    await dry.gate.poll();
    expect(world.votesOf(id)).toEqual([]);
    expect(lines).toContainEqual(expect.objectContaining({ would: 'approve', msg: 'dry run' }));
  });
});

describe('a dry run beside custodian B', () => {
  async function start() {
    const world = await createWorldB({ rawTx: 'always' });
    onTestFinished(() => world.close());
    const { log, lines } = createRecordedLog();
    const serve = async (options: ServeOptions) => {
      const served = await serveTestGate(world.home, { port: world.port, ...options });
      await served.gate.examine();
      return served;
    };
    return { world, lines, serve, dry: () => serve({ isDryRun: true, log }) };
  }

  it('answers RETRY to a request that an earlier run approved', async () => {
    const { world, lines, serve, dry } = await start();
    const first = await serve({ fault: failAt('callback.after-decide') });
    const file = fundFile();
    await first.post(file);
    const id = await world.create(typedMessage(fundBody(file)));
    await expect.poll(() => world.answersOf(id), { interval: 2 }).toEqual(['RETRY']);
    expect(first.gate.ledger.status()).toMatchObject({ votes: 1 });
    await first.close();

    const served = await dry();
    onTestFinished(() => served.close());
    const { control } = world.custodian;
    expect(await control.replayCallback(0)).toMatchObject({ action: 'RETRY' });
    expect(lines).toContainEqual(expect.objectContaining({ would: 'approve', msg: 'dry run' }));
    expect(served.gate.ledger.listOpenVotes()).toMatchObject([{ sentAtMs: undefined }]);
  });

  it('answers RETRY to what it would reject, and says so in the log', async () => {
    const { world, lines, dry } = await start();
    const served = await dry();
    onTestFinished(() => served.close());
    const { control } = world.custodian;
    const { signerId } = world;
    const callback = { requestId: 'r-1', operation: 'TYPED_MESSAGE', sourceId: '0', signerId };
    const wrong = [
      { ...callback, signerId: 'somebody-else' },
      { ...callback, requestId: 'r-2' },
      { ...callback, requestId: 'r-3', rawTx: [{ payload: '07'.repeat(32) }] },
      { requestId: 'r-4', unknown: true },
    ];
    for (const payload of wrong) {
      expect(await control.sendCallback(payload)).toMatchObject({ action: 'RETRY' });
    }
    expect(await control.sendConfigChange('TX_POLICY_CHANGE', {})).toMatchObject({
      action: 'RETRY',
    });
    const told = lines.filter(({ msg, would }) => msg === 'dry run' && would === 'REJECT');
    expect(told).toHaveLength(wrong.length + 1);
    expect(served.gate.ledger.status()).toMatchObject({ votes: 0 });
  });
});
