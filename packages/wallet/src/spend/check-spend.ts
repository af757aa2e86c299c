/**
 * The checks of a spend before notes are chosen, in their order (docs/decisions/0011): body, token, destination, number of payees;
 * amount, wallet and duplicate of each payee in request order; the ceiling; registration. The first problem answers.
 *
 * @module
 */
import {
  type Amount,
  type AssetId,
  assertAmount,
  computeAssetId,
  computeWalletAddress,
  describeAmountOf,
  type EvmAddress,
  explainPlatformFailure,
  findTokenUnit,
  formatTokenUnits,
  maxAmount,
  maxSpendPayees,
  PoolError,
  parseAmount,
  parseWalletPub,
  parseWire,
  type SendRequest,
  type SpendOperationName,
  type SpendOutput,
  sendRequestSchema,
  type TransferRequest,
  transferRequestSchema,
  type WalletPub,
} from '@pool/core';
import type { LockableNote } from '../archive/locked-notes.ts';
import type { EvidenceVerifier } from '../evidence-verifier.ts';
import type { RecipientPort } from '../ports.ts';
import type { HolderNote, SpendContext, SpendHolder } from './spend-ports.ts';

/** A request whose form is right. */
export type SpendRequestBody =
  | { readonly operation: 'transfer'; readonly body: TransferRequest }
  | { readonly operation: 'send'; readonly body: SendRequest };

/** A request that passed: everything that the spend needs of it. Confidential. */
export type CheckedSpend = {
  readonly operation: SpendOperationName;
  readonly context: SpendContext;
  readonly token: EvmAddress;
  readonly assetId: AssetId;
  readonly outputs: readonly SpendOutput[];
  /** Base units; 0 for a transfer. */
  readonly withdrawAmount: bigint;
  /** Undefined for a transfer. */
  readonly recipient: EvmAddress | undefined;
  /** Of all payees and the withdrawal together, base units. */
  readonly total: Amount;
};

/** A note with whether another spend holds it. */
export type CandidateNote = HolderNote & LockableNote & { readonly isLocked: boolean };

/** What a spend is planned for: a request that passed, or a spend that pays only its own change. */
export type SpendIntent = Omit<CheckedSpend, 'total'> &
  (
    | { readonly total: Amount; readonly choose?: undefined }
    | {
        readonly total: 0n;
        /** The notes to spend, all of one P. Undefined: there are none. */
        readonly choose: (notes: readonly CandidateNote[]) => readonly CandidateNote[] | undefined;
      }
  );

export type SpendCheckDeps = {
  /** @param chain - undefined: the chain of the holder. @throws PoolError `invalid-chain` if it is not routable */
  readonly route: (chain?: string) => SpendContext;
  readonly holder: SpendHolder;
  readonly lookup: RecipientPort;
  readonly evidence: EvidenceVerifier;
  /** False: the deployment has no pool-gate, so no payee is eligible. */
  readonly hasGate: boolean;
  /** Addresses by label. */
  readonly destinations: ReadonlyMap<string, EvmAddress>;
  /** Ceiling of one call in base units. Undefined: none. */
  readonly ceilings: Readonly<Record<SpendOperationName, bigint | undefined>>;
};

/** The form of a body. @throws PoolError `invalid_request` */
export function parseSpendBody(operation: SpendOperationName, body: unknown): SpendRequestBody {
  switch (operation) {
    case 'transfer':
      return { operation, body: parseWire(transferRequestSchema, body, 'the request body') };
    case 'send':
      return { operation, body: parseWire(sendRequestSchema, body, 'the request body') };
  }
}

/**
 * @throws PoolError the first problem: `invalid-chain`, `unknown_token`, `unpinned_destination`, `too_many_recipients`,
 *   `invalid-amount`, `invalid_request` (not a wallet public key), `duplicate-recipient`, `ceiling_exceeded`, `unregistered-recipient`;
 *   503 if the platform did not answer
 * @param chain - undefined: the chain of the holder
 */
export async function checkSpend(
  request: SpendRequestBody,
  deps: SpendCheckDeps,
  chain?: string,
): Promise<CheckedSpend> {
  const context = deps.route(chain);
  const token = findToken(context, request.body.token);
  const { chainId, pool } = context.settings;
  const base = { context, token, assetId: computeAssetId(chainId, pool, token) };
  if (request.operation === 'send') {
    const recipient = findDestination(request.body.to, { token, pool }, deps);
    const total = parseAmount(request.body.amount);
    assertCeiling(total, 'send', base, deps);
    return { ...base, operation: 'send', outputs: [], withdrawAmount: total, recipient, total };
  }
  const { payees, total } = readPayees(request.body, deps.holder);
  assertCeiling(total, 'transfer', base, deps);
  const outputs = await findOutputs(payees, context, deps);
  return {
    ...base,
    operation: 'transfer',
    outputs,
    withdrawAmount: 0n,
    recipient: undefined,
    total,
  };
}

/** An amount of the spend's token in a message. */
export function describeAmount(
  amount: bigint,
  { context, token }: Pick<SpendIntent, 'context' | 'token'>,
): string {
  return describeAmountOf(context.settings.tokens, token, amount);
}

/** An amount as it is typed after an option of a command. */
export function writeAmount(
  amount: bigint,
  { context, token }: Pick<SpendIntent, 'context' | 'token'>,
): string {
  const unit = findTokenUnit(context.settings.tokens, token);
  return unit === undefined
    ? amount.toString()
    : `${formatTokenUnits(amount, unit.decimals)}${unit.symbol}`;
}

/** A spend that pays only its own change. @param choose - of the notes: those that it spends */
export function createOwnIntent(
  context: SpendContext,
  token: EvmAddress,
  choose: Extract<SpendIntent, { total: 0n }>['choose'],
): SpendIntent {
  const { chainId, pool } = context.settings;
  return {
    operation: 'transfer',
    ...{ context, token, assetId: computeAssetId(chainId, pool, token) },
    ...{ outputs: [], withdrawAmount: 0n, recipient: undefined, total: 0n, choose },
  };
}

/** @throws PoolError `unknown_token` */
export function findToken({ key, settings }: SpendContext, symbol: string): EvmAddress {
  const token = Object.hasOwn(settings.tokens, symbol) ? settings.tokens[symbol] : undefined;
  if (token === undefined) {
    const symbols = Object.keys(settings.tokens).sort().join(', ');
    throw new PoolError(
      'unknown_token',
      `token must be a symbol configured for chain ${key}: ${symbols}`,
    );
  }
  return token.address;
}

function findDestination(
  label: string | undefined,
  contracts: { readonly token: EvmAddress; readonly pool: EvmAddress },
  { destinations, holder }: SpendCheckDeps,
): EvmAddress {
  const pinned = label === undefined ? holder.address : destinations.get(label);
  if (pinned === undefined) {
    const labels = [...destinations.keys()].sort().join(', ');
    throw new PoolError(
      'unpinned_destination',
      labels === ''
        ? 'to must be a label of DISBURSE_SEND_DESTINATIONS, and none is configured; omit it to withdraw to the holder’s own wallet'
        : `to must be a label of DISBURSE_SEND_DESTINATIONS: ${labels}; an address is never accepted`,
    );
  }
  if (pinned === contracts.pool || pinned === contracts.token) {
    // The contract refuses it. Sent anyway, the notes would be locked until the spend is dead.
    throw new PoolError(
      'unpinned_destination',
      'the pinned destination is the pool or the token contract, which cannot receive a withdrawal; correct DISBURSE_SEND_DESTINATIONS',
    );
  }
  return pinned;
}

type Payee = { readonly walletPub: WalletPub; readonly amount: Amount };

function readPayees(
  { recipients }: TransferRequest,
  holder: SpendHolder,
): { readonly payees: readonly Payee[]; readonly total: Amount } {
  if (recipients.length > maxSpendPayees) {
    throw new PoolError(
      'too_many_recipients',
      `one transfer pays at most ${maxSpendPayees} wallets; split it and give each part its own Idempotency-Key`,
    );
  }
  const seen = new Map<WalletPub, number>();
  const payees: Payee[] = [];
  let total = 0n;
  for (const [index, recipient] of recipients.entries()) {
    const where = `recipients[${index}]`;
    const amount = locate(where, () => parseAmount(recipient.amount));
    const walletPub = readWallet(where, recipient.walletPub);
    if (walletPub === holder.walletPub) {
      throw new PoolError(
        'duplicate-recipient',
        `${where}: this is the holder’s own wallet, to which the change returns in any case`,
      );
    }
    const earlier = seen.get(walletPub);
    if (earlier !== undefined) {
      throw new PoolError(
        'duplicate-recipient',
        `${where}: the same wallet is already at recipients[${earlier}]`,
      );
    }
    seen.set(walletPub, index);
    total += amount;
    if (total > maxAmount) {
      throw new PoolError(
        'invalid-amount',
        `${where}: with this amount the total exceeds 2^128-1 base units`,
      );
    }
    payees.push({ walletPub, amount });
  }
  return { payees, total: assertAmount(total) };
}

function locate<T>(where: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof PoolError
      ? new PoolError('invalid-amount', `${where}: ${error.message}`)
      : error;
  }
}

function readWallet(where: string, text: string): WalletPub {
  try {
    return parseWalletPub(text);
  } catch (cause) {
    throw new PoolError(
      'invalid_request',
      `${where}.walletPub must be W, a compressed wallet public key: 33 bytes of lower-case hex with 0x, not an address`,
      { cause },
    );
  }
}

function assertCeiling(
  total: Amount,
  operation: SpendOperationName,
  spend: Pick<SpendIntent, 'context' | 'token'>,
  { ceilings }: SpendCheckDeps,
): void {
  const ceiling = ceilings[operation];
  if (ceiling !== undefined && total > ceiling) {
    const variable = `DISBURSE_${operation.toUpperCase()}_MAX_AMOUNT`;
    throw new PoolError(
      'ceiling_exceeded',
      `the call spends ${describeAmount(total, spend)}, more than ${variable} allows, ${describeAmount(ceiling, spend)}; raise it, or split the spend`,
    );
  }
}

/** Looks the payees up by the address of W, and verifies that each P is signed for by its W. */
async function findOutputs(
  payees: readonly Payee[],
  context: SpendContext,
  deps: SpendCheckDeps,
): Promise<readonly SpendOutput[]> {
  if (!deps.hasGate) {
    throw unregistered(0, 'this deployment has no pool-gate, so no payee is eligible');
  }
  const addressed = payees.map((payee) => ({
    ...payee,
    address: computeWalletAddress(payee.walletPub),
  }));
  const records = await lookup(
    addressed.map(({ address }) => address),
    context,
    deps,
  );
  const claims = addressed.map(({ address }, index) => {
    const record = records.get(address.toLowerCase());
    if (record === undefined || record.readiness === 'not_enrolled') {
      throw unregistered(index, 'the wallet has not signed in and enrolled');
    }
    if (record.readiness !== 'ready') {
      throw unregistered(index, `the wallet is enrolled but not eligible (${record.readiness})`);
    }
    return { address, record };
  });
  const verdicts = await deps.evidence.verifyAll(claims);
  return addressed.map(({ walletPub, amount }, index) => {
    const verdict = verdicts[index];
    if (verdict?.kind !== 'verified') {
      const reason = verdict?.reason ?? 'it was not verified';
      throw unregistered(index, `sign-in evidence does not hold: ${reason}`);
    }
    const { recipient } = verdict;
    if (recipient.walletPub !== walletPub) {
      throw unregistered(index, 'the platform served the evidence of another wallet');
    }
    const { encryptionPublicKey, evidence } = recipient;
    return { walletPub, encryptionPublicKey, evidence, amount: amount.toString() };
  });
}

async function lookup(
  addresses: readonly EvmAddress[],
  context: SpendContext,
  deps: SpendCheckDeps,
): Promise<ReadonlyMap<string, Awaited<ReturnType<RecipientPort['lookupRecipients']>>[number]>> {
  try {
    const records = await deps.lookup.lookupRecipients(context.key, addresses);
    return new Map(records.map((record) => [record.address.toLowerCase(), record]));
  } catch (cause) {
    throw explainPlatformFailure(
      cause,
      'the recipient look-up',
      'the platform did not answer the recipient look-up; nothing was sent, send the same request again',
    );
  }
}

function unregistered(index: number, reason: string): PoolError {
  return new PoolError('unregistered-recipient', `recipients[${index}]: ${reason}`);
}
