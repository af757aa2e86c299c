/**
 * What a list of pay runs says about each.
 *
 * @module
 */
import { nameState, type PayRunView, stateOf, sumAmounts } from '@pool/pay-run';

/** `attention`: it has ended, or was interrupted, and not everybody was paid. */
export const standings = ['paid', 'running', 'attention'] as const;
export type Standing = (typeof standings)[number];

export const standingNames: Readonly<Record<Standing, string>> = {
  paid: 'paid',
  running: 'running',
  attention: 'needs attention',
};

export type RunSummary = {
  readonly standing: Standing;
  /** For people. */
  readonly state: string;
  readonly paidRecipients: number;
  readonly skipped: number;
  /** Base units that were paid. */
  readonly paidAmount: bigint;
  /** 0: nothing was sent. */
  readonly changedAtMs: number;
};

export function summarizeRun({ parts, record }: PayRunView): RunSummary {
  const states = parts.map(({ job, isUnseen }) => stateOf(job, isUnseen));
  const paid = parts.filter((_part, index) => states[index] === 'paid');
  const notes = paid.flatMap(({ job }) => job?.result?.notes ?? []);
  const skipped = paid.flatMap(({ job }) => job?.result?.skipped ?? []).length;
  const [first] = parts;
  const isPaid = paid.length === parts.length && skipped === 0;
  return {
    standing: states.includes('running') ? 'running' : isPaid ? 'paid' : 'attention',
    state:
      parts.length === 1
        ? nameState(first?.job, first?.isUnseen ?? false)
        : `${paid.length} of ${parts.length} parts paid`,
    paidRecipients: notes.length,
    skipped,
    paidAmount: sumAmounts(notes),
    changedAtMs: Math.max(...record.parts.map(({ sinceMs }) => sinceMs)),
  };
}

/** For people. */
export function describeStanding({ standing, state }: RunSummary): string {
  const name = standingNames[standing];
  return name === state ? name : `${name}: ${state}`;
}
