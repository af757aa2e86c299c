/**
 * Shows that a sign-in waits for a vote at a custodian.
 *
 * @module
 */
import { formatSeconds, type Terminal } from '@pool/pay-run';
import type { SignInWait } from '@pool/platform-client/onboard';

/** One line on a terminal that is redrawn. A pipe gets a line with the id of the request, and one at each end of an outage. */
export function createVoteView({ isTty, write }: Terminal): {
  readonly show: (wait: SignInWait) => void;
  readonly end: () => void;
} {
  const startedAtMs = Date.now();
  let isShown = false;
  let toldId: string | undefined;
  let isDown = false;
  return {
    show({ state, code, providerId }) {
      const outage = `the custodian does not answer (${code ?? 'no code'}), trying again`;
      if (!isTty) {
        const wasDown = isDown;
        isDown = state === 'unreachable';
        if (isDown !== wasDown) {
          write(`${isDown ? outage : 'the custodian answers again'}\n`);
        }
        if (providerId !== undefined && providerId !== toldId) {
          toldId = providerId;
          write(`waiting for the vote on the sign-in at the custodian, request ${providerId}\n`);
        }
      } else {
        const what =
          state === 'unreachable'
            ? outage
            : state === 'signing'
              ? 'the custodian signs'
              : 'waiting for the vote on the sign-in at the custodian';
        isShown = true;
        write(`\r\u001b[K  ${what} ${formatSeconds((Date.now() - startedAtMs) / 1000)}`);
      }
    },
    end() {
      if (isShown) {
        write('\r\u001b[K');
      }
    },
  };
}
