/**
 * Rules about a batch. The static ones hold for its permit and its token approval too; the others only for the authorisation that
 * pays it.
 *
 * @module
 */

import { computeBatchGuardId, computeCountScope, computePayeeKey } from '../history/guard-id.ts';
import type { RosterEntry } from '../history/ledger-history.ts';
import type { LedgerView, StoredManifest } from '../history/ledger-view.ts';
import { countReleases, type ReleaseCount } from '../people/release.ts';
import {
  describeAmount,
  type Policy,
  type TokenRule,
  type Weekday,
  type WorkingHours,
} from '../policy/policy-schema.ts';
import type { RebuiltFund } from '../rebuild/rebuild-manifest.ts';
import { checkDay, readRollingSum } from './check-day.ts';
import { hasUnknownRoster } from './check-learnt.ts';
import { checkEvidence, findPlace } from './check-payees.ts';
import { check, checkLater, type DecideInput, type Finding, fail, pass, wait } from './findings.ts';

const dayMs = 86_400_000;

/** The policy's entry for the pool and token of a batch. */
export function findTokenRule(policy: Policy, manifest: RebuiltFund): TokenRule | undefined {
  return policy.pools
    .find(
      ({ chain, chainId, pool }) =>
        chain === manifest.file.manifest.chain &&
        chainId === manifest.chainId &&
        pool === manifest.pool,
    )
    ?.tokens.find(({ token }) => token === manifest.token);
}

/** Who may be paid how much. These rules do not depend on time or on other batches. */
export function checkStaticRules(input: DecideInput, manifest: RebuiltFund): readonly Finding[] {
  const { policy } = input;
  const { payees, total } = manifest;
  const rule = findTokenRule(policy, manifest);
  if (rule === undefined) {
    return [fail('token', 'token-not-listed')];
  }
  const maxPerRecipient = BigInt(rule.maxPerRecipient);
  const allowed = policy.recipients?.allow;
  const denied = policy.recipients?.deny ?? [];
  const allowSet = allowed === undefined ? undefined : new Set<string>(allowed);
  const denySet = new Set<string>(denied);
  const deniedPayee = findPlace(payees, ({ address }) => denySet.has(address));
  const foreignPayee = findPlace(payees, ({ address }) => allowSet?.has(address) === false);
  const tooMuch = findPlace(payees, ({ amount }) => amount > maxPerRecipient);
  const isListedFunder = policy.funders.some(({ address }) => address === manifest.funder);
  return [
    pass('token'),
    check('funder', isListedFunder, 'funder-not-listed'),
    check('employer', policy.employers.includes(manifest.employerId), 'employer-not-listed'),
    ...checkEvidence(input, manifest),
    check('recipient-denied', deniedPayee === undefined, 'recipient-denied', deniedPayee),
    check('recipient-allowed', foreignPayee === undefined, 'recipient-not-listed', foreignPayee),
    check('limit-per-recipient', tooMuch === undefined, 'recipient-limit', tooMuch),
    check(
      'limit-per-batch',
      total <= BigInt(rule.maxPerBatch),
      'batch-limit',
      `The total is ${describeAmount(total, rule)}, the limit is ${describeAmount(BigInt(rule.maxPerBatch), rule)}.`,
    ),
  ];
}

/** Another manifest of the job, an earlier attempt that may still be paid, or a later one. */
export function checkAttempts(
  { ledger, facts, nowMs }: Pick<DecideInput, 'ledger' | 'facts' | 'nowMs'>,
  manifest: RebuiltFund,
): readonly Finding[] {
  const { employerId, jobKey, attempt, manifestDigest } = manifest;
  const attempts = ledger.listAttempts(employerId, jobKey);
  const isOnlyOne = attempts.every(
    (stored) =>
      stored.batch?.attempt !== attempt ||
      stored.manifestDigest === manifestDigest ||
      isFree(ledger, stored, nowMs),
  );
  const isLatest = attempts.every((stored) => (stored.batch?.attempt ?? 0) <= attempt);
  return [
    check('one-manifest-per-attempt', isOnlyOne, 'job-has-other-manifest'),
    check('latest-attempt', isLatest, 'attempt-superseded'),
    checkPreviousAttempt(attempt, facts.previousAttempt),
  ];
}

/**
 * Its deadline passed and nobody approved it, so it is never paid, and another manifest may take its job and attempt. Else whoever posts
 * manifests could block a job for ever.
 */
export function isFree(
  ledger: Pick<LedgerView, 'findGuard'>,
  { chainId, pool, deadline, batch }: StoredManifest,
  nowMs: number,
): boolean {
  return (
    batch !== undefined &&
    nowMs > 1000 * deadline &&
    ledger.findGuard(
      computeBatchGuardId('fund-authorization', chainId, pool, batch.funder, batch.batchNonce),
    ) === undefined
  );
}

function checkPreviousAttempt(
  attempt: number,
  state: DecideInput['facts']['previousAttempt'],
): Finding {
  const rule = 'previous-attempt-dead';
  if (attempt === 1) {
    return pass(rule, 'this is the first attempt');
  }
  switch (state) {
    case 'dead':
      return pass(rule);
    case 'alive':
      // A node whose final blocks lag says this of an attempt that is dead already.
      return wait(rule, 'previous-attempt-alive');
    case 'settled':
      return fail(rule, 'previous-attempt-settled');
    case undefined:
      return wait(rule, 'facts-unavailable');
  }
}

/** The batch is unused on chain. */
export function checkBatchFact({ facts }: DecideInput): Finding {
  switch (facts.batch) {
    case 'open':
      return pass('batch-open');
    case 'used':
      return fail('batch-open', 'batch-used');
    case 'voided':
      return fail('batch-open', 'batch-voided');
    case undefined:
      return wait('batch-open', 'facts-unavailable');
  }
}

/** How far ahead a deadline may be. A content that was approved before only has to be in time. */
export function checkDeadline(
  input: DecideInput,
  deadline: number,
  isRepeat: boolean,
): readonly Finding[] {
  const { policy, nowMs } = input;
  const ahead = deadline - Math.floor(nowMs / 1000);
  const least = isRepeat ? 0 : policy.deadline.minSeconds;
  return [
    check(
      'deadline-min',
      ahead > 0 && ahead >= least,
      'deadline-too-near',
      `It is ${ahead} seconds ahead, and at least ${least} are needed.`,
    ),
    checkFarDeadline(input, deadline),
  ];
}

/** A deadline that is too far would keep the manifest, and what it authorises, for as long. */
export function checkFarDeadline(
  { policy, nowMs }: Pick<DecideInput, 'policy' | 'nowMs'>,
  deadline: number,
): Finding {
  const ahead = deadline - Math.floor(nowMs / 1000);
  const { maxSeconds } = policy.deadline;
  return check(
    'deadline-max',
    ahead <= maxSeconds,
    'deadline-too-far',
    `It is ${ahead} seconds ahead, and at most ${maxSeconds} are allowed.`,
  );
}

/** Limits of the day, age, hours, and what people have to release. A batch that was approved before passes them again. */
export function checkFirstApproval(
  input: DecideInput,
  manifest: RebuiltFund,
  guardId: string | undefined,
): readonly Finding[] {
  const { policy, ledger, nowMs } = input;
  const rule = findTokenRule(policy, manifest);
  if (rule === undefined || guardId === undefined) {
    return [];
  }
  const receivedAtMs = ledger.findManifest(manifest.manifestDigest)?.receivedAtMs ?? 0;
  const isYoung = nowMs - receivedAtMs <= 1000 * policy.maxBatchAgeSeconds;
  const isOpen = policy.workingHours === undefined || isWithinHours(policy.workingHours, nowMs);
  return [
    ...checkDay(input, manifest, rule, guardId),
    check('batch-age', isYoung, 'batch-too-old'),
    checkLater('working-hours', isOpen, 'outside-working-hours'),
    ...checkPeople(input, manifest, rule, guardId),
  ];
}

/**
 * A person's no is final for its batch, also for one that was approved before. It holds for every later batch with the same roster, until
 * who said it, or two people, release one: a new job key, label, order or memo does not end it.
 */
export function checkDenial(input: DecideInput, manifest: RebuiltFund, isRepeat: boolean): Finding {
  const rule = 'not-denied';
  const { denial } = countReleasesOf(input, manifest);
  if (denial === undefined) {
    return pass(rule);
  }
  const { by, issuedAt, manifestDigest } = denial;
  if (manifestDigest === manifest.manifestDigest) {
    return fail(rule, 'denied-by-person', `By ${by}.`);
  }
  // The payment before a duplicate that was denied goes on.
  if (isRepeat) {
    return pass(rule, `approved before ${by} denied another batch with this roster`);
  }
  const detail = `${by} denied the batch ${manifestDigest} at ${issuedAt}.`;
  return input.policy.humanRelease === undefined
    ? fail(rule, 'denied-roster', detail)
    : wait(rule, 'hold-denied-roster', detail);
}

function countReleasesOf(
  { policy, ledger, nowMs }: DecideInput,
  manifest: RebuiltFund,
): ReleaseCount {
  return countReleases(ledger.listReleases(manifest.rosterDigest), manifest, policy, nowMs);
}

function checkPeople(
  input: DecideInput,
  manifest: RebuiltFund,
  rule: TokenRule,
  guardId: string,
): readonly Finding[] {
  const { policy, ledger, nowMs } = input;
  const released = countReleasesOf(input, manifest).releasedBy.length;
  const required = policy.humanRelease?.required ?? Number.POSITIVE_INFINITY;
  const isReleased = released >= required;
  const toRelease = (name: string, isHeld: boolean, reason: Parameters<typeof wait>[1]): Finding =>
    !isHeld || isReleased
      ? pass(name, isHeld ? `released by ${released}` : 'ok')
      : wait(name, reason, `${released} of ${required} released it.`);

  // With what was approved before, else many batches below the threshold would pass it.
  const earlier = readRollingSum(ledger, computeCountScope(manifest), nowMs);
  const sum = ledger.hasCounted(guardId) ? earlier : earlier + manifest.total;
  const isLarge = rule.holdAbove !== undefined && sum > BigInt(rule.holdAbove);
  const isNewPayee =
    policy.humanRelease?.newPayee === true &&
    manifest.payees.some(({ address }) => !ledger.hasPaid(computePayeeKey(address)));
  const duplicate = policy.duplicateRoster;
  const isDuplicate = duplicate !== undefined && hasEqualRoster(input, manifest, guardId);
  const isUnknown = hasUnknownRoster(input, manifest);
  return [
    policy.humanRelease === undefined
      ? check('unknown-roster', !isUnknown, 'unknown-roster')
      : toRelease('unknown-roster', isUnknown, 'hold-unknown-roster'),
    toRelease('hold-amount', isLarge, 'hold-amount'),
    toRelease('hold-new-payee', isNewPayee, 'hold-new-payee'),
    duplicate?.action === 'deny'
      ? check('duplicate-roster', !isDuplicate, 'duplicate-roster')
      : toRelease('duplicate-roster', isDuplicate, 'hold-duplicate-roster'),
  ];
}

/**
 * Another approved batch has this roster, is young enough, and has the same pay-run label, or neither has one. Earlier attempts of
 * the same job do not count: they are dead.
 */
function hasEqualRoster(
  { policy, ledger, nowMs }: DecideInput,
  { rosterDigest, payRunLabel, employerId, jobKey }: RebuiltFund,
  guardId: string,
): boolean {
  const days = policy.duplicateRoster?.days ?? 0;
  const attempts = ledger.listAttempts(employerId, jobKey);
  const isOfJob = (entry: RosterEntry): boolean =>
    entry.guardId === guardId ||
    attempts.some(({ batch }) => batch !== undefined && entry.guardId.endsWith(batch.batchNonce));
  return ledger
    .listRosters(rosterDigest)
    .some(
      (entry) =>
        !isOfJob(entry) &&
        entry.label === (payRunLabel ?? '') &&
        entry.approvedAtMs > nowMs - days * dayMs,
    );
}

/**
 * Whether a time is within the working hours of a policy. Daylight saving time is that of the zone. Hours never reach over midnight: `to` is later than `from` on the same day.
 */
function isWithinHours(hours: WorkingHours, nowMs: number): boolean {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: hours.timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(nowMs);
  const partOf = (type: Intl.DateTimeFormatPartTypes): string =>
    parts.find((part) => part.type === type)?.value ?? '';
  const day = partOf('weekday').toLowerCase() as Weekday;
  const time = `${partOf('hour')}:${partOf('minute')}`;
  return hours.days.includes(day) && hours.from <= time && time < hours.to;
}
