/**
 * Every place where a crash could matter, by name. The pipeline calls `DisbursementDeps.onFaultPoint` at each of them.
 * Production ignores the call. Tests end the run or the whole process there and check that a restart still pays exactly
 * once.
 *
 * `*.before-…` is passed just before an effect is stored or leaves the process, `*.after-…` just after.
 *
 * @module
 */

export const faultPoints = [
  'started',
  'eligibility.entered',
  'eligibility.confirmed',
  'allowance.entered',
  'allowance.observed',
  'proving.entered',
  'manifest.before-store',
  'manifest.after-store',
  'proving.proved',
  'proving.after-store',
  'signing.entered',
  'release.before-store',
  'release.after-store',
  'vote.before-ask',
  'vote.asked',
  'vote.after-store',
  'vote.withdrawn',
  'batch.abandoned',
  'signing.signed',
  'signing.after-store',
  'approving-allowance.entered',
  'permit.signed',
  'permit.after-store',
  'approval.signed',
  'approval.after-store',
  'approval.sent',
  'approval.mined',
  'settling.entered',
  'settling.released',
  'settling.posted',
  'settling.observed',
  'void.signed',
  'void.after-store',
  'void.posted',
  'result.before-store',
  'result.after-store',
] as const;

export type FaultPoint = (typeof faultPoints)[number];
