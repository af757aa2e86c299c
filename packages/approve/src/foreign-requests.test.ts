// The audit's case: one request of more than 1 MiB at the custodian stopped the gate for good. Over real HTTP, to the simulators.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rebaselineLedger } from './commands/ledger-command.ts';
import { fundBody, textBody } from './fixtures/bodies.ts';
import { createWorldA, funderWallet, type WorldA } from './fixtures/custodian-a.ts';
import { createWorldB, typedMessage, type WorldB } from './fixtures/custodian-b.ts';
import { type ServedGate, serveTestGate } from './fixtures/gate-home.ts';
import { funderKey, fundFile, holder, holderKey, signInText } from './fixtures/payroll.ts';

const byTest = { by: 'a test', acceptUnknown: 0, nowMs: Date.now };
const mebibyte = 1024 * 1024;

let served: ServedGate | undefined;

async function start(world: WorldA | WorldB): Promise<ServedGate> {
  await served?.close();
  served = await serveTestGate(world.home, 'port' in world ? { port: world.port } : {});
  await served.gate.examine();
  return served;
}

async function end(world: WorldA | WorldB): Promise<void> {
  await served?.close();
  served = undefined;
  await world.close();
}

describe('a request of more than 1 MiB at custodian A', () => {
  let world: WorldA;

  beforeEach(async () => {
    world = await createWorldA();
  });

  afterEach(() => end(world));

  /** @returns the id of the request */
  async function askLarge(bytes = 1.5 * mebibyte): Promise<string> {
    // The agent's own client does not read the answer, which repeats the request.
    await world.ask(funderWallet, { kind: 'Eip191', message: `0x${'61'.repeat(bytes)}` }).then(
      () => undefined,
      () => undefined,
    );
    return world.custodian.control.state.signatures.at(-1)?.id ?? '';
  }

  async function askHonest(gate: ServedGate): Promise<string> {
    const file = fundFile();
    expect(await gate.post(file)).toMatchObject({ status: 200 });
    const id = await world.ask(funderWallet, fundBody(file));
    await gate.gate.poll();
    return world.statusOf(id);
  }

  it('is denied by its id, and an honest one beside it is signed', async () => {
    const gate = await start(world);
    const large = [await askLarge(), await askLarge(4 * mebibyte)];
    expect(await askHonest(gate)).toBe('Signed');
    expect(large.map((id) => world.statusOf(id))).toEqual(['Rejected', 'Rejected']);
    expect(world.reasonOf(large[0] ?? '')).toMatch(/larger than the gate reads/);
  });

  it('does not stop the gate from starting, the doctor or an honest request after a restart', async () => {
    const first = await start(world);
    expect(await askHonest(first)).toBe('Signed');
    await askLarge();
    await first.gate.poll();
    // One is over, and one waits.
    await askLarge();
    const again = await start(world);
    expect(again.gate.health().problems).toEqual([]);
    expect(await askHonest(again)).toBe('Signed');
  });

  it('does not stop a new baseline', async () => {
    const first = await start(world);
    expect(await askHonest(first)).toBe('Signed');
    await askLarge();
    await first.gate.poll();
    await askLarge();
    await first.close();
    served = undefined;
    for (const end of ['', '-wal', '-shm']) {
      rmSync(join(world.home.path, `ledger.sqlite${end}`), { force: true });
    }
    const restored = await start(world);
    expect(restored.gate.ledger.status()).toMatchObject({ isRestored: true });
    expect(await rebaselineLedger(world.home.config, byTest)).toMatchObject({ guards: 1 });
    await restored.gate.examine();
    expect(restored.gate.health().problems).toEqual([]);
    expect(await askHonest(restored)).toBe('Signed');
  });
});

describe('an approval at custodian A that is not of the documented form', () => {
  let world: WorldA;

  beforeEach(async () => {
    world = await createWorldA();
  });

  afterEach(() => end(world));

  /** An approval that waits for the gate, changed. @returns its id */
  function addMalformed(changes: object): string {
    const { control } = world.custodian;
    const { initiator } = world.organisation;
    const { id } = control.addApproval(initiator.userId, { kind: 'Policies:Modify' });
    Object.assign(control.state.approvals.find((one) => one.id === id) ?? {}, changes);
    return id;
  }

  it('is one foreign item, pending or past', async () => {
    addMalformed({ initiatorId: 7 });
    addMalformed({ status: 'Archived' });
    const gate = await start(world);
    expect(gate.gate.health().problems).toEqual([]);
    const file = fundFile();
    await gate.post(file);
    const id = await world.ask(funderWallet, fundBody(file));
    await gate.gate.poll();
    expect(world.statusOf(id)).toBe('Signed');
  });
});

describe('a transaction of more than 1 MiB at custodian B', () => {
  let world: WorldB;

  beforeEach(async () => {
    world = await createWorldB();
  });

  afterEach(() => end(world));

  async function endOf(id: string): Promise<string> {
    await expect
      .poll(() => world.statusOf(id), { interval: 2 })
      .toMatch(/COMPLETED|REJECTED|FAILED|CANCELLED/);
    return world.statusOf(id);
  }

  async function createLarge(): Promise<string> {
    const body = fundBody(fundFile(), { note: 'x'.repeat(1.5 * mebibyte) });
    return await endOf(await world.create({ ...typedMessage(body) }));
  }

  it('is rejected, and stops neither a restart, the doctor, a new baseline nor an honest one', async () => {
    const gate = await start(world);
    const askHonest = async (one: ServedGate) => {
      const file = fundFile();
      expect(await one.post(file)).toMatchObject({ status: 200 });
      return await endOf(await world.create(typedMessage(fundBody(file))));
    };
    expect(await askHonest(gate)).toBe('COMPLETED');
    expect(await createLarge()).toBe('REJECTED');
    const again = await start(world);
    expect(again.gate.health().problems).toEqual([]);
    expect(await askHonest(again)).toBe('COMPLETED');

    await again.close();
    served = undefined;
    for (const end of ['', '-wal', '-shm']) {
      rmSync(join(world.home.path, `ledger.sqlite${end}`), { force: true });
    }
    const restored = await start(world);
    expect(restored.gate.ledger.status()).toMatchObject({ isRestored: true });
    expect(await rebaselineLedger(world.home.config, byTest)).toMatchObject({ guards: 2 });
    await restored.gate.examine();
    expect(restored.gate.health().problems).toEqual([]);
    expect(await askHonest(restored)).toBe('COMPLETED');
  });
});

it.each([
  ['another user completed', '0', ['somebody else']],
  ['somebody completed with a vault of their own', '7', []],
])(
  'does not take a text that %s at custodian B for a loss of the ledger',
  async (_who, vault, signedBy) => {
    const vaultAccounts = [
      { id: '0', privateKey: funderKey, assets: ['ETH_TEST5'] },
      { id: '7', privateKey: holderKey, assets: ['ETH_TEST5'] },
    ];
    const world = await createWorldB({ vaultAccounts });
    try {
      await start(world);
      const { message } = textBody(signInText(holder, { domain: 'elsewhere.example' }));
      const messages = [{ type: 'EIP191', content: message.slice(2) }];
      const id = await world.create({
        operation: 'TYPED_MESSAGE',
        source: { type: 'VAULT_ACCOUNT', id: vault },
        extraParameters: { rawMessageData: { messages } },
      });
      await expect.poll(() => world.statusOf(id), { interval: 2 }).toBe('REJECTED');
      // The gate's co-signer refuses it. Somebody else's signs it.
      const shown = world.custodian.control.transactions().find((one) => one.id === id);
      Object.assign(shown ?? {}, { status: 'COMPLETED', rejectedBy: '', signedBy });
      const again = await start(world);
      expect(again.gate.ledger.status()).toMatchObject({ isRestored: false });
      expect(again.gate.health().problems).toEqual([]);
    } finally {
      await end(world);
    }
  },
);
