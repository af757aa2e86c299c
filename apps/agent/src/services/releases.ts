/**
 * The release policy of this agent, its log, and the check of who prepares.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { type EvmChainSettings, formatTokenUnits, isPoolError, PoolError } from '@pool/core';
import type { JobStorePlace } from '@pool/idempotency';
import {
  type CheckedDisbursement,
  findReleaseLog,
  forecastRelease,
  openReleaseLog,
  type ReleaseDeps,
  type ReleaseLog,
  type ValidateDeps,
} from '@pool/operations';
import {
  assertFitsChains,
  findReleaseNeed,
  loopbackCredential,
  parseReleasePolicy,
  type ReleasePolicy,
} from '@pool/policy';

type ReleasePlace = {
  readonly home: string;
  readonly jobs: JobStorePlace;
  readonly releasePolicy: string | undefined;
};

type Chains = ReadonlyMap<string, { readonly settings: EvmChainSettings }>;

/**
 * @returns undefined: no policy is configured
 * @throws PoolError `invalid_policy`, and the errors of the log
 */
export async function openReleases(
  place: ReleasePlace,
  chains: Chains,
): Promise<ReleaseDeps | undefined> {
  const policy = loadReleasePolicy(place, chains);
  return policy && { policy, log: await openReleaseLog(place) };
}

/** For a command that only reads: makes no log. @throws as {@link openReleases} */
export async function findReleases(place: ReleasePlace, chains: Chains) {
  const policy = loadReleasePolicy(place, chains);
  return policy && { policy, log: await findReleaseLog(place) };
}

/**
 * @returns undefined: no policy is configured
 * @throws PoolError `invalid_policy` that names the place
 */
export function loadReleasePolicy(
  { releasePolicy: path }: Pick<ReleasePlace, 'releasePolicy'>,
  chains: Chains,
): ReleasePolicy | undefined {
  if (path === undefined) {
    return undefined;
  }
  try {
    const policy = parseReleasePolicy(readPolicy(path));
    assertFitsChains(
      policy,
      Object.fromEntries([...chains].map(([key, { settings }]) => [key, settings])),
    );
    return policy;
  } catch (error) {
    throw isPoolError(error)
      ? new PoolError('invalid_policy', `DISBURSE_RELEASE_POLICY=${path}: ${error.message}`, {
          cause: error,
        })
      : error;
  }
}

function readPolicy(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new PoolError(
      'invalid_policy',
      'the file cannot be read; the agent does not start without it',
      { cause },
    );
  }
}

/** One line for each rule, for people. */
export function describeRules({ rules }: ReleasePolicy): readonly string[] {
  return rules.map(
    ({ chain, token, from, required, people }) =>
      `${token} on ${chain} from ${from}: ${describeRequired(required, people)}`,
  );
}

function describeRequired(required: number, names: readonly string[]): string {
  return required === 0 ? 'nobody must release' : `${required} of ${names.join(', ')} must release`;
}

/** The rules, and what counts as prepared in the last 24 hours. @throws as {@link openReleases} */
export async function describeReleases(
  place: ReleasePlace,
  chains: Chains,
  nowMs: number,
): Promise<readonly string[]> {
  const releases = await findReleases(place, chains);
  if (releases === undefined) {
    return [];
  }
  const { policy, log } = releases;
  try {
    const units = new Map(policy.rules.map((rule) => [`${rule.token} on ${rule.chain}`, rule]));
    const today: string[] = [];
    for (const [unit, { chain, token }] of units) {
      const decimals = chains.get(chain)?.settings.tokens[token]?.decimals ?? 0;
      const planned = { chain, token, decimals, total: 0n, preparedBy: loopbackCredential };
      const { amount } = await forecastRelease(policy, log, planned, nowMs);
      today.push(`${formatTokenUnits(amount, decimals)} ${unit} was prepared in the last 24 hours`);
    }
    return [...describeRules(policy), ...today];
  } finally {
    await log?.close();
  }
}

/** For a check before the payment: which rule applies, and who must release it. */
export function createReleaseForecast(
  releases:
    | {
        readonly policy: ReleasePolicy;
        readonly log: Pick<ReleaseLog, 'listSince'> | undefined;
      }
    | undefined,
  nowMs: () => number,
): ValidateDeps['forecastRelease'] {
  if (releases === undefined) {
    return undefined;
  }
  const { policy, log } = releases;
  return async ({ context, token, total }, preparedBy) => {
    const { tokens } = context.settings;
    const symbol = Object.keys(tokens).find((name) => tokens[name]?.address === token.address);
    if (symbol === undefined) {
      return undefined;
    }
    const { decimals } = token;
    const payment = { chain: context.key, token: symbol, decimals, total, preparedBy };
    const { need, amount } = await forecastRelease(policy, log, payment, nowMs());
    if (need.kind === 'refused') {
      return { code: 'release_policy_refused', message: need.message };
    }
    const names = need.people.map(({ name }) => name);
    return need.required === 0
      ? undefined
      : {
          code: 'release_required',
          message: `${describeRequired(need.required, names)} within ${policy.waitHours} hours, or it is not paid: with what was prepared in the last 24 hours it is ${formatTokenUnits(amount, decimals)} ${symbol}, and the rule from ${need.from} of the release policy applies`,
          severity: 'warning',
        };
  };
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
