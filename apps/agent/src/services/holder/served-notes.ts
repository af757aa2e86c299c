/**
 * The platform's listing of sealed notes, read with the agent's own `holder.read` key (`DISBURSE_BALANCE_TOKEN`). The key that a
 * caller sends is only verified: it never reaches the platform's notes.
 *
 * @module
 */
import {
  errorCodeOf,
  isPoolError,
  PoolError,
  platformInvalidResponse,
  type Secret,
} from '@pool/core';
import { createEdgeClient, type EdgeClient } from '@pool/platform-client';
import type { DeliveryPort } from '@pool/wallet';
import { variables } from '../../config/variables.ts';

/** @throws PoolError `holder_unavailable` */
export function createDeliveries(input: {
  readonly platformUrl: string;
  readonly balanceToken: Secret | undefined;
  readonly chain: string;
  readonly createClient?: (token: Secret) => Pick<EdgeClient, 'getNotes'>;
}): DeliveryPort {
  const { platformUrl, balanceToken, chain } = input;
  const { createClient = (token) => createEdgeClient({ url: platformUrl, token }) } = input;
  if (balanceToken === undefined) {
    throw createTokenMissing();
  }
  const client = createClient(balanceToken);
  return {
    async fetchPage(token, cursor) {
      try {
        return await client.getNotes({
          ...{ chain, token },
          ...(cursor === undefined ? {} : { cursor }),
        });
      } catch (cause) {
        throw explainFailure(cause);
      }
    },
  };
}

export function createTokenMissing(): PoolError {
  return new PoolError(
    'holder_unavailable',
    `${variables.balanceToken.name} is required for the balance: mint an API key with the capability holder.read, set the variable and restart the agent`,
  );
}

/** The caller's own credential is in order, so no 401 or 403 of the platform is passed on. */
function explainFailure(cause: unknown): PoolError {
  const code = errorCodeOf(cause) ?? 'unknown';
  const status = isPoolError(cause) ? cause.status : 500;
  if (code === 'unauthorized' || code === 'forbidden') {
    return new PoolError(
      'holder_unavailable',
      `the platform refuses ${variables.balanceToken.name}: mint a holder.read key with the holder's wallet, set the variable and restart the agent`,
      { cause },
    );
  }
  if (
    isPoolError(cause) &&
    (code === platformInvalidResponse || (status < 500 && !cause.retryable))
  ) {
    return new PoolError(
      platformInvalidResponse,
      `the platform refuses to list the holder's notes, with ${code}; check that its chains and tokens are those of chains.json`,
      { cause },
    );
  }
  return new PoolError(
    'platform_unreachable',
    "the platform does not list the holder's notes now; try again",
    { cause, details: { reason: code } },
  );
}
