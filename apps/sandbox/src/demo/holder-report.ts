/**
 * What the demo shows of a recipient that used its money: its balance, a transfer, a withdrawal, and whether everything adds up.
 *
 * @module
 */
import type { SpendReceipt } from '@pool/core';
import { formatUnits, group } from './report.ts';

export type SpendStep = {
  /** The arguments of `disburse-agent`. */
  readonly command: readonly string[];
  readonly receipt: SpendReceipt;
  /** From the command's start to its receipt: proof, settlement and finality. */
  readonly seconds: number;
  readonly gasUsed: bigint;
};

export type HolderReport = {
  readonly token: string;
  readonly decimals: number;
  readonly chain: string;
  /** The address of the recipient's wallet. */
  readonly holder: string;
  /** Base units of the roster. */
  readonly received: bigint;
  /** Lines of `disburse-agent balance`. */
  readonly before: string;
  readonly after: string;
  readonly transfer: SpendStep;
  readonly payees: readonly {
    readonly address: string;
    readonly amount: bigint;
    /** Amounts that the payee's own key opened in this transaction. */
    readonly opened: readonly bigint[];
  }[];
  readonly send: SpendStep;
  readonly destination: {
    readonly label: string;
    readonly address: string;
    readonly amount: bigint;
    /** Base units of the token that the address has now. */
    readonly arrived: bigint;
  };
  readonly poolBalance: bigint;
};

/**
 * @param rosterTotal - what the batch paid into the pool, base units
 * @returns true when every payee opened its amount, the withdrawal arrived, and all amounts add up to the base unit
 */
export function printHolderReport(
  report: HolderReport,
  rosterTotal: bigint,
  say: (line: string) => void,
): boolean {
  const { token, decimals, payees, destination, transfer, send } = report;
  const money = (amount: bigint): string => `${formatUnits(amount, decimals)} ${token}`;
  const rights: boolean[] = [];
  const check = (isRight: boolean, line: string): void => {
    rights.push(isRight);
    say(`  ${isRight ? '✓' : '✗'} ${line}`);
  };
  const given = payees.reduce((sum, { amount }) => sum + amount, 0n);
  const left = report.received - given - destination.amount;

  say('');
  say(`A recipient, ${report.holder}, that “disburse-agent onboard” enrolled, uses its money`);
  say('');
  say('  $ disburse-agent balance');
  check(report.before === balanceLine(report, report.received), report.before);
  say(`  $ disburse-agent ${shorten(transfer.command)}`);
  for (const { address, amount, opened } of payees) {
    const isRight = opened.length === 1 && opened[0] === amount;
    check(isRight, `${money(amount).padStart(20)}  opened with the key of ${address}`);
  }
  check(...describeStep(transfer, left + destination.amount, money));
  say(`  $ disburse-agent ${shorten(send.command)}`);
  check(
    destination.arrived === destination.amount,
    `${money(destination.arrived).padStart(20)}  on chain at ${destination.address}`,
  );
  check(...describeStep(send, left, money));
  say('  $ disburse-agent balance');
  check(report.after === balanceLine(report, left), report.after);
  say('');
  const expected = rosterTotal - destination.amount;
  check(
    report.poolBalance === expected,
    `The pool holds ${money(report.poolBalance)}: the roster’s total less the withdrawal`,
  );
  return rights.every(Boolean);
}

/** The report of the command in one line, for a balance of one note. */
function balanceLine({ token, chain }: HolderReport, total: bigint): string {
  return `${total} ${token} (1 note(s), largest ${total}) on ${chain}`;
}

function describeStep(
  { receipt, seconds, gasUsed }: SpendStep,
  change: bigint,
  money: (amount: bigint) => string,
): readonly [boolean, string] {
  const isRight = receipt.status === 'success' && receipt.changeAmount === change.toString();
  return [
    isRight,
    `${money(BigInt(receipt.changeAmount)).padStart(20)}  change  ` +
      `(${seconds.toFixed(1)} s, ${group(gasUsed)} gas)`,
  ];
}

/** A wallet public key has 68 characters. */
function shorten(command: readonly string[]): string {
  return command
    .map((part) => part.replace(/^(0x[0-9a-f]{6})[0-9a-f]+([0-9a-f]{4})/, '$1…$2'))
    .join(' ');
}
