/**
 * `disburse-agent pay-runs drop <label> --line <name|number>`: ends what is held back of an invited person, so that nothing pays it any more
 * (docs/decisions/0008). Moves no money.
 *
 * @module
 */
import { formatTokenAmount, PoolError, quote } from '@pool/core';
import { exitCodes } from '../exit-codes.ts';
import { assertNewest, findRecord, nameOfRound, settleRounds } from '../ledger/invited-record.ts';
import type { ClaimDeps } from '../ledger/pay-run-claim.ts';
import type { InvitedPayee, NamedPayRun } from '../ledger/pay-run-ledger.ts';
import { openLedger } from '../ledger/shared-ledger.ts';
import type { Invitations, Output, Payer } from '../ports.ts';
import { resolveTarget } from './pay-roster.ts';
import { findOne, formatMinute, type PayRunsOptions } from './pay-runs.ts';
import { assertBegun } from './resume.ts';

export type DropOptions = PayRunsOptions & {
  /** A line of the roster, or a name, an e-mail address or a reference of the person. */
  readonly line: string;
};

/** @returns the exit code */
export async function dropLine(
  label: string,
  payer: Pick<Payer, 'ledger' | 'openAgent' | 'invitations' | 'chain' | 'readChains'>,
  options: DropOptions,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const client = payer.openAgent();
  const ledger = await openLedger(payer.ledger);
  try {
    const payRun = findOne(label, await ledger.listAll(), options);
    const { token, decimals } = resolveTarget(payRun, payer);
    const deps = { ledger, client, nowMs: ledger.nowMs };
    const { payee, isRepeat } = await dropHeld(payRun, options.line, payer.invitations, deps);
    const { person, line, amount, droppedAtMs = 0 } = payee;
    const name = payer.invitations.find(person)[0]?.label ?? person;
    const droppedAt = new Date(droppedAtMs);
    out(
      options.json === true
        ? {
            ...{ payRun: payRun.payRun, chain: payRun.chain, token, line, reference: person },
            ...{ label: name, amount, isRepeat, droppedAt: droppedAt.toISOString() },
          }
        : `line ${line}: ${name}: ${formatTokenAmount(BigInt(amount), { symbol: token, decimals })}: ${
            isRepeat
              ? `was dropped before, at ${formatMinute(droppedAtMs)}`
              : 'dropped, and never paid under this label'
          }`,
    );
    return exitCodes.ok;
  } finally {
    await ledger.close();
  }
}

/**
 * @param line - as in {@link DropOptions}
 * @returns the person as the ledger has it then, and whether an earlier call has dropped it
 * @throws PoolError `pay_run_conflict`; `invalid_request`: nobody is meant, or a payment has the person
 */
export async function dropHeld(
  { record: { digest }, ...name }: NamedPayRun,
  line: string,
  invitations: Pick<Invitations, 'find'>,
  deps: ClaimDeps,
): Promise<{ readonly payee: InvitedPayee; readonly isRepeat: boolean }> {
  const base = { name, digest };
  const { payees } = assertBegun(name, await deps.ledger.read(name));
  const chosen = choosePayee(payees, line, invitations);
  if (chosen.droppedAtMs !== undefined) {
    return { payee: chosen, isRepeat: true };
  }
  await assertNewest(base, deps);
  await settleRounds(base, deps);
  const droppedAtMs = await deps.nowMs();
  let outcome = { payee: chosen, isRepeat: false };
  // A resumption chooses whom it pays by a change of the same record, so each person gets one of the two.
  await deps.ledger.change(name, (current) => {
    const known = findRecord(current, base);
    const payees = known.payees.map((payee) => {
      if (payee.person !== chosen.person) {
        return payee;
      }
      if (payee.round !== undefined) {
        throw refuse(
          `nothing was changed: line ${payee.line} is not held back. It is in the payment ${payee.round === 1 ? name.payRun : nameOfRound(name, payee.round).payRun}, which was paid or is being sent; "disburse-agent pay-runs show '${name.payRun}'" says what became of it`,
        );
      }
      outcome = {
        payee: { droppedAtMs, ...payee },
        isRepeat: payee.droppedAtMs !== undefined,
      };
      return outcome.payee;
    });
    const next = { digest, parts: current?.parts ?? [], invited: { ...known, payees } };
    assertBegun(name, next);
    return next;
  });
  return outcome;
}

function choosePayee(
  payees: readonly InvitedPayee[],
  text: string,
  { find }: Pick<Invitations, 'find'>,
): InvitedPayee {
  const isNumber = /^\d+$/.test(text);
  const people = isNumber ? [] : [text, ...find(text).map(({ person }) => person)];
  const [chosen, ...others] = payees.filter(({ person, line }) =>
    isNumber ? line === Number(text) : people.includes(person),
  );
  if (chosen === undefined) {
    const lines = payees.map(({ line }) => line).join(', ');
    throw refuse(
      `--line: ${quote(text)} is none of the lines that name invited people: ${lines}. Give the number, or the name, the e-mail address or the reference as "disburse-agent invite list" prints it`,
    );
  }
  if (others.length > 0) {
    const lines = [chosen, ...others].map(({ line }) => line).join(', ');
    throw refuse(`--line: ${quote(text)} is on the lines ${lines}; give one of the numbers`);
  }
  return chosen;
}

function refuse(message: string): PoolError {
  return new PoolError('invalid_request', message);
}
