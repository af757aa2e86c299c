/**
 * The agent's own API keys of the spend roles, and the error for a missing one.
 *
 * @module
 */
import { PoolError, type Secret, type SpendOperationName } from '@pool/core';
import type { HolderConfig } from '../../config/holder-config.ts';
import { variables } from '../../config/variables.ts';

const names = {
  transfer: variables.transferToken.name,
  send: variables.sendToken.name,
} as const satisfies Record<SpendOperationName, string>;

/** @throws PoolError `holder_unavailable`, which names the variable */
export function requireRoleToken(
  operation: SpendOperationName,
  { transferToken, sendToken }: Pick<HolderConfig, 'transferToken' | 'sendToken'>,
): Secret {
  const token = operation === 'transfer' ? transferToken : sendToken;
  if (token === undefined) {
    throw new PoolError(
      'holder_unavailable',
      `${names[operation]} is required for ${operation}: mint an API key with the capability holder.${operation}, set the variable and restart the agent`,
    );
  }
  return token;
}
