/**
 * Whether a manifest may be stored: listed wallet, pool, token and employer, a deadline that is not too far, and one manifest for each
 * attempt of a job. Limits of amounts are not asked here, so that `approve check` can explain a manifest that breaks them.
 *
 * @module
 */

import type { LedgerView } from '../history/ledger-view.ts';
import type { Policy } from '../policy/policy-schema.ts';
import type { RebuiltFund, RebuiltManifest, RebuiltSpend } from '../rebuild/rebuild-manifest.ts';
import type { DecisionReason } from '../requests/reasons.ts';
import { checkAttempts, checkFarDeadline, findTokenRule } from '../rules/check-batch.ts';
import { checkClock } from '../rules/check-clock.ts';
import type { Facts } from '../rules/fact-questions.ts';
import { check, conclude, type Finding } from '../rules/findings.ts';

export type IntakeInput = {
  readonly manifest: RebuiltManifest;
  readonly policy: Policy;
  readonly ledger: LedgerView;
  /** `clock`, where a node answered; `previousAttempt` for an attempt above 1. */
  readonly facts: Facts;
  /** The process's own clock, milliseconds since the epoch. */
  readonly nowMs: number;
};

/** Whether a manifest may be stored. */
export type IntakeVerdict =
  | { readonly kind: 'store' }
  | {
      readonly kind: 'refuse' | 'later';
      readonly reason: DecisionReason;
      readonly message: string;
    };

export function decideIntake(input: IntakeInput): IntakeVerdict {
  const { manifest, ledger } = input;
  if (ledger.findManifest(manifest.manifestDigest) !== undefined) {
    return { kind: 'store' };
  }
  // A manifest can be stored without a node. A clock that is known to be wrong would date it wrongly, or refuse it for its deadline.
  const clock = checkClock({ ...input, facts: { clock: input.facts.clock ?? [] } });
  const findings = [
    clock,
    ...(manifest.kind === 'fund'
      ? checkFundIntake(input, manifest)
      : checkSpendIntake(input, manifest)),
  ];
  const decision = conclude(clock.verdict === 'pass' ? findings : findings.slice(0, 1), undefined);
  const isRefused = findings.some(({ verdict }) => verdict !== 'pass');
  if (!isRefused || decision.kind === 'approve') {
    return { kind: 'store' };
  }
  const { kind, reason, message } = decision;
  return { kind: kind === 'later' ? kind : 'refuse', reason, message };
}

function checkFundIntake(input: IntakeInput, manifest: RebuiltFund): readonly Finding[] {
  const { policy } = input;
  const isFunder = policy.funders.some(({ address }) => address === manifest.funder);
  return [
    check('funder', isFunder, 'funder-not-listed'),
    check('token', findTokenRule(policy, manifest) !== undefined, 'token-not-listed'),
    check('employer', policy.employers.includes(manifest.employerId), 'employer-not-listed'),
    // The deadline is in the file, beside the manifest and its seed.
    checkFarDeadline(input, manifest.file.deadline),
    ...checkAttempts(input, manifest),
  ];
}

function checkSpendIntake(input: IntakeInput, manifest: RebuiltSpend): readonly Finding[] {
  const { policy } = input;
  const holder = policy.holders.find(({ walletPub }) => walletPub === manifest.walletPub);
  const { chainId, pool, token } = manifest;
  const isAllowed = holder?.spend?.assets.some(
    (asset) => asset.chainId === chainId && asset.pool === pool && asset.token === token,
  );
  return [
    check('holder', holder !== undefined, 'holder-not-listed'),
    check('spend-allowed', isAllowed === true, 'spend-not-allowed'),
    checkFarDeadline(input, manifest.deadline),
  ];
}
