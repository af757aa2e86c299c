/**
 * The one check path of a disbursement: body, chain, token, batch size; per recipient in request order
 * amount, address, duplicate; then registration (docs/decisions/0009). `disburse` answers
 * the first issue, a validation report lists them all; both read the same sequence.
 *
 * @module
 */
import {
  type Amount,
  type BatchSize,
  chooseBatchSize,
  type DisbursementErrorCode,
  type DisburseRequest,
  disburseRequestSchema,
  type EvmAddress,
  errorCodeOf,
  isPoolError,
  maxAmount,
  PoolError,
  parseAmount,
  parseEvmAddress,
  parseWire,
  type RecipientRecord,
  type SkippedRecipient,
  type TokenSettings,
} from '@pool/core';
import type { EvidenceVerifier, VerifiedRecipient } from './evidence-verifier.ts';
import type { ChainContext, PlatformPort } from './ports.ts';

/** One thing wrong with a request. */
export type Issue = {
  /** Position in `recipients`; -1 for the request as a whole. */
  readonly requestIndex: number;
  readonly code: DisbursementErrorCode | 'invalid_request';
  readonly message: string;
};

/** A recipient that will be paid. */
export type CheckedRecipient = VerifiedRecipient & {
  readonly requestIndex: number;
  readonly amount: Amount;
  readonly memo: string | undefined;
};

/** A request that passed: everything the pipeline needs of it. */
export type CheckedDisbursement = {
  readonly request: DisburseRequest;
  readonly context: ChainContext;
  readonly tokenSymbol: string;
  readonly token: TokenSettings;
  readonly size: BatchSize;
  readonly recipients: readonly CheckedRecipient[];
  readonly skipped: readonly SkippedRecipient[];
  /** Sum over `recipients`. */
  readonly total: Amount;
};

/** Where a chain key leads. */
export type ChainRoute =
  | { readonly kind: 'routable'; readonly context: ChainContext; readonly maxRecipients: number }
  | { readonly kind: 'invalid'; readonly reason: string };

export type CheckDeps = {
  /** @param key - undefined: the configured default */
  routeChain(key: string | undefined): ChainRoute;
  readonly platform: Pick<PlatformPort, 'lookupRecipients'>;
  readonly evidence: EvidenceVerifier;
  /** False: the deployment has no gate, so nobody is fundable. */
  readonly hasGate: boolean;
};

/** First issue, or what was checked. For `disburse`. */
export async function checkDisbursement(
  body: unknown,
  deps: CheckDeps,
): Promise<CheckedDisbursement> {
  const steps = walkChecks(body, deps);
  const first = await steps.next();
  if (first.done === true && first.value !== undefined) {
    return first.value;
  }
  throw toError(first.done === true ? undefined : first.value);
}

/** Every issue. For validation and dry runs. */
export async function collectIssues(
  body: unknown,
  deps: CheckDeps,
): Promise<{
  readonly issues: readonly Issue[];
  /** Present when there is no issue. */
  readonly checked: CheckedDisbursement | undefined;
}> {
  const issues: Issue[] = [];
  const steps = walkChecks(body, deps);
  for (;;) {
    const step = await steps.next();
    if (step.done === true) {
      return { issues, checked: issues.length === 0 ? step.value : undefined };
    }
    issues.push(step.value);
  }
}

function toError(issue: Issue | undefined): PoolError {
  return issue === undefined
    ? new PoolError('internal_error', 'the check ended without a verdict', { status: 500 })
    : new PoolError(issue.code, issue.message, {
        ...(issue.requestIndex < 0 ? {} : { details: { requestIndex: issue.requestIndex } }),
      });
}

type Checks<T> = AsyncGenerator<Issue, T, undefined>;

/** Yields issues in the specified order. Returns the checked request; meaningful when none was yielded. */
async function* walkChecks(
  body: unknown,
  deps: CheckDeps,
): Checks<CheckedDisbursement | undefined> {
  let request: DisburseRequest;
  try {
    request = parseWire(disburseRequestSchema, body, 'the request body');
  } catch (error) {
    yield { requestIndex: -1, code: 'invalid_request', message: messageOf(error) };
    return undefined;
  }

  const route = deps.routeChain(request.chain);
  if (route.kind === 'invalid') {
    yield { requestIndex: -1, code: 'invalid-chain', message: route.reason };
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

  const size = chooseBatchSize(request.recipients.length);
  if (request.recipients.length > maxRecipients || size === undefined) {
    yield {
      requestIndex: -1,
      code: 'batch-too-large',
      message: `a call may list at most ${maxRecipients} recipients on chain ${context.key}; split the roster and give each call its own Idempotency-Key`,
    };
    // A look-up of such a list would be refused too, so there is nothing more to learn here.
    return undefined;
  }

  const payable = yield* walkRecipients(request);
  const registered = yield* walkRegistration(request, payable, context, deps);
  if (token === undefined || registered === undefined) {
    return undefined;
  }
  return {
    request,
    context,
    tokenSymbol: request.token,
    token,
    size: chooseBatchSize(registered.recipients.length) ?? size,
    recipients: registered.recipients,
    skipped: registered.skipped,
    total: registered.recipients.reduce((sum, { amount }) => sum + amount, 0n),
  };
}

type PayableEntry = {
  readonly requestIndex: number;
  readonly address: EvmAddress;
  readonly amount: Amount;
  readonly memo: string | undefined;
};

/** Amount, address, duplicate, per recipient in request order. Returns the entries without an issue. */
async function* walkRecipients(request: DisburseRequest): Checks<readonly PayableEntry[]> {
  const payable: PayableEntry[] = [];
  const firstSeen = new Map<EvmAddress, number>();
  let total = 0n;
  for (const [requestIndex, entry] of request.recipients.entries()) {
    const where = `recipients[${requestIndex}]`;
    let amount: Amount | undefined;
    let address: EvmAddress | undefined;
    try {
      amount = parseAmount(entry.amount);
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
    try {
      address = parseEvmAddress(entry.recipientAddress);
    } catch (error) {
      yield { requestIndex, code: 'invalid-address', message: `${where}: ${messageOf(error)}` };
    }
    const earlier = address === undefined ? undefined : firstSeen.get(address);
    if (earlier !== undefined) {
      yield {
        requestIndex,
        code: 'duplicate-recipient',
        message: `${where}: the same address already stands at recipients[${earlier}]`,
      };
      continue;
    }
    if (address !== undefined) {
      firstSeen.set(address, requestIndex);
      if (amount !== undefined) {
        payable.push({ requestIndex, address, amount, memo: entry.memo });
      }
    }
  }
  return payable;
}

type Registered = {
  readonly recipients: readonly CheckedRecipient[];
  readonly skipped: readonly SkippedRecipient[];
};

async function* walkRegistration(
  request: DisburseRequest,
  entries: readonly PayableEntry[],
  context: ChainContext,
  deps: CheckDeps,
): Checks<Registered | undefined> {
  if (entries.length === 0) {
    return undefined;
  }
  const records = await lookup(entries, context, deps);
  const recipients: CheckedRecipient[] = [];
  const skipped: SkippedRecipient[] = [];
  for (const [position, entry] of entries.entries()) {
    const { requestIndex, amount, memo } = entry;
    const verdict = await judge(entry.address, records[position], deps);
    if (verdict.kind === 'verified') {
      recipients.push({ ...verdict.recipient, requestIndex, amount, memo });
      continue;
    }
    const message = `recipients[${requestIndex}]: ${verdict.reason}`;
    const code = 'unregistered-recipient' as const;
    if (request.unregistered === 'skip') {
      skipped.push({ requestIndex, recipientAddress: entry.address, code, message });
    } else {
      yield { requestIndex, code, message };
    }
  }
  if (recipients.length === 0 && skipped.length > 0) {
    yield {
      requestIndex: -1,
      code: 'unregistered-recipient',
      message: 'none of the recipients is registered: nothing would be paid',
    };
    return undefined;
  }
  return { recipients, skipped };
}

async function lookup(
  entries: readonly PayableEntry[],
  context: ChainContext,
  deps: CheckDeps,
): Promise<readonly (RecipientRecord | undefined)[]> {
  if (!deps.hasGate) {
    return [];
  }
  try {
    const records = await deps.platform.lookupRecipients(
      context.key,
      entries.map(({ address }) => address),
    );
    const byAddress = new Map(records.map((record) => [record.address.toLowerCase(), record]));
    return entries.map(({ address }) => byAddress.get(address.toLowerCase()));
  } catch (cause) {
    throw new PoolError(
      'platform_unavailable',
      'the platform did not answer the recipient look-up; nothing was accepted, send the same request again',
      { status: 503, retryable: true, cause, details: { reason: errorCodeOf(cause) ?? 'unknown' } },
    );
  }
}

async function judge(
  address: EvmAddress,
  record: RecipientRecord | undefined,
  deps: CheckDeps,
): ReturnType<EvidenceVerifier['verify']> {
  if (!deps.hasGate) {
    return { kind: 'refused', reason: 'this deployment has no pool-gate, so nobody can be paid' };
  }
  if (record === undefined || record.readiness === 'not_enrolled') {
    return { kind: 'refused', reason: 'the recipient has not signed in and enrolled' };
  }
  if (record.readiness !== 'ready') {
    return {
      kind: 'refused',
      reason: `the recipient is enrolled but not eligible (${record.readiness})`,
    };
  }
  const verdict = await deps.evidence.verify(address, record);
  return verdict.kind === 'verified'
    ? verdict
    : { kind: 'refused', reason: `sign-in evidence does not hold: ${verdict.reason}` };
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
