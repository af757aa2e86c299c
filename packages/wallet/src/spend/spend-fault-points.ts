/**
 * Every place of a spend where a crash could matter, by name. `SpendDeps.onFaultPoint` is called at each of them. Production ignores the
 * call. Tests end the process there and check that nobody is paid twice and no change is lost.
 *
 * `*.before-…` is passed just before an effect is stored or leaves the process, `*.after-…` just after.
 *
 * @module
 */

export const spendFaultPoints = [
  'started',
  'checked',
  'archive.before-store',
  'archive.after-store',
  'key.after-claim',
  'key.after-bind',
  'signature.before-ask',
  'signature.before-store',
  'signature.after-store',
  'proof.made',
  'release.before-store',
  'release.after-store',
  'spend.posted',
  'outcome.observed',
  'outcome.before-store',
  'outcome.after-store',
] as const;

export type SpendFaultPoint = (typeof spendFaultPoints)[number];
