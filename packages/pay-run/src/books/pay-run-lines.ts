/**
 * The payees of a pay run: of its parts and later payments, those who are held back, and those who were dropped.
 *
 * @module
 */
import type { TokenUnit } from '@pool/core';
import type { StatementLine } from '@pool/statements';
import {
  findInvited,
  isGivenUp,
  isLabelOf,
  listRound,
  nameInvited,
  nameOfRound,
} from '../ledger/invited-record.ts';
import { cutRoster } from '../ledger/pay-run-key.ts';
import type { NamedPayRun } from '../ledger/pay-run-ledger.ts';
import type { AgentClient, Payer } from '../ports.ts';
import type { RosterEntry } from '../roster/roster-csv.ts';
import type { PaidRoster } from './paid-roster.ts';
import { inspectPayRun, isLive, listUnpaid, nameState, type PayRunView } from './pay-run-view.ts';
import { listPaymentLines } from './payment-lines.ts';
import type { StoredPayment } from './stored-payments.ts';

export type PayRunSources = {
  readonly client: Pick<AgentClient, 'find'>;
  /** Of the job store. Empty: it is not here. */
  readonly stored: readonly StoredPayment[];
  readonly unit: TokenUnit;
  readonly invitations: Pick<Payer['invitations'], 'find'>;
  /** Absent: the user did not give it. */
  readonly roster: PaidRoster | undefined;
};

/** @param all - of the ledger. @returns also the parts whose people no source lists */
export async function listPayRunLines(
  main: NamedPayRun,
  all: readonly NamedPayRun[],
  sources: PayRunSources,
): Promise<{ readonly lines: readonly StatementLine[]; readonly unlisted: readonly string[] }> {
  const { client, stored, unit, invitations, roster } = sources;
  const { chain, token, payRun: label } = main;
  // The newest comes first.
  const own = all.filter(
    (one) =>
      one.chain === chain &&
      one.token === token &&
      isLabelOf(one.payRun, label) &&
      !isGivenUp(one.record),
  );
  const views = await Promise.all(own.toReversed().map((one) => inspectPayRun(one, client)));
  const view = views.find(({ payRun }) => payRun === label);
  const payees = view?.record.invited?.payees;
  const personOf = new Map(
    payees?.map(({ person, address = '' }) => [address.toLowerCase(), person]),
  );
  const nameOf = (person: string): string => invitations.find(person)[0]?.label ?? person;
  const finish = (line: StatementLine, person?: string): StatementLine => ({
    ...line,
    ...pickName(
      roster?.furtherOf(person === undefined ? (line.wallet ?? '') : nameInvited(person)),
    ),
    ...(person === undefined ? {} : { name: nameOf(person) }),
  });

  const lines: StatementLine[] = [];
  const unlisted: string[] = [];
  // The people of a later payment without an effect are held back.
  for (const payment of views.filter((one) => one === view || isLive(one))) {
    const known = listKnown(payment, view, roster);
    const cut = known.length === 0 ? [] : cutRoster(known, payment.parts.length);
    for (const [index, { part, of, key, job, isUnseen }] of payment.parts.entries()) {
      const state = nameState(job, isUnseen);
      const listed = listPaymentLines({
        ...{ state, chain, unit, key, job, entries: cut[index] ?? [] },
        record: stored.find((one) => one.key === key)?.record,
        place: { payRun: payment.payRun, part },
      });
      lines.push(
        ...listed.map((line) => finish(line, personOf.get(line.wallet?.toLowerCase() ?? ''))),
      );
      if (listed.length === 0 && payees === undefined) {
        unlisted.push(`part ${part} of ${of} (${state})`);
      }
    }
  }
  const { held, dropped } =
    view === undefined ? { held: [], dropped: [] } : listUnpaid(view, views);
  for (const { person, amount, memo, droppedAtMs } of [...held, ...dropped]) {
    const state = droppedAtMs === undefined ? 'held back' : 'dropped';
    const line = { amount, token, decimals: unit.decimals, state, memo, payRun: label, chain };
    lines.push(finish({ ...line, timeMs: droppedAtMs }, person));
  }
  return { lines, unlisted };
}

/** A column `name` of the roster is the name of the payee. */
function pickName(
  columns: Readonly<Record<string, string>> = {},
): Pick<StatementLine, 'name' | 'further'> {
  const names = Object.keys(columns).filter((column) => column.toLowerCase() === 'name');
  const further = Object.entries(columns).filter(([column]) => !names.includes(column));
  const name = columns[names[0] ?? ''];
  return {
    ...(name === undefined || name === '' ? {} : { name }),
    further: Object.fromEntries(further),
  };
}

/** Whom a payment has. The amounts of lines that name wallets are only in the roster. */
function listKnown(
  payment: PayRunView,
  main: PayRunView | undefined,
  roster: PaidRoster | undefined,
): readonly RosterEntry[] {
  const { invited } = main?.record ?? {};
  if (main === undefined || invited === undefined) {
    return roster?.entries ?? [];
  }
  if (payment === main) {
    const direct = invited.direct.map((recipientAddress) => ({ recipientAddress, amount: '' }));
    const named = roster?.entries.filter((entry) => findInvited(entry) === undefined);
    return [...(named ?? direct), ...listRound(invited, 1)];
  }
  const rounds = Array.from({ length: invited.rounds - 1 }, (_, index) => index + 2);
  const round = rounds.find((one) => nameOfRound(main, one).payRun === payment.payRun);
  return round === undefined ? [] : listRound(invited, round);
}
