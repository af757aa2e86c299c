/**
 * Which invited people of a roster can be paid now, and why the others cannot (docs/decisions/0008).
 *
 * @module
 */
import { formatTokenAmount, type TokenUnit, tryParseEvmAddress } from '@pool/core';
import { isHeld } from '../ledger/invited-record.ts';
import type { InvitedPayee, InvitedRecord } from '../ledger/pay-run-ledger.ts';
import type { InviteeState } from '../ports.ts';
import { createRequest, type Validate } from './check-parts.ts';
import { locateSkipped } from './pay-run-echo.ts';
import { locateIssue } from './roster-problems.ts';

/** `not-payable`: another wallet than before, one of another line, or one that cannot be paid. `past-date`: the last day has passed. */
type HeldState = 'ready' | 'not-enrolled' | 'not-confirmed' | 'not-payable' | 'past-date';

export type InvitedStanding = {
  readonly payee: InvitedPayee;
  readonly invitee: InviteeState;
  readonly state: HeldState;
  /** Why the person cannot be paid now. Absent: can be. */
  readonly reason?: string;
};

/** What the judgement of people who are held back needs. */
export type StandingDeps = {
  readonly readStates: (people: readonly string[]) => Promise<ReadonlyMap<string, InviteeState>>;
  readonly validate: Validate;
  /** Holds a wallet back that the payer has not confirmed. */
  readonly mustBeConfirmed: boolean;
};

/** Those who are held back, in the order of the roster. */
export async function judgeHeld(
  { payees, direct }: Pick<InvitedRecord, 'payees' | 'direct'>,
  place: { readonly chain: string; readonly token: string },
  { readStates, validate, mustBeConfirmed }: StandingDeps,
): Promise<readonly InvitedStanding[]> {
  const held = payees.filter(isHeld);
  if (held.length === 0) {
    return [];
  }
  const states = await readStates(held.map(({ person }) => person));
  const taken = new Set([...direct, ...payees.flatMap(({ address }) => address ?? [])]);
  const judged = held.map((payee): InvitedStanding => {
    const { person } = payee;
    const invitee = normalize(states.get(person) ?? { person, label: person, state: 'unknown' });
    const obstacle = findObstacle(invitee, taken, mustBeConfirmed);
    if (obstacle === undefined && invitee.address !== undefined) {
      taken.add(invitee.address);
    }
    return { payee, invitee, ...(obstacle ?? { state: 'ready' }) };
  });
  const refused = await findRefused(judged, place, validate);
  return judged.map((standing) => {
    const reason = refused.get(standing.invitee.address ?? '');
    return standing.reason !== undefined || reason === undefined
      ? standing
      : { ...standing, state: 'not-payable', reason };
  });
}

/** One spelling of a wallet, so that it is recognised on another line. */
function normalize(invitee: InviteeState): InviteeState {
  const address = tryParseEvmAddress(invitee.address ?? '');
  return address === undefined ? invitee : { ...invitee, address };
}

type Obstacle = Pick<InvitedStanding, 'state' | 'reason'>;

function findObstacle(
  { state, address, changed, label, isNew }: InviteeState,
  taken: ReadonlySet<string>,
  mustBeConfirmed: boolean,
): Obstacle | undefined {
  const refuse = (reason: string): Obstacle => ({ state: 'not-payable', reason });
  const wait = (reason: string): Obstacle => ({ state: 'not-enrolled', reason });
  if (changed !== undefined) {
    return refuse(
      `the platform names the wallet ${changed.named}, and earlier it named ${changed.pinned}: nothing is paid to either. Ask the person which one is theirs, and pay that one by its address under a new label`,
    );
  }
  switch (state) {
    case 'created':
      return wait('nobody has opened the link');
    case 'opened':
      return wait('the link was opened, and no wallet has accepted it');
    case 'accepted':
      return wait('a wallet has accepted the link, and is not enrolled');
    case 'enrolled':
      return wait('enrolled, and not eligible');
    case 'expired':
    case 'revoked':
    case 'unknown':
      return wait(
        `the link has ended: invite the person again, as ${label}, with "disburse-agent invite", and send the new link`,
      );
    case 'elsewhere':
      return refuse('this machine has not invited this person; resume where invitations.json is');
    case 'eligible':
      break;
  }
  if (address === undefined || tryParseEvmAddress(address) === undefined) {
    return refuse('the wallet is not an EVM wallet, so it cannot be paid');
  }
  if (taken.has(address)) {
    return refuse(
      `the wallet ${address} is that of another line, and one wallet is paid once per roster`,
    );
  }
  return isNew === true && mustBeConfirmed
    ? {
        state: 'not-confirmed',
        reason: `nobody has confirmed the wallet ${address}: ask the person whether it is theirs, then run this on a terminal without --yes, or with --accept-wallets`,
      }
    : undefined;
}

/** What the agent finds about the wallets: it verifies their evidence and eligibility, whatever the platform says of the links. */
async function findRefused(
  judged: readonly InvitedStanding[],
  place: { readonly chain: string; readonly token: string },
  validate: Validate,
): Promise<ReadonlyMap<string, string>> {
  const entries = judged.flatMap(({ payee: { amount }, invitee: { address = '' }, reason }) =>
    reason === undefined ? [{ recipientAddress: address, amount }] : [],
  );
  if (entries.length === 0) {
    return new Map();
  }
  const { issues, skipped } = await validate(createRequest(place, entries, 'skip'));
  const found = [
    ...locateSkipped(entries, skipped).map((one) => [one.recipientAddress, one.message] as const),
    ...issues.flatMap((issue) => {
      const { address, message } = locateIssue(entries, issue);
      return address === undefined ? [] : [[address, message] as const];
    }),
  ];
  return new Map(found);
}

/** One line per person. */
export function describeHeld(
  standings: readonly InvitedStanding[],
  unit: TokenUnit,
): readonly string[] {
  return standings.map(({ payee, invitee, reason }) => {
    const { state, expiresAt } = invitee;
    const isOpen = state === 'created' || state === 'opened' || state === 'accepted';
    const end =
      isOpen && expiresAt !== undefined ? `; the link ends ${expiresAt.slice(0, 10)}` : '';
    return `  held back ${describePayee(payee, invitee, unit)}: ${state}: ${reason ?? 'can be paid now'}${end}`;
  });
}

/** For a person who decides whether to pay: which wallet the platform says belongs to whom. */
export function describeWallets(
  standings: readonly InvitedStanding[],
  unit: TokenUnit,
): readonly string[] {
  return standings.map(({ payee, invitee }) => {
    const { address = '', isNew } = invitee;
    return `  invited ${describePayee(payee, invitee, unit)} to ${address}${isNew === true ? ', not confirmed before' : ''}`;
  });
}

/** For a dry run: who would be paid, and why the others would not. */
export function describeStanding(
  { payee, invitee, state, reason }: InvitedStanding,
  unit: TokenUnit,
): string {
  const wallet = invitee.address === undefined ? '' : ` to ${invitee.address}`;
  const isNew = state === 'ready' && invitee.isNew === true ? ', not confirmed before' : '';
  const why = reason === undefined ? '' : `: ${reason}`;
  return `${describePayee(payee, invitee, unit)}${wallet}: ${state.replace('-', ' ')}${isNew}${why}`;
}

function describePayee(
  { line, amount }: InvitedPayee,
  { label }: InviteeState,
  unit: TokenUnit,
): string {
  return `line ${line}: ${label}: ${formatTokenAmount(BigInt(amount), unit)}`;
}

/** For `--json`. */
export function listHeld(standings: readonly InvitedStanding[]): readonly object[] {
  return standings.map(({ payee: { person, line, amount }, invitee, state: standing, reason }) => {
    const { label, state, expiresAt, address } = invitee;
    return {
      ...{ line, reference: person, label, amount, state, standing },
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(address === undefined ? {} : { address }),
      ...(reason === undefined ? {} : { reason }),
    };
  });
}
