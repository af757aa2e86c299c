/**
 * The release policy of this agent, its log, and the check of who prepares.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { type EvmChainSettings, PoolError } from '@pool/core';
import type { JobStorePlace } from '@pool/idempotency';
import { type CheckedDisbursement, openReleaseLog, type ReleaseDeps } from '@pool/operations';
import { assertFitsChains, findReleaseNeed, parseReleasePolicy } from '@pool/policy';

/**
 * @returns undefined: no policy is configured
 * @throws PoolError `invalid_policy`, and the errors of the log
 */
export async function openReleases(
  place: {
    readonly home: string;
    readonly jobs: JobStorePlace;
    readonly releasePolicy: string | undefined;
  },
  chains: ReadonlyMap<string, { readonly settings: EvmChainSettings }>,
): Promise<ReleaseDeps | undefined> {
  if (place.releasePolicy === undefined) {
    return undefined;
  }
  const policy = parseReleasePolicy(readPolicy(place.releasePolicy));
  assertFitsChains(
    policy,
    Object.fromEntries([...chains].map(([key, { settings }]) => [key, settings])),
  );
  return { policy, log: await openReleaseLog(place) };
}

function readPolicy(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new PoolError(
      'invalid_policy',
      'DISBURSE_RELEASE_POLICY names a file that cannot be read; nothing starts without it',
      { cause },
    );
  }
}

/** Before a job is accepted. The worker judges again, with what else was prepared. */
export function createPrepareCheck(
  releases: Pick<ReleaseDeps, 'policy'> | undefined,
): (checked: CheckedDisbursement, preparedBy: string) => void {
  return ({ context, tokenSymbol: token, recipients }, preparedBy) => {
    const decimals = context.settings.tokens[token]?.decimals;
    if (releases !== undefined && decimals !== undefined) {
      const amount = recipients.reduce((sum, one) => sum + BigInt(one.amount), 0n);
      const batch = { chain: context.key, token, decimals, preparedBy, amount };
      const need = findReleaseNeed(releases.policy, batch);
      if (need.kind === 'refused') {
        throw new PoolError('release_policy_refused', need.message);
      }
    }
  };
}
