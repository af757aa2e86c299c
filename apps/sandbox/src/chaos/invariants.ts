/**
 * What must be true of every chaos run once everything runs again, read from the chain, the holder's notes and the platform's rows.
 *
 * @module
 */
import type { PostgresServer } from '@pool/testkit';
import { countFundedBatches, fetchAllowance, fetchPoolBalance } from '../demo/chain-facts.ts';
import { readReceivedNotes } from '../demo/received-notes.ts';
import { writeSandboxFile } from '../stack/sandbox-file.ts';
import type { Stack } from '../stack/stack.ts';
import type { EndedJob, Payment } from './chaos.ts';

/** How long the platform may take to serve the notes of the last batch, and to see its transactions final. */
const patienceMs = 60_000;

/** @returns a sentence for each violation */
export async function findViolations(world: {
  readonly stack: Stack;
  readonly server: PostgresServer;
  readonly payments: readonly Payment[];
  /** The job object of each key, as it was first seen ended. */
  readonly ended: ReadonlyMap<string, string>;
}): Promise<readonly string[]> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const violations = await look(world);
    if (violations.length === 0 || performance.now() > deadline) {
      return violations;
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

async function look({
  stack,
  server,
  payments,
  ended,
}: Parameters<typeof findViolations>[0]): Promise<readonly string[]> {
  const place = writeSandboxFile(stack);
  const jobOf = ({ key }: Payment) => JSON.parse(ended.get(key) ?? '{}') as EndedJob;
  const done = payments.filter((payment) => jobOf(payment).state === 'done');
  const found: string[] = [];
  const expect = (what: string, actual: unknown, expected: unknown): void => {
    if (String(actual) !== String(expected)) {
      found.push(`${what}: ${String(actual)}, expected ${String(expected)}`);
    }
  };
  expect('batches on chain', await countFundedBatches(place), done.length);
  for (const token of ['USDC', 'USDT']) {
    const paid = done.filter((payment) => payment.token === token);
    const sum = paid.reduce((total, { amount }) => total + amount, 0n);
    expect(`${token} in the pool`, await fetchPoolBalance(place, token), sum);
    const left = await fetchAllowance(place, token, stack.employer.address);
    expect(`allowance of ${token} that is left`, left, 0n);
    const holder = stack.holders[0];
    const notes = holder === undefined ? [] : await readReceivedNotes(place, holder, token);
    const received = notes.map(({ amount, txHash }) => `${amount} in ${txHash}`).sort();
    const reported = paid.map(
      (payment) => `${payment.amount} in ${jobOf(payment).result?.batches[0]?.txHash ?? 'none'}`,
    );
    expect(`notes of ${token}`, received, reported.sort());
  }
  const ask = async (what: string, text: string): Promise<void> => {
    const rows = await server.query(text, new URL(stack.platformDatabaseUrl).pathname.slice(1));
    expect(what, JSON.stringify(rows), '[]');
  };
  await ask(
    'nonces that two transactions took',
    `select sender, nonce from relayer_transactions where state in ('succeeded', 'reverted', 'cancelled')
      group by chain, sender, nonce having count(*) > 1`,
  );
  await ask(
    'settlements that were carried out twice',
    `select submission_id from relayer_transactions where state = 'succeeded' and purpose = 'fund'
      group by submission_id having count(*) > 1`,
  );
  await ask(
    'settlements that did not end',
    `select key, state from submissions where superseded_at is null and state not in ('settled', 'reverted')`,
  );
  return found;
}
