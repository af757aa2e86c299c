/**
 * What a manifest pays: whom, how much, in which token. A person compares it with what they know before they release it. Notes without
 * value that only fill the batch are not in it.
 *
 * @module
 */

import { type ChainsFile, type EvmAddress, type Hex32, quote } from '@pool/core';
import {
  computePayeeKey,
  countReleases,
  describeAmount,
  findTokenUnit,
  type LedgerView,
  type Policy,
  type PolicyPerson,
  type RebuiltFund,
  type RebuiltManifest,
  type RebuiltSpend,
  type StoredManifest,
  type TokenUnit,
} from '@pool/policy';

// Who released a batch, and who may.

export type PeopleOfBatch = {
  /** How many different keys the policy asks for. */
  readonly required: number;
  readonly releasedBy: readonly string[];
  readonly deniedBy: string | null;
  /** A batch with the same roster was denied. Only the person, or two people, release this one. */
  readonly rosterDeniedBy: string | null;
  /** ISO 8601 UTC, and the batch. Null: neither this batch nor its roster is denied. */
  readonly deniedAt: string | null;
  readonly deniedManifest: Hex32 | null;
  /** Names of those who did not release it yet. */
  readonly mayRelease: readonly string[];
};

/** Undefined: a spend, or a policy without people. Every word is verified again under the policy of now. */
export function describePeople(
  { manifestDigest, token, batch }: Pick<StoredManifest, 'manifestDigest' | 'token' | 'batch'>,
  view: Pick<LedgerView, 'listReleases'>,
  policy: Policy,
  nowMs: number,
): PeopleOfBatch | undefined {
  const { humanRelease } = policy;
  if (batch === undefined || humanRelease === undefined) {
    return undefined;
  }
  const { releasedBy, denial } = countReleases(
    view.listReleases(batch.rosterDigest),
    { manifestDigest, token, total: batch.total },
    policy,
    nowMs,
  );
  const isOwn = denial?.manifestDigest === manifestDigest;
  const done = new Set(releasedBy.map(({ publicKey }) => publicKey));
  return {
    required: humanRelease.required,
    releasedBy: releasedBy.map(({ name }) => name),
    deniedBy: denial !== undefined && isOwn ? denial.by : null,
    rosterDeniedBy: denial === undefined || isOwn ? null : denial.by,
    deniedAt: denial?.issuedAt ?? null,
    deniedManifest: denial?.manifestDigest ?? null,
    mayRelease: firstOfEachKey(humanRelease.people)
      .filter(({ publicKey }) => !done.has(publicKey))
      .map(({ name }) => name),
  };
}

/** A key counts under the name that the policy lists first. */
function firstOfEachKey(people: readonly PolicyPerson[]): readonly PolicyPerson[] {
  return people.filter(
    ({ publicKey }, index) => people.findIndex((one) => one.publicKey === publicKey) === index,
  );
}

export function renderPeople(people: PeopleOfBatch): string {
  const { required, releasedBy, deniedBy, rosterDeniedBy, mayRelease } = people;
  if (deniedBy !== null) {
    return `denied by ${deniedBy}`;
  }
  if (rosterDeniedBy !== null) {
    const done = releasedBy.length === 0 ? 'nobody' : releasedBy.join(', ');
    return `DENIED BEFORE: ${rosterDeniedBy} denied the same people and amounts at ${people.deniedAt} (manifest ${people.deniedManifest}). ${rosterDeniedBy}, or two people, must release this one; released by ${done}`;
  }
  const done =
    releasedBy.length === 0 ? 'nobody released it' : `released by ${releasedBy.join(', ')}`;
  const open = releasedBy.length < required ? `; may release: ${mayRelease.join(', ')}` : '';
  return `${done}, ${required} needed${open}`;
}

export type PaymentPlaces = {
  readonly policy: Policy;
  readonly chains: ChainsFile;
  readonly view: Pick<LedgerView, 'hasPaid'>;
};

/** Base units, and the same for people. */
type ShownAmount = { readonly amount: string; readonly amountText: string };
type Recipient = ShownAmount & { readonly address: EvmAddress; readonly memo?: string };
/** For `check --json`. Confidential. */
export type Payment = ReturnType<typeof describePayment>;

export function describePayment(manifest: RebuiltManifest, places: PaymentPlaces) {
  const unit = findUnit(manifest, places);
  const { chainId, pool, token } = manifest;
  const common = {
    chain: manifest.file.manifest.chain,
    chainId,
    pool,
    token,
    symbol: unit?.symbol ?? null,
    decimals: unit?.decimals ?? null,
  };
  return manifest.kind === 'fund'
    ? { ...common, ...describeFund(manifest, unit, places) }
    : { ...common, ...describeSpend(manifest, unit) };
}

/** The policy's word first. A holder's token may be one that no batch is paid in: then the gate's own chain settings name it. */
function findUnit(
  { chainId, pool, token, file }: RebuiltManifest,
  { policy, chains }: PaymentPlaces,
): TokenUnit | undefined {
  const listed = findTokenUnit(policy, { chainId, pool, token });
  if (listed !== undefined) {
    return listed;
  }
  const settings = chains.chains[file.manifest.chain];
  const isSame = settings?.chainId === chainId && settings.pool === pool;
  const [symbol, found] =
    Object.entries(isSame ? settings.tokens : {}).find(([, { address }]) => address === token) ??
    [];
  return symbol === undefined || found === undefined
    ? undefined
    : { symbol, decimals: found.decimals };
}

function describeFund(
  { file, funder, total, employerId, jobKey, attempt, payees }: RebuiltFund,
  unit: TokenUnit | undefined,
  { view }: PaymentPlaces,
) {
  const { recipients } = file.manifest;
  return {
    kind: 'fund',
    deadline: toIsoTime(file.deadline),
    funder,
    employerId,
    jobKey,
    attempt,
    total: showAmount(total, unit),
    recipients: payees.map(({ address, amount }, index) => ({
      address,
      ...showAmount(amount, unit),
      // No batch that this gate approved paid the address.
      isNew: !view.hasPaid(computePayeeKey(address)),
      ...memoOf(recipients[index]),
    })),
  } as const;
}

function describeSpend(
  { file, address: holder, sent, withdrawAmount, recipient, payees, deadline }: RebuiltSpend,
  unit: TokenUnit | undefined,
) {
  const { outputs, changeAmount } = file.manifest;
  return {
    kind: 'spend',
    deadline: toIsoTime(deadline),
    holder,
    // What leaves for others.
    total: showAmount(sent, unit),
    withdrawal:
      recipient === undefined ? null : { address: recipient, ...showAmount(withdrawAmount, unit) },
    recipients: payees.map(({ address, amount }, index) => ({
      address,
      ...showAmount(amount, unit),
      ...memoOf(outputs[index]),
    })),
    // What stays with the holder.
    change: showAmount(BigInt(changeAmount), unit),
  } as const;
}

function memoOf(entry: { readonly memo?: string | undefined } | undefined) {
  return entry?.memo === undefined ? {} : { memo: entry.memo };
}

function showAmount(amount: bigint, unit: TokenUnit | undefined): ShownAmount {
  return { amount: String(amount), amountText: describeAmount(amount, unit) };
}

function toIsoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

/** One line each, label first. */
export function renderPayment(payment: Payment): readonly string[] {
  const { chain, chainId, pool, token, symbol, deadline, total, recipients } = payment;
  const place = [
    line('chain', `${chain} (${chainId})`),
    line('pool', pool),
    line('token', symbol === null ? token : `${token} (${symbol})`),
  ];
  if (payment.kind === 'fund') {
    const fresh = payment.recipients.filter(({ isNew }) => isNew).length;
    return [
      ...place,
      line('funder', payment.funder),
      line('employer', payment.employerId),
      line('job', `${quote(payment.jobKey, 255)}, attempt ${payment.attempt}`),
      line('deadline', deadline),
      line('total', total.amountText),
      line('recipients', `${payment.recipients.length}, of them new: ${fresh}`),
      ...payment.recipients.map((one, index) =>
        line(`recipient ${index + 1}`, renderRecipient(one, one.isNew)),
      ),
    ];
  }
  const { holder, withdrawal, change } = payment;
  return [
    ...place,
    line('holder', holder),
    line('deadline', deadline),
    line('total', total.amountText),
    ...(withdrawal === null ? [] : [line('withdrawal', renderRecipient(withdrawal, false))]),
    ...recipients.map((one, index) => line(`recipient ${index + 1}`, renderRecipient(one, false))),
    line('change', `${change.amountText}`),
  ];
}

function renderRecipient({ address, amountText, memo }: Recipient, isNew: boolean): string {
  const parts = [
    address,
    amountText,
    isNew ? 'NEW' : '',
    memo === undefined ? '' : quote(memo, 255),
  ];
  return parts.filter((part) => part !== '').join('  ');
}

/** The longest label is "recipient 256". */
export function line(label: string, text: string): string {
  return `${label.padEnd(13)}  ${text}`;
}
