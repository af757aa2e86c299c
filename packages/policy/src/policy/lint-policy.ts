/**
 * Finds what a valid policy file probably does not mean: rules that contradict each other, and rules that are missing.
 *
 * @module
 */
import { computeWalletAddress, isPoolError, parseWalletPub } from '@pool/core';
import type { HolderRule } from './holder-rule.ts';
import { type Policy, parsePolicy, type TokenRule } from './policy-schema.ts';

export type PolicyFinding = {
  /** `error`: the policy cannot be used. `warning`: somebody should look at it. */
  readonly severity: 'error' | 'warning';
  /** Place in the file, for example `pools.0.tokens.1.maxPerDay`. Empty: the whole file. */
  readonly path: string;
  readonly message: string;
};

function error(path: string, message: string): PolicyFinding {
  return { severity: 'error', path, message };
}

function warning(path: string, message: string): PolicyFinding {
  return { severity: 'warning', path, message };
}

/**
 * @param value - the parsed JSON of a policy file
 * @param context.voteLimitSeconds - how long a vote may take, where a custodian votes
 */
export function lintPolicy(
  value: unknown,
  context: { readonly voteLimitSeconds?: number } = {},
): readonly PolicyFinding[] {
  let policy: Policy;
  try {
    policy = parsePolicy(value);
  } catch (cause) {
    if (!isPoolError(cause)) {
      throw cause;
    }
    return [error('', cause.message)];
  }
  return [
    ...lintWhole(policy),
    ...lintPools(policy),
    ...lintRecipients(policy),
    ...lintPeople(policy),
    ...lintTimes(policy),
    ...lintVoteLimit(policy, context.voteLimitSeconds),
    ...listPlaceholders(policy, ''),
    ...lintWallets(policy),
    ...policy.holders.flatMap((holder, index) => lintHolder(holder, `holders.${index}`)),
  ];
}

function lintWhole(policy: Policy): readonly PolicyFinding[] {
  const findings: PolicyFinding[] = [];
  if (policy.funders.length === 0 && policy.holders.length === 0) {
    findings.push(warning('', 'The policy lists no funder and no holder, so it allows nothing.'));
  }
  if (policy.funders.length > 0 && policy.employers.length === 0) {
    findings.push(warning('employers', 'No employer is listed, so every batch is refused.'));
  }
  if (policy.funders.length > 0 && policy.pools.length === 0) {
    findings.push(warning('pools', 'No pool is listed, so every batch is refused.'));
  }
  if (!policy.evidence.uri.startsWith('https://')) {
    findings.push(
      warning('evidence.uri', 'The platform’s URI is not https: use this in development only.'),
    );
  }
  return [
    ...findings,
    ...listDuplicates('employers', policy.employers),
    ...listDuplicates(
      'funders',
      policy.funders.map(({ address }) => address),
    ),
    ...listDuplicates(
      'holders',
      policy.holders.map(({ walletPub }) => walletPub),
    ),
    ...listDuplicates(
      'pools',
      policy.pools.map(({ chainId, pool }) => `${chainId} ${pool}`),
    ),
  ];
}

function listDuplicates(path: string, values: readonly string[]): readonly PolicyFinding[] {
  return values.flatMap((value, index) =>
    values.indexOf(value) < index
      ? [error(`${path}.${index}`, 'This entry is in the list twice, and the first one counts.')]
      : [],
  );
}

function lintPools(policy: Policy): readonly PolicyFinding[] {
  return policy.pools.flatMap((entry, index) => {
    const path = `pools.${index}.tokens`;
    const tokens = entry.tokens.map(({ token }) => token);
    return [
      ...listDuplicates(path, tokens),
      ...entry.tokens.flatMap((rule, place) => lintToken(policy, rule, `${path}.${place}`)),
    ];
  });
}

function lintToken(policy: Policy, rule: TokenRule, path: string): readonly PolicyFinding[] {
  const findings: PolicyFinding[] = [];
  const { maxPerRecipient, maxPerBatch, maxPerDay, holdAbove } = rule;
  if (BigInt(maxPerRecipient) > BigInt(maxPerBatch)) {
    findings.push(
      warning(`${path}.maxPerRecipient`, 'It is larger than maxPerBatch, so it limits nothing.'),
    );
  }
  if (BigInt(maxPerBatch) > BigInt(maxPerDay)) {
    findings.push(
      warning(`${path}.maxPerBatch`, 'It is larger than maxPerDay, so it limits nothing.'),
    );
  }
  if (holdAbove !== undefined && policy.humanRelease === undefined) {
    findings.push(
      error(`${path}.holdAbove`, 'Nobody can release a batch: add humanRelease, or remove this.'),
    );
  }
  if (holdAbove !== undefined && BigInt(holdAbove) >= BigInt(maxPerBatch)) {
    findings.push(
      warning(`${path}.holdAbove`, 'It is not below maxPerBatch, so no batch is ever held.'),
    );
  }
  return findings;
}

function lintRecipients(policy: Policy): readonly PolicyFinding[] {
  const { recipients, humanRelease, duplicateRoster, funders } = policy;
  const findings: PolicyFinding[] = [];
  const denied = new Set<string>(recipients?.deny ?? []);
  for (const [index, address] of (recipients?.allow ?? []).entries()) {
    if (denied.has(address)) {
      findings.push(
        warning(`recipients.allow.${index}`, 'The address is denied too, and deny outranks allow.'),
      );
    }
  }
  if (recipients?.allow?.length === 0) {
    findings.push(
      warning(
        'recipients.allow',
        'The list is empty, so every batch is refused. Leave it out to allow everybody.',
      ),
    );
  }
  if (funders.length > 0 && recipients?.allow === undefined && humanRelease?.newPayee !== true) {
    findings.push(
      warning(
        'recipients',
        'Nobody has to look at a new payee: an agent that was taken over can pay anybody up to the limits. List recipients, or set humanRelease.newPayee.',
      ),
    );
  }
  if (duplicateRoster === undefined && funders.length > 0) {
    findings.push(
      warning(
        'duplicateRoster',
        'A roster that is paid twice is not noticed. Set days and an action.',
      ),
    );
  }
  if (duplicateRoster?.action === 'hold' && humanRelease === undefined) {
    findings.push(
      error('duplicateRoster.action', 'Nobody can release a batch: add humanRelease, or use deny.'),
    );
  }
  return findings;
}

function lintPeople({ humanRelease, policyChange }: Policy): readonly PolicyFinding[] {
  const keys = (humanRelease?.people ?? []).map(({ publicKey }) => publicKey);
  if (policyChange !== undefined && new Set(keys).size < policyChange.people) {
    return [
      error(
        'policyChange.people',
        'humanRelease.people has fewer different keys than this, so the policy could never change.',
      ),
    ];
  }
  if (humanRelease === undefined) {
    return [];
  }
  const findings = keys.flatMap((key, index) =>
    keys.indexOf(key) < index
      ? [
          warning(
            `humanRelease.people.${index}`,
            'Another person has the same key: the two count as one.',
          ),
        ]
      : [],
  );
  return new Set(keys).size < humanRelease.required
    ? [...findings, error('humanRelease.required', 'There are fewer different keys than this.')]
    : findings;
}

function lintTimes({
  workingHours,
  deadline,
  maxBatchAgeSeconds,
}: Policy): readonly PolicyFinding[] {
  const findings: PolicyFinding[] = [];
  if (workingHours !== undefined && workingHours.from >= workingHours.to) {
    findings.push(
      error('workingHours.to', 'It is not later than from, so no time is within the hours.'),
    );
  }
  if (deadline.minSeconds > deadline.maxSeconds) {
    findings.push(error('deadline.minSeconds', 'It is larger than maxSeconds.'));
  }
  if (maxBatchAgeSeconds === 0) {
    findings.push(error('maxBatchAgeSeconds', 'It is 0, so every batch is too old.'));
  }
  return findings;
}

/** The agent gives a batch an hour and the vote limit, so a shorter window refuses every batch. */
function lintVoteLimit(
  { funders, deadline }: Policy,
  voteLimitSeconds: number | undefined,
): readonly PolicyFinding[] {
  if (voteLimitSeconds === undefined || funders.length === 0) {
    return [];
  }
  const least = voteLimitSeconds + 3_600;
  return deadline.maxSeconds >= least
    ? []
    : [
        error(
          'deadline.maxSeconds',
          `It is below ${least}: the vote limit of ${voteLimitSeconds} seconds and one hour. The deadline of every batch would be too far.`,
        ),
      ];
}

/** Values of the examples: one digit repeated, a UUID of zeros, or the word REPLACE. */
const placeholder = /^0x([0-9a-f])\1{19,}$|^0{8}-0{4}-|replace/i;

/** Whoever made an example's key could release batches, and an example's wallet belongs to nobody. */
function listPlaceholders(value: unknown, path: string): readonly PolicyFinding[] {
  if (typeof value === 'string') {
    return placeholder.test(value)
      ? [error(path, 'This is a placeholder of an example. Write your own value.')]
      : [];
  }
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, child]) =>
        listPlaceholders(child, path === '' ? key : `${path}.${key}`),
      )
    : [];
}

/** One wallet has one role: a digest that a holder signs could otherwise be a funder's authorisation. */
function lintWallets(policy: Policy): readonly PolicyFinding[] {
  const funders = new Set<string>(policy.funders.map(({ address }) => address));
  const shared = policy.holders.flatMap(({ walletPub }, index) =>
    funders.has(computeWalletAddress(walletPub))
      ? [
          error(
            `holders.${index}.walletPub`,
            'The wallet is a funder too. Use a wallet of its own.',
          ),
        ]
      : [],
  );
  const ids = [
    ...policy.funders.map(({ wallets }, index) => [`funders.${index}.wallets`, wallets] as const),
    ...policy.holders.map(({ wallets }, index) => [`holders.${index}.wallets`, wallets] as const),
  ];
  const seen = new Set<string>();
  const repeated = ids.flatMap(([path, wallets]) =>
    wallets.flatMap((wallet) => {
      const isKnown = seen.has(wallet);
      seen.add(wallet);
      return isKnown ? [error(path, 'A custodian wallet id is listed for two wallets.')] : [];
    }),
  );
  const rules = [
    ...policy.funders.map((rule, index) => [`funders.${index}`, rule] as const),
    ...policy.holders.map((rule, index) => [`holders.${index}`, rule] as const),
  ];
  const halves = rules.flatMap(([path, { wallets, initiators }]) =>
    wallets.length > 0 && initiators.length === 0
      ? [
          warning(
            `${path}.initiators`,
            'No user is listed, so every request of a custodian is refused.',
          ),
        ]
      : [],
  );
  return [...shared, ...repeated, ...halves];
}

function lintHolder(holder: HolderRule, path: string): readonly PolicyFinding[] {
  const findings: PolicyFinding[] = [];
  const { spend, signIn, encryptionPublicKeys } = holder;
  if (spend !== undefined && encryptionPublicKeys.length === 0) {
    findings.push(
      error(`${path}.encryptionPublicKeys`, 'A spend needs a P for its change. List the holder’s.'),
    );
  }
  for (const [index, walletPub] of (spend?.transferTo ?? []).entries()) {
    if (!isPoint(walletPub)) {
      findings.push(
        error(`${path}.spend.transferTo.${index}`, 'This is not a public key on secp256k1.'),
      );
    }
  }
  for (const [index, { maxPerCall, maxPerDay }] of (spend?.assets ?? []).entries()) {
    if (BigInt(maxPerCall) > BigInt(maxPerDay)) {
      findings.push(
        warning(
          `${path}.spend.assets.${index}.maxPerCall`,
          'It is larger than maxPerDay, so it limits nothing.',
        ),
      );
    }
  }
  if (spend !== undefined && spend.sendTo.length + spend.transferTo.length === 0) {
    findings.push(
      warning(`${path}.spend`, 'It lists no destination and no wallet, so only merges are signed.'),
    );
  }
  if (signIn !== undefined && encryptionPublicKeys.length === 0) {
    findings.push(
      warning(`${path}.encryptionPublicKeys`, 'Without a P, the holder can sign in and not enrol.'),
    );
  }
  return findings;
}

function isPoint(walletPub: string): boolean {
  try {
    parseWalletPub(walletPub);
    return true;
  } catch {
    return false;
  }
}
