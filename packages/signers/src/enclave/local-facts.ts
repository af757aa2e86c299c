/**
 * What an enclave can say about the chain without a node. A node behind the host's network would say what the host likes, so none is asked:
 * the contract refuses a used batch and a used nullifier anyway. An earlier attempt whose authorisation this key never signed cannot be
 * paid; one that it signed may have been, so no other attempt follows it (docs/decisions/0015).
 *
 * @module
 */
import {
  type BatchQuestion,
  deadMarginSeconds,
  type Facts,
  type LedgerView,
  listFactQuestions,
  type RebuiltManifest,
} from '@pool/policy';

/** How far the own clock may be from that of the secure module, as from a block. */
const maxDifferenceSeconds = 300;

/** No block tells the time. The secure module does. @param moduleMs - undefined: it does not answer */
export function createLocalClock(moduleMs: number | undefined): Pick<Facts, 'clock'> {
  return moduleMs === undefined
    ? {}
    : { clock: [{ blockSeconds: Math.floor(moduleMs / 1000), maxDifferenceSeconds }] };
}

export function computeLocalFacts(
  manifest: RebuiltManifest,
  ledger: LedgerView,
  nowMs: number,
): Omit<Facts, 'clock'> {
  const { previousAttempt, earlierSpends } = listFactQuestions(manifest, ledger);
  const isOver = (deadline: number): boolean => nowMs > 1000 * (deadline + deadMarginSeconds);
  return {
    batch: 'open',
    previousAttempt:
      previousAttempt !== undefined && isUnsigned(previousAttempt, ledger) ? 'dead' : undefined,
    usedNullifiers: [],
    deadSpends: earlierSpends
      .filter(({ deadline }) => isOver(deadline))
      .map(({ manifestDigest }) => manifestDigest),
  };
}

/** The attempt is stored, so that it is refused once a later one is, and its authorisation was never signed. */
function isUnsigned(attempt: BatchQuestion, ledger: LedgerView): boolean {
  const { chainId, pool, funder, batchNonce, isApproved } = attempt;
  return !isApproved && ledger.findBatch(chainId, pool, funder, batchNonce) !== undefined;
}
