/**
 * The checks of a disbursement, in their order: body, chain, token, batch size; then amount, address and duplicate of each
 * recipient in request order; then registration (docs/decisions/0007). `disburse` answers the first issue and a
 * validation report lists all of them. Both read the same sequence.
 *
 * @module
 */
import {
  type Amount,
  assertAmount,
  canonicalDigest,
  chainFamilies,
  chooseBatchSize,
  type EvmAddress,
  isPoolError,
  maxAmount,
  PoolError,
  parseAmount,
  type ReadRequest,
  type SkippedRecipient,
  stepRequest,
  type TokenSettings,
} from '@pool/core';
import { createPace } from '@pool/wallet';
import type { ChainContext } from '../ports.ts';
import { type AddressedEntry, type Registered, walkRegistration } from './check-registration.ts';
import type {
  CheckDeps,
  CheckedDisbursement,
  CheckReport,
  Issue,
  KeyRotation,
  PaymentTarget,
} from './checks.ts';

/** For `disburse`. @throws PoolError the first issue */
export async function checkDisbursement(
  body: unknown,
  deps: CheckDeps,
): Promise<CheckedDisbursement> {
  const steps = walkChecks(body, deps);
  const first = await steps.next();
  if (first.done === true && first.value !== undefined) {
    return withDigest(first.value, body);
  }
  throw toError(first.done === true ? undefined : first.value);
}

/** All issues. For validation and dry runs. */
export async function collectIssues(body: unknown, deps: CheckDeps): Promise<CheckReport> {
  const issues: Issue[] = [];
  let target: PaymentTarget | undefined;
  let rotations: readonly KeyRotation[] = [];
  let skipped: readonly SkippedRecipient[] = [];
  const steps = walkChecks(body, deps, {
    onTarget: (found) => {
      target = found;
    },
    onRegistered: (found) => {
      ({ rotations, skipped } = found);
    },
  });
  try {
    for (;;) {
      const step = await steps.next();
      if (step.done === true) {
        const checked =
          issues.length === 0 && step.value !== undefined
            ? withDigest(step.value, body)
            : undefined;
        return { issues, checked, target, rotations, skipped, interrupted: undefined };
      }
      issues.push(step.value);
    }
  } catch (error) {
    if (isPoolError(error) && error.status === 503) {
      return { issues, checked: undefined, target, rotations, skipped, interrupted: error };
    }
    throw error;
  }
}

function toError(issue: Issue | undefined): PoolError {
  return issue === undefined
    ? new PoolError('internal_error', 'the check ended without a verdict')
    : new PoolError(issue.code, issue.message, {
        ...(issue.requestIndex < 0 ? {} : { details: { requestIndex: issue.requestIndex } }),
      });
}

type Undigested = Omit<CheckedDisbursement, 'requestDigest'>;

/** Only a body without issues is digested: text with an unpaired surrogate has no canonical form. */
function withDigest(checked: Undigested, body: unknown): CheckedDisbursement {
  return { requestDigest: canonicalDigest(body), ...checked };
}

type Checks<T> = AsyncGenerator<Issue, T, undefined>;

/** Receives what is known about a request, even if it has other issues. */
type Observer = {
  /** Called before any service is asked. */
  onTarget(target: PaymentTarget): void;
  onRegistered(found: Pick<Registered, 'rotations' | 'skipped'>): void;
};

/** Yields issues in the specified order. The returned request is valid only if no issue was yielded. */
async function* walkChecks(
  body: unknown,
  deps: CheckDeps,
  observer?: Observer,
): Checks<Undigested | undefined> {
  const request = yield* readRequest(body);
  if (request === undefined) {
    return undefined;
  }

  const route = await deps.routeChain(request.chain);
  if (route.kind === 'invalid') {
    yield { requestIndex: -1, code: 'invalid-chain', message: route.reason };
    // Addresses and registration depend on the chain. Amounts do not.
    yield* walkRecipients(request, undefined);
    return undefined;
  }
  const { context, maxRecipients } = route;

  const token = findToken(context, request.token);
  if (token === undefined) {
    yield {
      requestIndex: -1,
      code: 'invalid-token',
      message: `token must be a symbol configured for chain ${context.key}: ${listTokens(context)}`,
    };
  }

  const isTooLarge =
    request.recipients.length > maxRecipients ||
    chooseBatchSize(request.recipients.length) === undefined;
  if (isTooLarge) {
    yield {
      requestIndex: -1,
      code: 'batch-too-large',
      message: `a call may list at most ${maxRecipients} recipients on chain ${context.key}; split the roster and give each call its own Idempotency-Key`,
    };
  }

  const { entries, total } = yield* walkRecipients(
    request,
    chainFamilies[context.settings.family].parseAddress,
  );
  if (token !== undefined) {
    observer?.onTarget({ context, token, total });
  }
  const { recipients, skipped, skippedTotal, rotations } = yield* walkRegistration(
    request,
    entries,
    context,
    deps,
  );
  observer?.onRegistered({ rotations, skipped });
  // An address that does not parse may hold text that has no canonical JSON; it was reported.
  const areParsed = entries.length === request.recipients.length;
  const isPayable = token !== undefined && !isTooLarge && areParsed && recipients.length > 0;
  if (!isPayable || !request.isWellFormed) {
    return undefined;
  }
  return {
    context,
    tokenSymbol: request.token,
    recipients,
    skipped,
    rotations,
    total: assertAmount(total - skippedTotal),
  };
}

/** The form of the body. @returns undefined: it is malformed as a whole. Single recipients may be malformed too. */
async function* readRequest(body: unknown): Checks<ReadRequest | undefined> {
  const pace = createPace();
  const code = 'invalid_request' as const;
  try {
    const steps = stepRequest(body);
    for (;;) {
      const step = steps.next();
      if (step.done === true) {
        return step.value;
      }
      if (step.value !== undefined) {
        yield { ...step.value, code };
      }
      await pace();
    }
  } catch (error) {
    yield { requestIndex: -1, code, message: messageOf(error) };
    return undefined;
  }
}

/**
 * Amount, address, duplicate, per recipient in request order.
 * @param parseAddress - undefined: the chain is not known, so addresses are not checked
 * @returns the entries whose address is valid and not a duplicate, and the sum of the amounts without an issue
 */
async function* walkRecipients(
  request: ReadRequest,
  parseAddress: ((text: string) => EvmAddress) | undefined,
): Checks<{ readonly entries: readonly AddressedEntry[]; readonly total: Amount }> {
  const entries: AddressedEntry[] = [];
  const firstSeen = new Map<EvmAddress, number>();
  const pace = createPace();
  let total = 0n;
  for (const [requestIndex, entry] of request.recipients.entries()) {
    await pace();
    const where = `recipients[${requestIndex}]`;
    const { recipientAddress, amount: amountText, ...carried } = entry;
    let amount: Amount | undefined;
    let address: EvmAddress | undefined;
    // A field that is not a string was reported as malformed.
    try {
      amount = amountText === undefined ? undefined : parseAmount(amountText);
    } catch (error) {
      yield { requestIndex, code: 'invalid-amount', message: `${where}: ${messageOf(error)}` };
    }
    if (amount !== undefined && total + amount > maxAmount) {
      yield {
        requestIndex,
        code: 'invalid-amount',
        message: `${where}: with this amount the batch total exceeds 2^128-1`,
      };
      amount = undefined;
    }
    total += amount ?? 0n;
    if (parseAddress === undefined || recipientAddress === undefined) {
      continue;
    }
    try {
      address = parseAddress(recipientAddress);
    } catch (error) {
      yield { requestIndex, code: 'invalid-address', message: `${where}: ${messageOf(error)}` };
      continue;
    }
    const earlier = firstSeen.get(address);
    if (earlier !== undefined) {
      yield {
        requestIndex,
        code: 'duplicate-recipient',
        message: `${where}: the same address is already at recipients[${earlier}]`,
      };
      continue;
    }
    firstSeen.set(address, requestIndex);
    entries.push({ ...carried, requestIndex, address, amount });
  }
  return { entries, total: assertAmount(total) };
}

function findToken(context: ChainContext, symbol: string): TokenSettings | undefined {
  return Object.hasOwn(context.settings.tokens, symbol)
    ? context.settings.tokens[symbol]
    : undefined;
}

function listTokens(context: ChainContext): string {
  return Object.keys(context.settings.tokens).sort().join(', ');
}

function messageOf(error: unknown): string {
  if (isPoolError(error)) {
    return error.message;
  }
  throw error;
}
