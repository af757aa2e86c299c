/**
 * Sends signed bytes, and classifies the answer of a node that does not accept them. Bytes that every node refuses permanently would
 * block their nonce, and all later ones, as long as they are stored.
 *
 * @module
 */
import { isCallException, isError, type JsonRpcProvider } from 'ethers';

// Separates a call that the chain executed and that failed from one that the node did not execute. ethers
// reports both as a call exception, and a busy node must not look like a contract that refuses.

/** Names that nodes give to failures of the EVM, besides reverts. */
const evmFailure =
  /revert|out ?of ?gas|opcode|invalid ?jump|stack ?(?:under|over)flow|evm error|vm execution error|gas uint64 overflow|write protection/i;

/** `3` for a revert with data, `-32015` on nodes that have a code of their own for it. */
const executionCodes: readonly unknown[] = [3, -32015];

/** True when the node ran the call of an `eth_call` and it failed. */
export function isEvmFailure(error: unknown): boolean {
  if (!isCallException(error)) {
    return false;
  }
  const answered: unknown = error.info?.['error'];
  if (typeof answered !== 'object' || answered === null) {
    // Not the node's answer: ethers itself read a revert out of a result.
    return error.data !== null;
  }
  const code = 'code' in answered ? answered.code : undefined;
  const message = 'message' in answered ? answered.message : undefined;
  return executionCodes.includes(code) || (typeof message === 'string' && evmFailure.test(message));
}

/** The node has the bytes, or the chain has used their nonce. */
const alreadyThere =
  /already known|already imported|known transaction|nonce too low|nonce has already been used|oldnonce/i;

/** No fee, balance or time makes this node accept these bytes. The texts are those of geth, reth, erigon, Nethermind, Besu and anvil. */
const refusedForGood = new RegExp(
  [
    "exceeds.{0,8}block'?s?[ _]gas[ _]limit",
    'gas limit (?:is )?too high',
    'exceeds.{0,24}(?:transaction|tx)[ _]gas[ _]limit',
    '(?:tx)?gaslimitexceeded',
    'intrinsic[ _]gas[ _](?:too|exceeds)',
    'insufficient gas for floor',
    'floor data gas',
    'gas (?:uint64 )?overflow',
    '(?:transaction|tx) type (?:is )?not (?:supported|enabled)',
    '(?:unsupported|invalid) (?:transaction|tx) type',
    'oversized data',
    'invalid (?:sender|signature)',
    'invalid chain ?id',
    'tip.{0,12}(?:higher|above|greater).{0,12}fee cap',
    'max priority fee per gas higher than max fee',
    'fee .{0,40}exceeds the configured cap',
    '\\brlp: ',
  ].join('|'),
  'i',
);

export type BroadcastAnswer = 'already-there' | 'refused-for-good' | 'unknown';

/** Reads a failed `eth_sendRawTransaction`. A missing answer and every text that is not listed are `unknown`: try again. */
export function readBroadcastAnswer(error: unknown): BroadcastAnswer {
  const text = findAnswer(error) ?? (error instanceof Error ? error.message : '');
  if (alreadyThere.test(text)) {
    return 'already-there';
  }
  // An underpriced replacement competes with bytes that the node has: those may still be mined.
  return !/underpriced/i.test(text) && refusedForGood.test(text) ? 'refused-for-good' : 'unknown';
}

export type BroadcastOutcome =
  /** The node has the bytes, or the chain has used their nonce. */
  | { readonly kind: 'sent' }
  /** The account cannot pay for the transaction now. */
  | { readonly kind: 'unfunded'; readonly cause: unknown }
  | { readonly kind: 'refused-for-good'; readonly cause: unknown };

/** Sending the same bytes again is not an error. @throws for every other answer of the node: try again */
export async function broadcastTransaction(
  provider: JsonRpcProvider,
  rawTransaction: string,
): Promise<BroadcastOutcome> {
  try {
    await provider.send('eth_sendRawTransaction', [rawTransaction]);
    return { kind: 'sent' };
  } catch (cause) {
    const answer = readBroadcastAnswer(cause);
    if (answer === 'already-there' || isError(cause, 'NONCE_EXPIRED')) {
      return { kind: 'sent' };
    }
    if (answer === 'refused-for-good') {
      return { kind: 'refused-for-good', cause };
    }
    if (isError(cause, 'INSUFFICIENT_FUNDS')) {
      return { kind: 'unfunded', cause };
    }
    throw cause;
  }
}

const outOfGas = /out ?of ?gas|gas required exceeds|intrinsic[ _]gas/i;

/** True when a call failed for lack of gas. */
export function isOutOfGas(error: unknown): boolean {
  const text = findAnswer(error) ?? (error instanceof Error ? error.message : '');
  return outOfGas.test(text);
}

/** The node's own text, from the field in which ethers keeps it. Its own message repeats the request. */
function findAnswer(error: unknown): string | undefined {
  for (const holder of [fieldOf(error, 'error'), fieldOf(fieldOf(error, 'info'), 'error')]) {
    const message = fieldOf(holder, 'message');
    if (typeof message === 'string') {
      return message;
    }
  }
  return undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
