import type { ShellLog } from '@pool/http-server';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createWorldA, type WorldA } from '../fixtures/custodian-a.ts';
import { serveTestGate } from '../fixtures/gate-home.ts';

let world: WorldA;

beforeEach(async () => {
  world = await createWorldA();
});

afterEach(async () => {
  await world.close();
});

it('each report of the doctor logs the newest entry of the audit log', async () => {
  const lines: unknown[][] = [];
  const note = (...line: unknown[]): void => void lines.push(line);
  const log: ShellLog = { debug: note, info: note, warn: note, error: note, child: () => log };
  const served = await serveTestGate(world.home, { log });
  const heads: unknown[] = [];
  for (const _ of [1, 2]) {
    await served.gate.examine();
    const { seq, hash } = served.gate.ledger.findAuditHead() ?? {};
    heads.push([{ seq, hash }, 'audit log: its newest entry']);
  }
  expect(lines.filter(([, message]) => String(message).startsWith('audit log'))).toEqual(heads);
  expect(heads[0]).not.toEqual(heads[1]);
  expect(served.gate.ledger.verifyAudit()).toMatchObject({ kind: 'intact' });
  await served.close();
});
