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
    ...lintTimes(policy, context.voteLimitSeconds),
    ...listPlaceholders(policy, ''),
    ...lintWallets(policy),
    ...policy.holders.flatMap((holder, index) => [...lintHolder(holder, `holders.${index}`)]),
  ];
}

type Findings = Generator<PolicyFinding, void>;

function* lintWhole({ funders, holders, employers, pools, evidence }: Policy): Findings {
  if (funders.length === 0 && holders.length === 0) {
    yield warning('', 'The policy lists no funder and no holder, so it allows nothing.');
  }
  if (funders.length > 0 && employers.length === 0) {
    yield warning('employers', 'No employer is listed, so every batch is refused.');
  }
  if (funders.length > 0 && pools.length === 0) {
    yield warning('pools', 'No pool is listed, so every batch is refused.');
  }
  if (!evidence.uri.startsWith('https://')) {
    yield warning('evidence.uri', 'The platform’s URI is not https: use this in development only.');
  }
  yield* listDuplicates('employers', employers);
  const addresses = funders.map(({ address }) => address);
  yield* listDuplicates('funders', addresses);
  const points = holders.map(({ walletPub }) => walletPub);
  yield* listDuplicates('holders', points);
  const places = pools.map(({ chainId, pool }) => `${chainId} ${pool}`);
  yield* listDuplicates('pools', places);
}

function* listDuplicates(
  path: string,
  values: readonly string[],
  explain = (place: string) =>
    error(place, 'This entry is in the list twice, and the first one counts.'),
): Findings {
  for (const [index, value] of values.entries()) {
    if (values.indexOf(value) < index) {
      yield explain(`${path}.${index}`);
    }
  }
}

function* lintPools({ pools, humanRelease }: Policy): Findings {
  for (const [index, { tokens }] of pools.entries()) {
    const listed = tokens.map(({ token }) => token);
    yield* listDuplicates(`pools.${index}.tokens`, listed);
    for (const [place, rule] of tokens.entries()) {
      yield* lintToken(rule, `pools.${index}.tokens.${place}`, humanRelease !== undefined);
    }
  }
}

function* lintToken(rule: TokenRule, path: string, hasPeople: boolean): Findings {
  const { maxPerRecipient, maxPerBatch, maxPerDay, holdAbove } = rule;
  if (BigInt(maxPerRecipient) > BigInt(maxPerBatch)) {
    yield warning(
      `${path}.maxPerRecipient`,
      'It is larger than maxPerBatch, so it limits nothing.',
    );
  }
  if (BigInt(maxPerBatch) > BigInt(maxPerDay)) {
    yield warning(`${path}.maxPerBatch`, 'It is larger than maxPerDay, so it limits nothing.');
  }
  if (holdAbove !== undefined && !hasPeople) {
    yield error(
      `${path}.holdAbove`,
      'Nobody can release a batch: add humanRelease, or remove this.',
    );
  }
  if (holdAbove !== undefined && BigInt(holdAbove) >= BigInt(maxPerBatch)) {
    yield warning(`${path}.holdAbove`, 'It is not below maxPerBatch, so no batch is ever held.');
  }
}

function* lintRecipients(policy: Policy): Findings {
  const { recipients, humanRelease, duplicateRoster, funders } = policy;
  const denied = new Set<string>(recipients?.deny ?? []);
  for (const [index, address] of (recipients?.allow ?? []).entries()) {
    if (denied.has(address)) {
      const path = `recipients.allow.${index}`;
      yield warning(path, 'The address is denied too, and deny outranks allow.');
    }
  }
  if (recipients?.allow?.length === 0) {
    yield warning(
      'recipients.allow',
      'The list is empty, so every batch is refused. Leave it out to allow everybody.',
    );
  }
  if (funders.length > 0 && recipients?.allow === undefined && humanRelease?.newPayee !== true) {
    yield warning(
      'recipients',
      'Nobody has to look at a new payee: an agent that was taken over can pay anybody up to the limits. List recipients, or set humanRelease.newPayee.',
    );
  }
  if (duplicateRoster === undefined && funders.length > 0) {
    yield warning(
      'duplicateRoster',
      'A roster that is paid twice is not noticed. Set days and an action.',
    );
  }
  if (duplicateRoster?.action === 'hold' && humanRelease === undefined) {
    const path = 'duplicateRoster.action';
    yield error(path, 'Nobody can release a batch: add humanRelease, or use deny.');
  }
}

function* lintPeople({ humanRelease, policyChange }: Policy): Findings {
  const keys = (humanRelease?.people ?? []).map(({ publicKey }) => publicKey);
  const different = new Set(keys).size;
  if (policyChange !== undefined && different < policyChange.people) {
    yield error(
      'policyChange.people',
      'humanRelease.people has fewer different keys than this, so the policy could never change.',
    );
    return;
  }
  yield* listDuplicates('humanRelease.people', keys, (path) =>
    warning(path, 'Another person has the same key: the two count as one.'),
  );
  if (humanRelease !== undefined && different < humanRelease.required) {
    yield error('humanRelease.required', 'There are fewer different keys than this.');
  }
}

function* lintTimes(policy: Policy, voteLimitSeconds: number | undefined): Findings {
  const { workingHours, deadline, maxBatchAgeSeconds, funders } = policy;
  if (workingHours !== undefined && workingHours.from >= workingHours.to) {
    yield error('workingHours.to', 'It is not later than from, so no time is within the hours.');
  }
  if (deadline.minSeconds > deadline.maxSeconds) {
    yield error('deadline.minSeconds', 'It is larger than maxSeconds.');
  }
  if (maxBatchAgeSeconds === 0) {
    yield error('maxBatchAgeSeconds', 'It is 0, so every batch is too old.');
  }
  // The agent gives a batch an hour and the vote limit, so a shorter window refuses every batch.
  const least = (voteLimitSeconds ?? 0) + 3_600;
  if (voteLimitSeconds !== undefined && funders.length > 0 && deadline.maxSeconds < least) {
    yield error(
      'deadline.maxSeconds',
      `It is below ${least}: the vote limit of ${voteLimitSeconds} seconds and one hour. The deadline of every batch would be too far.`,
    );
  }
}

/** Values of the examples: one digit repeated, a UUID of zeros, or the word REPLACE. */
const placeholder = /^0x([0-9a-f])\1{19,}$|^0{8}-0{4}-|replace/i;

/** Whoever made an example's key could release batches, and an example's wallet belongs to nobody. */
function* listPlaceholders(value: unknown, path: string): Findings {
  if (typeof value === 'string' && placeholder.test(value)) {
    yield error(path, 'This is a placeholder of an example. Write your own value.');
  }
  if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) {
      yield* listPlaceholders(child, path === '' ? key : `${path}.${key}`);
    }
  }
}

/** One wallet has one role: a digest that a holder signs could otherwise be a funder's authorisation. */
function* lintWallets({ funders, holders }: Policy): Findings {
  for (const [index, { walletPub }] of holders.entries()) {
    if (funders.some(({ address }) => address === computeWalletAddress(walletPub))) {
      const path = `holders.${index}.walletPub`;
      yield error(path, 'The wallet is a funder too. Use a wallet of its own.');
    }
  }
  const rules = [
    ...funders.map((rule, index) => [`funders.${index}`, rule] as const),
    ...holders.map((rule, index) => [`holders.${index}`, rule] as const),
  ];
  const seen = new Set<string>();
  for (const [path, { wallets }] of rules) {
    for (const wallet of wallets) {
      if (seen.has(wallet)) {
        yield error(`${path}.wallets`, 'A custodian wallet id is listed for two wallets.');
      }
      seen.add(wallet);
    }
  }
  for (const [rule, { wallets, initiators }] of rules) {
    if (wallets.length > 0 && initiators.length === 0) {
      const path = `${rule}.initiators`;
      yield warning(path, 'No user is listed, so every request of a custodian is refused.');
    }
  }
}

function* lintHolder(holder: HolderRule, path: string): Findings {
  const { spend, signIn, encryptionPublicKeys } = holder;
  const keys = `${path}.encryptionPublicKeys`;
  if (spend !== undefined && encryptionPublicKeys.length === 0) {
    yield error(keys, 'A spend needs a P for its change. List the holder’s.');
  }
  for (const [index, walletPub] of (spend?.transferTo ?? []).entries()) {
    if (!isPoint(walletPub)) {
      const place = `${path}.spend.transferTo.${index}`;
      yield error(place, 'This is not a public key on secp256k1.');
    }
  }
  for (const [index, { maxPerCall, maxPerDay }] of (spend?.assets ?? []).entries()) {
    if (BigInt(maxPerCall) > BigInt(maxPerDay)) {
      const place = `${path}.spend.assets.${index}.maxPerCall`;
      yield warning(place, 'It is larger than maxPerDay, so it limits nothing.');
    }
  }
  if (spend !== undefined && spend.sendTo.length + spend.transferTo.length === 0) {
    const place = `${path}.spend`;
    yield warning(place, 'It lists no destination and no wallet, so only merges are signed.');
  }
  if (signIn !== undefined && encryptionPublicKeys.length === 0) {
    yield warning(keys, 'Without a P, the holder can sign in and not enrol.');
  }
}

function isPoint(walletPub: string): boolean {
  try {
    parseWalletPub(walletPub);
    return true;
  } catch {
    return false;
  }
}
