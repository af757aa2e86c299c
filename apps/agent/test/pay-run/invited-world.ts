/**
 * Pay runs with invited people, who enrol as the test requires. Tests only.
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EvmChainSettings } from '@pool/core';
import { type JobStore, type JobStorePlace, openJobStore } from '@pool/idempotency';
import type { Books, LocalChecks, Output, Payer } from '@pool/pay-run';
import { createFakeHolder, textOf } from '@pool/testkit';
import { onTestFinished } from 'vitest';
import {
  type InvitedDeps,
  payFirstRound,
} from '../../../../packages/pay-run/src/commands/pay-invited.ts';
import { payHeld } from '../../../../packages/pay-run/src/commands/resume.ts';
import { nameInvited } from '../../../../packages/pay-run/src/ledger/invited-record.ts';
import type { PayRunLedger } from '../../../../packages/pay-run/src/ledger/pay-run-ledger.ts';
import { openLedger } from '../../../../packages/pay-run/src/ledger/shared-ledger.ts';
import type { AgentClient, InviteeState } from '../../../../packages/pay-run/src/ports.ts';
import { createTestPayRun } from './test-pay-run.ts';

export const name = { chain: 'anvil', token: 'USDC', payRun: '2026-11' };
export const until = '2027-01-15';
const expiresAt = '2026-12-28T08:00:00.000Z';
/** Of every payment, Unix seconds. */
const blockTime = 1_795_862_400;
export const unit = { symbol: 'USDC', decimals: 6 };

/** People with addresses from line 2 on, then invited people, who have enrolled if `readyAtOnce` says so. */
export function createWorld(readyAtOnce: readonly boolean[] = [true, false, false], people = 3) {
  const test = createTestPayRun({ people });
  const wallets = readyAtOnce.map((_, index) => createFakeHolder(20 + index));
  const states = new Map<string, InviteeState>();
  const personOf = (index: number): string => `person-${index}`;
  function set(index: number, changes: Partial<InviteeState>): void {
    const person = personOf(index);
    states.set(person, { person, label: `Name ${index}`, state: 'opened', expiresAt, ...changes });
  }
  function enrol(index: number): void {
    const wallet = wallets[index]!;
    test.platform.enroll(wallet);
    set(index, { state: 'eligible', address: wallet.address, isNew: true });
  }
  for (const [index, isReady] of readyAtOnce.entries()) {
    if (isReady) {
      enrol(index);
    } else {
      set(index, {});
    }
  }
  const whole = [
    ...test.entries.map((entry, index) => ({ ...entry, line: 2 + index })),
    ...wallets.map((_, index) => ({
      recipientAddress: nameInvited(personOf(index)),
      amount: String(2_000 + index),
      line: 2 + people + index,
    })),
  ];
  const plan = { ...name, entries: whole, retry: [] };
  const client: AgentClient = {
    ...test.client,
    // Of the many later payments that are asked for, the test's own are the first few. The others are answered at once.
    find: async (key) =>
      /#(?:[4-9]|\d\d)-/.test(key) && !test.state.submitted.includes(key)
        ? undefined
        : await test.client.find(key),
  };
  const deps = (ledger: PayRunLedger = test.ledger()): InvitedDeps => ({
    ledger,
    client,
    nowMs: () => test.state.nowMs,
    terminal: { isTty: false, write: (text) => void test.state.lines.push(text.trimEnd()) },
    signal: test.state.interrupt.signal,
    pollMs: 1,
    readCeiling: async () => test.state.ceiling,
    ask: undefined,
    unit,
    // Nobody is asked here.
    acceptWallets: true,
    invitations: {
      readStates: async () => new Map(states),
      confirm: async (shown) => {
        for (const [person, state] of states) {
          if (shown.has(person)) {
            states.set(person, { ...state, isNew: false });
          }
        }
      },
    },
  });
  async function resume(changes: Partial<InvitedDeps> = {}) {
    const record = await test.ledger().read(name);
    return payHeld({ ...name, record: record! }, { ...deps(), ...changes });
  }
  return {
    ...test,
    test,
    wallets,
    plan,
    deps,
    set,
    enrol,
    first: (changes: Partial<InvitedDeps> = {}) =>
      payFirstRound(plan, until, { ...deps(), ...changes }),
    resume,
    /** How often each line was paid, in the order of the roster. */
    paid: (): readonly (readonly bigint[])[] =>
      [
        ...test.entries.map(({ recipientAddress }) => recipientAddress),
        ...wallets.map(({ address }) => address),
      ].map((address) => test.state.paid.get(address) ?? []),
  };
}

export const once = [[1_000n], [1_001n], [1_002n], [2_000n], [2_001n], [2_002n]];

/** A command reads the job store from its file. */
async function copyJobs(from: JobStore, place: JobStorePlace): Promise<void> {
  const to = await openJobStore(place);
  for (const { scope, key } of await from.listNames()) {
    const job = (await from.get(scope, key))!;
    const name = { scope, key, state: job.state, payload: job.payload, nowMs: job.updatedAtMs };
    await to.claim({ ...name, fingerprint: job.fingerprint, nowMs: job.createdAtMs });
  }
  await to.close();
}

/** What a command line has: the ledger of the world, copied into a directory, and what the command prints. */
export async function openCommands(world: ReturnType<typeof createWorld>) {
  const home = mkdtempSync(join(tmpdir(), 'held-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const ledger = { home, jobs: { url: `sqlite:${join(home, 'jobs.sqlite')}` } };
  const file = await openLedger(ledger);
  for (const { record, ...label } of await world.ledger().listAll()) {
    await file.change(label, () => record);
  }
  await file.close();
  await copyJobs(world.store, ledger.jobs);
  let printed = '';
  const output: Output = {
    out: (outcome) => {
      printed = textOf(outcome);
    },
    terminal: { isTty: false, write: () => undefined },
  };
  const people = world.wallets.map((_, index) => ({
    person: `person-${index}`,
    label: `Name ${index}`,
  }));
  const tokens = { USDC: { decimals: 6 } };
  const payer: Payer & Pick<Books, 'openRecords'> = {
    ...{ ledger, chain: undefined, agentUrl: '', openAgent: () => world.client },
    readChains: () => ({ anvil: { tokens } as unknown as EvmChainSettings }),
    openRecords: () => ({
      fetchTransactionLeaves: async () => [{ blockNumber: 7 }] as never,
      fetchBlockTime: async () => blockTime,
      close: () => undefined,
    }),
    withChecks: (work) =>
      work({ readCeiling: () => world.state.ceiling } as unknown as LocalChecks),
    invitations: {
      ...world.deps().invitations,
      find: (text) => people.filter((one) => Object.values(one).includes(text)),
    },
  };
  return { home, payer, output, printed: () => printed };
}
