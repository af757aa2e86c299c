/**
 * What an enclave can say about the chain without a node. A node behind the host's network would say what the host likes, so none is asked:
 * the contract refuses a used batch and a used nullifier anyway. An earlier attempt whose authorisation this key never signed cannot be
 * paid; one that it signed may have been, so no other attempt follows it (docs/decisions/0058, §13).
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

/** No block tells the time: only the ledger can contradict the clock. */
export const localClock: Facts = { clock: [] };

export function computeLocalFacts(
  manifest: RebuiltManifest,
  ledger: LedgerView,
  nowMs: number,
): Facts {
  const { previousAttempt, earlierSpends } = listFactQuestions(manifest, ledger);
  const isOver = (deadline: number): boolean => nowMs > 1000 * (deadline + deadMarginSeconds);
  return {
    ...localClock,
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
