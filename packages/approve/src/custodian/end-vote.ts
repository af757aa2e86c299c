/**
 * The end of a stored vote: the custodian shows it, shows another one, or shows nothing of the request any more. It is sent no more then.
 *
 * @module
 */
import type { Vote } from '@pool/policy';
import type { VotingDeps } from '../judge/judge.ts';

/** What the custodian shows in place of the stored vote, and what a person does then. */
type Difference = { readonly data: Readonly<Record<string, string>>; readonly message: string };

/** @param shown - `lost`: no such request. Undefined: the vote as it is stored */
export function endVote(
  { ledger, nowMs, log }: Pick<VotingDeps, 'ledger' | 'nowMs' | 'log'>,
  { id, requestId }: Vote,
  shown: Difference | 'lost' | undefined,
): void {
  ledger.markSeen(id, nowMs());
  if (shown === 'lost') {
    ledger.writeAudit('vote-lost', { requestId }, nowMs());
  } else if (shown !== undefined) {
    ledger.writeAudit('vote-differs', { requestId, ...shown.data }, nowMs());
    log.error({ request: requestId, ...shown.data }, shown.message);
  }
}
