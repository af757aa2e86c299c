/**
 * `disburse-agent pay-runs export <label>`: a table with one line for each payee of a pay run, for the books. Moves no money.
 *
 * @module
 */
import { encodeCsvField, formatTokenUnits } from '@pool/core';
import { exitCodes } from '../exit-codes.ts';
import { isGivenUp, isLabelOf, listRound, nameOfRound } from '../ledger/invited-record.ts';
import { cutRoster } from '../ledger/pay-run-key.ts';
import { listAllPayRuns } from '../ledger/shared-ledger.ts';
import type { Output, Payer } from '../ports.ts';
import { writeNewFile } from '../report/new-file.ts';
import type { RosterEntry } from '../roster/roster-csv.ts';
import { resolveTarget, type TargetOptions } from './pay-roster.ts';
import {
  findOne,
  inspectPayRun,
  isLive,
  listUnpaid,
  nameState,
  type PayRunView,
} from './pay-runs.ts';

export type ExportOptions = TargetOptions & {
  /** Path of a new file. Absent: standard output. */
  readonly out?: string;
};

type Row = {
  readonly name?: string | undefined;
  readonly wallet?: string | undefined;
  /** Base units. Absent: neither the ledger nor the agent has it. */
  readonly amount?: string | undefined;
  readonly state: string;
  readonly key?: string | undefined;
  readonly txHash?: string | undefined;
  readonly timeMs?: number | undefined;
};

/**
 * Needs the agent: without it nobody knows who was paid.
 * @returns the exit code
 * @throws PoolError `not_found`, `invalid_request`, `agent_unreachable`, `file_not_written`
 */
export async function exportPayRun(
  label: string,
  payer: Pick<Payer, 'ledger' | 'openAgent' | 'readChains'> & {
    readonly invitations: Pick<Payer['invitations'], 'find'>;
  },
  options: ExportOptions,
  { out, terminal }: Output,
): Promise<number> {
  const all = await listAllPayRuns(payer.ledger);
  const main = findOne(label, all, options);
  const { token, decimals } = resolveTarget(main, { ...payer, chain: main.chain });
  const client = payer.openAgent();
  // The newest comes first.
  const own = all.filter(
    ({ chain, token: of, payRun, record }) =>
      chain === main.chain && of === token && isLabelOf(payRun, main.payRun) && !isGivenUp(record),
  );
  const views = await Promise.all(own.toReversed().map((one) => inspectPayRun(one, client)));
  const { rows, unlisted } = listRows(main.payRun, views, payer.invitations);
  for (const part of unlisted) {
    terminal.write(
      `note: the table lacks the people of ${part}: the ledger does not have them, and the agent lists them once the part was sent to the chain\n`,
    );
  }
  const text = encodeRows(rows, token, decimals);
  if (options.out === undefined) {
    out(text.trimEnd());
  } else {
    writeNewFile(options.out, text);
    out(`${options.out}: ${rows.length} line(s)`);
  }
  const isDone = rows.every(({ state }) => state === 'paid' || state === 'dropped');
  return isDone && unlisted.length === 0 ? exitCodes.ok : exitCodes.someUnpaid;
}

/** @param views - of the pay run and of its later payments. @returns also the parts whose people nobody has listed yet */
function listRows(
  label: string,
  views: readonly PayRunView[],
  { find }: Pick<Payer['invitations'], 'find'>,
): { readonly rows: readonly Row[]; readonly unlisted: readonly string[] } {
  const main = views.find(({ payRun }) => payRun === label);
  const invited = main?.record.invited;
  const nameOf = (person: string): string => find(person)[0]?.label ?? person;
  const names = new Map(
    invited?.payees.map(({ person, address = '' }) => [address.toLowerCase(), nameOf(person)]),
  );
  const rows: Row[] = [];
  const unlisted: string[] = [];
  // The people of a later payment without an effect are held back.
  for (const view of views.filter((one) => one === main || isLive(one))) {
    const known = listKnown(view, main);
    const cut = known.length === 0 ? [] : cutRoster(known, view.parts.length);
    for (const [index, { part, of, key, job, isUnseen }] of view.parts.entries()) {
      const state = nameState(job, isUnseen);
      const timeMs = view.record.parts[index]?.sinceMs;
      const txHash = job?.result?.batches[0]?.txHash;
      const listed = new Map<string, Row>();
      const add = (wallet: string, row: Pick<Row, 'amount' | 'state' | 'txHash'>): void => {
        const id = wallet.toLowerCase();
        listed.set(id, { name: names.get(id), wallet, key, timeMs, ...row });
      };
      for (const { recipientAddress, amount } of cut[index] ?? []) {
        add(recipientAddress, { amount: amount === '' ? undefined : amount, state });
      }
      for (const { recipientAddress, amount } of job?.result?.notes ?? []) {
        add(recipientAddress, { amount, state, txHash });
      }
      for (const { recipientAddress } of job?.result?.skipped ?? []) {
        add(recipientAddress, { state: 'skipped' });
      }
      rows.push(...listed.values());
      if (listed.size === 0 && invited === undefined) {
        unlisted.push(`part ${part} of ${of} (${state})`);
      }
    }
  }
  const { held, dropped } =
    main === undefined ? { held: [], dropped: [] } : listUnpaid(main, views);
  for (const { person, amount, droppedAtMs } of [...held, ...dropped]) {
    const state = droppedAtMs === undefined ? 'held back' : 'dropped';
    rows.push({ name: nameOf(person), amount, state, timeMs: droppedAtMs });
  }
  return { rows, unlisted };
}

/** Whom a payment has, as far as the ledger knows. The amounts of lines that name wallets are only in the roster. */
function listKnown(view: PayRunView, main: PayRunView | undefined): readonly RosterEntry[] {
  const { invited } = main?.record ?? {};
  if (main === undefined || invited === undefined) {
    return [];
  }
  if (view === main) {
    const direct = invited.direct.map((recipientAddress) => ({ recipientAddress, amount: '' }));
    return [...direct, ...listRound(invited, 1)];
  }
  const rounds = Array.from({ length: invited.rounds - 1 }, (_, index) => index + 2);
  const round = rounds.find((one) => nameOfRound(main, one).payRun === view.payRun);
  return round === undefined ? [] : listRound(invited, round);
}

const columns = [
  ...['name', 'wallet', 'amount', 'base_units', 'token', 'state'],
  ...['job_key', 'tx_hash', 'time_utc'],
];

function encodeRows(rows: readonly Row[], token: string, decimals: number): string {
  const lines = rows.map(({ name, wallet, amount, state, key, txHash, timeMs }) => [
    ...[name, wallet],
    ...[amount === undefined ? undefined : formatTokenUnits(BigInt(amount), decimals), amount],
    ...[token, state, key, txHash],
    timeMs === undefined || timeMs === 0 ? undefined : new Date(timeMs).toISOString(),
  ]);
  return [columns, ...lines]
    .map((line) => `${line.map((field) => encodeCsvField(field ?? '')).join(',')}\r\n`)
    .join('');
}
