/**
 * Decisions about a holder's spends (protocol §7): the change is the holder's own, payees and destination are listed, the sums are
 * within the limits, and no note is in two spends that may both land.
 *
 * @module
 */
import type { Hex32 } from '@pool/core';
import { computeCountScope, computeDay } from '../history/guard-id.ts';
import type { GuardEntry, LedgerHistory } from '../history/ledger-history.ts';
import type { HolderRule } from '../policy/holder-rule.ts';
import { describeAmount, findTokenUnit } from '../policy/policy-schema.ts';
import { findSpendMismatch } from '../rebuild/find-mismatch.ts';
import type { RebuiltSpend } from '../rebuild/rebuild-manifest.ts';
import type { SpendRequest } from '../requests/requests.ts';
import { checkDeadline } from '../rules/check-batch.ts';
import { checkDailyLimit } from '../rules/check-day.ts';
import { checkGuard, createRecord, type Guarded } from '../rules/check-guard.ts';
import { checkUnknownSpends } from '../rules/check-learnt.ts';
import { checkEvidence, findPlace, listPins } from '../rules/check-payees.ts';
import { checkHolder, explainMissing, findHolder } from '../rules/check-request.ts';
import {
  check,
  conclude,
  type DecideInput,
  type Decision,
  type Finding,
  fail,
  pass,
  wait,
} from '../rules/findings.ts';

export function decideSpend(input: DecideInput, request: SpendRequest): Decision {
  const common = checkHolder(input);
  const holder = findHolder(input);
  const { manifest, ledger } = input;
  // The manifest's digest does not cover the seed: m does.
  const isStored =
    manifest?.kind === 'spend' &&
    ledger.findManifest(manifest.manifestDigest)?.digest === manifest.digest;
  if (!isStored || holder === undefined) {
    return conclude([...common, explainMissing(input)], undefined);
  }
  const { manifestDigest } = manifest;
  const guarded = checkGuard(input, { manifestDigest });
  const difference = findSpendMismatch(request, manifest);
  const findings = [
    ...common,
    check(
      'follows-from-manifest',
      difference === undefined,
      'manifest-mismatch',
      `First difference: ${difference}.`,
    ),
    ...checkOwnKeys(manifest, holder),
    ...checkEvidence(input, manifest),
    ...checkDestinations(manifest, holder),
    ...checkSums(input, manifest, holder, guarded),
    ...checkDeadline(input, manifest.deadline, guarded.isRepeat),
    guarded.finding,
    checkSignedOnce(input, manifest.digest, guarded),
    ...checkNullifiers(input, manifest),
    checkUnknownSpends(input, manifest),
  ];
  return conclude(
    findings,
    createRecord(guarded, manifestDigest, (guard) => listSpendHistory(input, manifest, guard)),
  );
}

/** Slot 0 is the holder's own: its W, and a P that the policy pins. */
function checkOwnKeys(manifest: RebuiltSpend, holder: HolderRule): readonly Finding[] {
  const isPinned = holder.encryptionPublicKeys.includes(manifest.changeEncryptionPublicKey);
  return [
    check('own-wallet', manifest.walletPub === holder.walletPub, 'foreign-signer'),
    check('change-own', isPinned, 'change-not-own'),
  ];
}

function checkDestinations(manifest: RebuiltSpend, holder: HolderRule): readonly Finding[] {
  const { recipient, payees } = manifest;
  const sendTo = holder.spend?.sendTo ?? [];
  const transferTo = new Set<string>(holder.spend?.transferTo ?? []);
  const foreign = findPlace(payees, ({ walletPub }) => !transferTo.has(walletPub));
  const isListed = recipient === undefined || sendTo.includes(recipient);
  return [
    check('send-destination', isListed, 'destination-not-listed'),
    check('transfer-payees', foreign === undefined, 'payee-not-listed', foreign),
  ];
}

function checkSums(
  { policy, ledger, nowMs }: DecideInput,
  manifest: RebuiltSpend,
  holder: HolderRule,
  { entry }: Guarded,
): readonly Finding[] {
  const { chainId, pool, token, sent, address } = manifest;
  const rule = holder.spend?.assets.find(
    (asset) => asset.chainId === chainId && asset.pool === pool && asset.token === token,
  );
  if (rule === undefined) {
    return [fail('spend-allowed', 'spend-not-allowed')];
  }
  const unit = findTokenUnit(policy, manifest);
  const show = (amount: bigint): string => describeAmount(amount, unit);
  return [
    pass('spend-allowed'),
    check(
      'limit-per-call',
      sent <= BigInt(rule.maxPerCall),
      'call-limit',
      `It sends ${show(sent)}, the limit is ${show(BigInt(rule.maxPerCall))}.`,
    ),
    ...checkDailyLimit(ledger, {
      scope: computeCountScope(manifest, address),
      guardId: entry?.id,
      amount: sent,
      most: BigInt(rule.maxPerDay),
      reason: 'holder-day-limit',
      show,
      nowMs,
    }),
  ];
}

/**
 * Two signatures over one m reveal W (protocol §7). A deterministic signer gives the same signature again, so only that one may be
 * asked twice.
 */
export function checkSignedOnce(
  { ledger, signer }: Pick<DecideInput, 'ledger' | 'signer'>,
  digest: Hex32,
  { isRepeat }: Guarded,
): Finding {
  const wasSigned = isRepeat || ledger.findGuardByDigest('spend', digest) !== undefined;
  return check('signed-once', signer.deterministic || !wasSigned, 'spend-signed-before');
}

/** No note was spent before, and no other approved spend of the same note may still land. */
function checkNullifiers(
  { ledger, facts }: DecideInput,
  { nullifiers, manifestDigest }: RebuiltSpend,
): readonly Finding[] {
  const { usedNullifiers, deadSpends } = facts;
  const others = ledger
    .listNullifiers(nullifiers)
    .filter((entry) => entry.manifestDigest !== manifestDigest);
  const alive = others.find((entry) => deadSpends?.includes(entry.manifestDigest) !== true);
  return [
    usedNullifiers === undefined
      ? wait('notes-unspent', 'facts-unavailable')
      : check(
          'notes-unspent',
          !nullifiers.some((nullifier) => usedNullifiers.includes(nullifier)),
          'nullifier-used',
        ),
    alive !== undefined && deadSpends === undefined
      ? wait('notes-in-one-spend', 'facts-unavailable')
      : check(
          'notes-in-one-spend',
          alive === undefined,
          'nullifier-in-other-spend',
          `Its manifest is ${alive?.manifestDigest}.`,
        ),
  ];
}

/** What the ledger stores with an approval besides the guard. */
function listSpendHistory(
  input: DecideInput,
  manifest: RebuiltSpend,
  { id: guardId }: GuardEntry,
): Partial<LedgerHistory> {
  const { ledger, nowMs } = input;
  const { manifestDigest, deadline, nullifiers, sent: amount, address } = manifest;
  const scope = computeCountScope(manifest, address);
  return {
    counts: ledger.hasCounted(guardId)
      ? []
      : [{ guardId, scope, day: computeDay(nowMs), amount, atMs: nowMs }],
    pins: listPins(input, manifest),
    nullifiers: nullifiers.map((nullifier) => ({ nullifier, manifestDigest, deadline })),
  };
}
