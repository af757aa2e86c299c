/**
 * Creates whose outcome is not known: the custodian may have taken them, and may not show them yet.
 *
 * @module
 */
import { isPoolError } from '@pool/core';
import type { HttpAnswer } from '@pool/http-client';

/** A request that was accepted is shown after this time. */
const settleMs = 60_000;

export type LostCreates = {
  /**
   * Sends a create. The id counts as lost until {@link LostCreates.settle}.
   * @returns undefined: it may have been accepted
   * @throws what `send` throws, unless it is a PoolError
   */
  send(externalId: string, send: () => Promise<HttpAnswer>): Promise<HttpAnswer | undefined>;
  /** The outcome of its create is known. */
  settle(externalId: string): void;
  /** True after a create whose outcome is unknown, until the custodian has had time to show it. */
  isUncertain(externalId: string): boolean;
};

export function createLostCreates(nowMs: () => number): LostCreates {
  /** By externalId: when a create was sent whose outcome is unknown. */
  const lostAtMs = new Map<string, number>();
  return {
    async send(externalId, send) {
      // From here on the request may be accepted, also when this call is aborted.
      lostAtMs.set(externalId, nowMs());
      const answer = await send().catch((error: unknown) => {
        if (isPoolError(error)) {
          return undefined;
        }
        throw error;
      });
      return answer === undefined || isUnknown(answer) ? undefined : answer;
    },
    settle: (externalId) => void lostAtMs.delete(externalId),
    isUncertain(externalId) {
      const sentAtMs = lostAtMs.get(externalId);
      return sentAtMs !== undefined && nowMs() - sentAtMs < settleMs;
    },
  };
}

/** Everything but a success and a 4xx; a 408 is a time-out, and says nothing about the work. */
function isUnknown({ status }: HttpAnswer): boolean {
  return status === 408 || status < 200 || status >= 500;
}
