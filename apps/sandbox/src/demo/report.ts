/**
 * What the demo shows after a payment: seconds per stage, gas, each recipient's opened note beside the
 * roster's amount, and the pool's balance on chain.
 *
 * @module
 */
import type { DisbursementJob } from '@pool/core';
import type { Holder } from '../chain/people.ts';
import type { SandboxFile } from '../stack/sandbox-file.ts';
import { fetchGasUsed, fetchPoolBalance } from './chain-facts.ts';
import { type ReceivedNote, readAllReceivedNotes } from './received-notes.ts';
import type { RosterLine } from './roster.ts';

/**
 * Gas a recipient costs in a public batch transfer of an ERC-20 token to 100 accounts (packages/contracts/gas.snapshot;
 * a test compares them).
 */
const publicBatchGas = { newHolder: 27_394, existingHolder: 10_294 } as const;

/** What `disburse-agent disburse --json` prints. */
export type Payment = {
  readonly job: DisbursementJob;
  readonly timings: readonly { readonly stage: string; readonly seconds: number }[];
  /** What the proof was made with. */
  readonly prover: { readonly kind: string; readonly detail: string };
};

export type DemoReport = {
  readonly stages: readonly { readonly stage: string; readonly seconds: number }[];
  readonly prover: Payment['prover'];
  readonly gasUsed: bigint;
  readonly token: string;
  readonly decimals: number;
  readonly total: bigint;
  readonly poolBalance: bigint;
  readonly received: readonly {
    readonly line: RosterLine;
    readonly notes: readonly ReceivedNote[];
  }[];
};

export async function createDemoReport(input: {
  readonly place: SandboxFile;
  readonly holders: readonly Holder[];
  readonly payment: Payment;
  readonly roster: readonly RosterLine[];
  readonly token: string;
}): Promise<DemoReport> {
  const { place, holders, payment, roster, token } = input;
  const payees = roster.map(({ address }) =>
    holders.find((candidate) => candidate.address === address),
  );
  const known = payees.filter((holder) => holder !== undefined);
  const found = await readAllReceivedNotes(place, known, token);
  const received = roster.map((line, index) => {
    const holder = payees[index];
    return { line, notes: holder === undefined ? [] : (found[known.indexOf(holder)] ?? []) };
  });
  return {
    stages: payment.timings,
    prover: payment.prover,
    gasUsed: await fetchGasUsed(place, payment.job.result?.batches[0]?.txHash ?? ''),
    token,
    decimals: place.tokens[token]?.decimals ?? 0,
    total: roster.reduce((sum, { amount }) => sum + amount, 0n),
    poolBalance: await fetchPoolBalance(place, token),
    received,
  };
}

/** @returns true when every recipient received exactly the amount of the roster, and the pool holds exactly the total */
export function printDemoReport(report: DemoReport, say: (line: string) => void): boolean {
  const { stages, received, gasUsed, total, poolBalance, token, decimals } = report;
  const money = (amount: bigint): string => `${formatUnits(amount, decimals)} ${token}`;

  say('');
  say('Seconds by stage');
  for (const { stage, seconds } of stages) {
    say(`  ${stage.padEnd(20)} ${seconds.toFixed(1).padStart(7)}`);
  }
  say(`  proved on the ${report.prover.kind} (${report.prover.detail})`);

  const share = gasUsed / BigInt(received.length);
  say('');
  say('Gas');
  say(`  the settlement         ${group(gasUsed).padStart(10)}`);
  say(`  for each of ${String(received.length).padStart(3)} paid    ${group(share).padStart(10)}`);
  say(
    `  a public batch transfer takes ${group(publicBatchGas.newHolder)} for each new holder and ` +
      `${group(publicBatchGas.existingHolder)} for each existing one, and shows every amount`,
  );

  say('');
  say('Notes, each opened with its recipient’s own key');
  const rights = received.map((entry) => {
    const isRight = isExactlyPaid(entry);
    const amounts = entry.notes.map(({ amount }) => money(amount)).join(', ') || 'nothing';
    const memo = entry.notes[0]?.memo;
    const mark = isRight ? '✓' : '✗';
    const owed = isRight ? '' : `, but the roster says ${money(entry.line.amount)}`;
    say(
      `  ${mark} ${entry.line.address}  ${amounts.padStart(20)}${owed}` +
        (memo === undefined ? '' : `  “${printable(memo)}”`),
    );
    return isRight;
  });

  const isCovered = poolBalance === total;
  say('');
  say(
    `${isCovered ? '✓' : '✗'} The pool holds ${money(poolBalance)} on chain; ` +
      `the roster’s total is ${money(total)}.`,
  );
  return isCovered && rights.every(Boolean);
}

function isExactlyPaid({ line, notes }: DemoReport['received'][number]): boolean {
  const [note] = notes;
  return notes.length === 1 && note?.amount === line.amount && note.memo === line.memo;
}

/** Base units with a decimal point, exactly. */
export function formatUnits(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return group(whole) + (fraction === '' ? '' : `.${fraction}`);
}

export function group(value: bigint | number | string): string {
  return String(value).replace(/\B(?=(?:[0-9]{3})+$)/g, ',');
}

// A memo is text of another party: control characters must not reach the terminal.
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '�');
}
