/**
 * The people of a pay run who were invited and are paid once they have enrolled (docs/decisions/0008). Each payment, a round, has a key that
 * binds the whole roster and the number of the round. Who is in it is decided once, in the ledger, before anything is sent: so nobody is in
 * two rounds that can be paid.
 *
 * The first round pays the wallets that the roster names, and the invited people who have enrolled by then. Its parts are the record's own.
 * A later round has a record of its own, under a label that nobody can type.
 *
 * @module
 */
import type { RosterEntry } from '../roster/roster-csv.ts';
import { type ClaimDeps, findHolder, isFixed } from './pay-run-claim.ts';
import { findLaterRound, findRoundJob, hasAnyPayment, hasNoEffect } from './pay-run-find.ts';
import { formatRound } from './pay-run-key.ts';
import {
  createConflict,
  type InvitedPayee,
  type InvitedRecord,
  type PayRunLedger,
  type PayRunName,
  type PayRunRecord,
} from './pay-run-ledger.ts';

const scheme = 'invite:';

/** What stands for the address of an invited person in an entry of a roster. @param person - as in {@link InvitedRecord} */
export function nameInvited(person: string): string {
  return `${scheme}${person}`;
}

/** @returns undefined: the entry has an address */
export function findInvited({
  recipientAddress,
}: Pick<RosterEntry, 'recipientAddress'>): string | undefined {
  return recipientAddress.startsWith(scheme) ? recipientAddress.slice(scheme.length) : undefined;
}

/** Who has a round, and the wallet that it pays, by person. */
export type Wallets = ReadonlyMap<string, string>;

/** @param wallets - of those whom the first round pays */
export function createInvited(
  whole: readonly RosterEntry[],
  wallets: Wallets,
  until: string,
): InvitedRecord {
  const direct = whole.flatMap((entry) =>
    findInvited(entry) === undefined ? [entry.recipientAddress] : [],
  );
  const payees = whole.flatMap((entry) => {
    const person = findInvited(entry);
    const { amount, memo, line = 0 } = entry;
    const payee = { line, amount, ...(memo === undefined ? {} : { memo }) };
    return person === undefined ? [] : [{ person, ...payee }];
  });
  return assign({ until, rounds: 1, direct, payees }, wallets, 1);
}

function assign(invited: InvitedRecord, wallets: Wallets, round: number): InvitedRecord {
  return {
    ...invited,
    payees: invited.payees.map((payee) => {
      const address = wallets.get(payee.person);
      return address === undefined || !isHeld(payee) ? payee : { ...payee, round, address };
    }),
  };
}

/** In no payment, and not dropped. */
export function isHeld({ round, droppedAtMs }: InvitedPayee): boolean {
  return round === undefined && droppedAtMs === undefined;
}

/** @param whole - to add the lines of the roster that name wallets; for the first round */
export function listRound(
  { payees }: InvitedRecord,
  round: number,
  whole: readonly RosterEntry[] = [],
): readonly RosterEntry[] {
  const invited = payees.flatMap(({ line, amount, memo, address, round: own }) =>
    own === round && address !== undefined
      ? [{ recipientAddress: address, amount, ...(memo === undefined ? {} : { memo }), line }]
      : [],
  );
  return [...whole.filter((entry) => findInvited(entry) === undefined), ...invited];
}

/**
 * The ledger for the command that sends the first round: whatever it writes, it writes `mine` too.
 * @throws (from `change`) PoolError `pay_run_conflict`: another command has fixed another first round
 */
export function keepInvited(ledger: PayRunLedger, mine: InvitedRecord): PayRunLedger {
  return {
    ...ledger,
    change: (name, decide) =>
      ledger.change(name, (current) => {
        const next = decide(current);
        const known = current?.digest === next.digest ? current.invited : undefined;
        if (known !== undefined && nameRound(known, 1) === nameRound(mine, 1)) {
          // A later round may have been decided meanwhile.
          return { ...next, invited: { ...known, until: mine.until } };
        }
        if (known !== undefined && isFixed({ ...next, invited: known })) {
          throw createConflict(
            'another command is paying this roster at this moment, and saw other people enrolled; run the same command again',
          );
        }
        return { ...next, invited: mine };
      }),
  };
}

function nameRound({ payees }: InvitedRecord, round: number): string {
  const members = payees.filter((payee) => payee.round === round);
  return JSON.stringify(members.map(({ person, address }) => [person, address]));
}

export function nameOfRound({ chain, token, payRun }: PayRunName, round: number): PayRunName {
  return { chain, token, payRun: formatRound(payRun, round) };
}

/** True for the label itself, and for those of its rounds. */
export function isLabelOf(payRun: string, label: string): boolean {
  return payRun === label || payRun.startsWith(`${label}#`);
}

/** The label that an option names. @param payRun - perhaps of a later round */
export function labelOf(payRun: string): string {
  return payRun.split('#')[0] ?? payRun;
}

/** True for a later round, which no option names: `pay-runs resume` decides it anew if nothing of it was paid. */
export function isRound(payRun: string): boolean {
  return payRun.includes('#');
}

/** Of a round that was given up before anything of it could be paid. Nobody can send it any more, because its record has another digest. */
const givenUp = 'given-up';

/** True for the record of a round in which nobody is any more. */
export function isGivenUp({ digest }: PayRunRecord): boolean {
  return digest === givenUp;
}

type Base = { readonly name: PayRunName; readonly digest: string };

/**
 * Puts people into a new round.
 * @param wallets - by person; those who got a round meanwhile stay in that one
 * @returns undefined: everybody has a round
 * @throws PoolError `pay_run_conflict`
 */
export async function openRound(
  { name, digest }: Base,
  wallets: Wallets,
  { ledger, client }: Pick<ClaimDeps, 'ledger' | 'client'>,
): Promise<{ readonly invited: InvitedRecord; readonly round: number } | undefined> {
  const round = (await assertNewest({ name, digest }, { ledger, client })).rounds + 1;
  const { invited } = await ledger.change(name, (current) => {
    const known = findRecord(current, { name, digest });
    if (known.rounds + 1 !== round) {
      throw createBusy(name);
    }
    return {
      digest,
      parts: current?.parts ?? [],
      invited: { ...assign(known, wallets, round), rounds: round },
    };
  });
  return invited === undefined || listRound(invited, round).length === 0
    ? undefined
    : { invited, round };
}

type ReadDeps = Pick<ClaimDeps, 'client' | 'nowMs'> & {
  readonly ledger: Pick<PayRunLedger, 'read'>;
};

/**
 * The agent has no payment of the pay run that the ledger does not know. Without this, a copy from before a payment would pay its people
 * again.
 * @throws PoolError `pay_run_conflict`
 */
export async function assertNewest(
  { name, digest }: Base,
  { ledger, client }: Pick<ReadDeps, 'ledger' | 'client'>,
): Promise<InvitedRecord> {
  const record = await ledger.read(name);
  const invited = findRecord(record, { name, digest });
  const own = { payRun: name.payRun, digest };
  const isOlder =
    record !== undefined && isFixed(record)
      ? (await findLaterRound(own, invited.rounds + 1, client)) !== undefined
      : await hasAnyPayment(own, invited.direct.length + invited.payees.length, client);
  if (isOlder) {
    const now = await ledger.read(name);
    throw JSON.stringify(now) === JSON.stringify(record) ? createOlder(name) : createBusy(name);
  }
  return invited;
}

async function isLive(
  own: PayRunName,
  record: PayRunRecord | undefined,
  deps: Pick<ClaimDeps, 'client' | 'nowMs'>,
): Promise<boolean> {
  return (
    record !== undefined &&
    !isGivenUp(record) &&
    (await findHolder(own, record, deps)) !== undefined
  );
}

/** A round that is decided and recorded nowhere was not sent: it is recorded first. @throws PoolError `pay_run_conflict` */
async function assertUnsent({ name, digest }: Base, round: number, deps: ReadDeps): Promise<void> {
  const job = await findRoundJob({ payRun: name.payRun, digest }, round, deps.client);
  if (job !== undefined && !hasNoEffect(job)) {
    const now = await deps.ledger.read(nameOfRound(name, round));
    throw now === undefined ? createOlder(name) : createBusy(name);
  }
}

/**
 * What {@link settleRounds} would hold back. Changes nothing.
 * @returns also those of the rounds that were or may be paid of which the agent has no job
 * @throws PoolError `pay_run_conflict`
 */
export async function previewRounds(
  base: Base,
  deps: ReadDeps,
): Promise<{ readonly invited: InvitedRecord; readonly unseen: readonly number[] }> {
  const { name, digest } = base;
  const invited = await assertNewest(base, deps);
  const live = await listLive(name, invited, deps);
  const unseen: number[] = [];
  for (let round = 2; round <= invited.rounds; round += 1) {
    if (listRound(invited, round).length === 0) {
      continue;
    }
    if ((await deps.ledger.read(nameOfRound(name, round))) === undefined) {
      await assertUnsent(base, round, deps);
    } else if (
      live.has(round) &&
      (await findRoundJob({ payRun: name.payRun, digest }, round, deps.client)) === undefined
    ) {
      unseen.push(round);
    }
  }
  return { invited: holdBack(invited, (round) => live.has(round)), unseen };
}

/** The later rounds that were or may be paid. Changes nothing. */
export async function listLive(
  name: PayRunName,
  { rounds }: Pick<InvitedRecord, 'rounds'>,
  deps: ReadDeps,
): Promise<ReadonlySet<number>> {
  const live = new Set<number>();
  for (let round = 2; round <= rounds; round += 1) {
    const own = nameOfRound(name, round);
    if (await isLive(own, await deps.ledger.read(own), deps)) {
      live.add(round);
    }
  }
  return live;
}

/** Holds the people of later rounds back that are not live: nothing was or can be paid by these. */
export function holdBack(
  invited: InvitedRecord,
  isRoundLive: (round: number) => boolean,
): InvitedRecord {
  const payees = invited.payees.map((payee) => {
    const { round = 1, address: _, ...held } = payee;
    return round === 1 || isRoundLive(round) ? payee : held;
  });
  return { ...invited, payees };
}

/**
 * Gives up the rounds of which nothing was and nothing can be paid, and holds their people back again.
 * @returns what is held back, and the rounds that were or may be paid
 */
export async function settleRounds(
  { name, digest }: Base,
  deps: ClaimDeps,
): Promise<{ readonly invited: InvitedRecord; readonly live: readonly number[] }> {
  const { ledger } = deps;
  let invited = findRecord(await ledger.read(name), { name, digest });
  const live: number[] = [];
  for (let round = 2; round <= invited.rounds; round += 1) {
    if (listRound(invited, round).length === 0) {
      continue;
    }
    const own = nameOfRound(name, round);
    const record = await ledger.read(own);
    const isOver = record !== undefined && isGivenUp(record);
    if (await isLive(own, record, deps)) {
      live.push(round);
      continue;
    }
    if (record === undefined) {
      await assertUnsent({ name, digest }, round, deps);
    }
    if (!isOver) {
      const sinceMs = await deps.nowMs();
      // Before its people are free: a command that is about to send it is refused from here on.
      await ledger.change(own, (current) => {
        if (JSON.stringify(current) !== JSON.stringify(record)) {
          throw createBusy(name);
        }
        return { digest: givenUp, parts: [{ attempt: 1, sent: 'accepted', sinceMs }] };
      });
    }
    const changed = await ledger.change(name, (current) => {
      const known = findRecord(current, { name, digest });
      return {
        digest,
        parts: current?.parts ?? [],
        invited: holdBack(known, (other) => other !== round),
      };
    });
    invited = changed.invited ?? invited;
  }
  return { invited, live };
}

/** @throws PoolError `pay_run_conflict`: the label is of another roster now */
export function findRecord(
  record: PayRunRecord | undefined,
  { name, digest }: Base,
): InvitedRecord {
  if (record?.invited === undefined || record.digest !== digest) {
    throw createBusy(name);
  }
  return record.invited;
}

function createBusy({ payRun }: PayRunName) {
  return createConflict(
    `another command is paying ${payRun} at this moment; run the same command again`,
  );
}

/** The agent has paid under a label of which the ledger does not know whom. */
export function createOlder({ payRun }: PayRunName) {
  return createConflict(
    `the agent has a payment of ${payRun} that this ledger does not know, so the ledger is lost or an older copy, and it is unknown who was paid. Restore the newest copy. Without one, find out who was paid, and pay the others under a new label`,
  );
}
