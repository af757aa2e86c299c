/**
 * The custodian's way to a chain: builds the transaction of a contract call, broadcasts it, looks for its receipt.
 *
 * @module
 */
import { Transaction as EvmTransaction, toBeHex } from 'ethers';
import * as v from 'valibot';
import type { VaultAccount } from './config.ts';
import type { Work } from './transaction.ts';
import { addressOf, signDigest, withHighS } from './vault.ts';

export type ChainConfig = { readonly rpcUrl: string; readonly chainId: number };

const quantity = v.pipe(v.string(), v.regex(/^0x[0-9a-f]+$/i));
const answerSchema = v.object({
  result: v.optional(v.unknown()),
  error: v.optional(v.object({ message: v.string() })),
});
const receiptSchema = v.nullable(v.object({ status: quantity }));

/** The node refused, or could not be reached. */
export class ChainRefusalError extends Error {}

/**
 * The account nonce comes from the chain. The fee is twice the node's gas price.
 * @returns the unsigned type-2 transaction, `0x`
 * @throws ChainRefusalError when the call would revert, or the node does not answer
 */
export async function buildCall(
  chain: ChainConfig,
  account: VaultAccount,
  work: Extract<Work, { operation: 'CONTRACT_CALL' }>,
): Promise<string> {
  const from = addressOf(account);
  const call = { from, to: work.to, data: work.data, value: '0x0' };
  const ask = async (method: string, params: unknown[]): Promise<bigint> =>
    BigInt(v.parse(quantity, await callRpc(chain, method, params)));
  const gasLimit = await ask('eth_estimateGas', [call]);
  const [nonce, gasPrice] = await Promise.all([
    ask('eth_getTransactionCount', [from, 'pending']),
    ask('eth_gasPrice', []),
  ]);
  return EvmTransaction.from({
    type: 2,
    chainId: chain.chainId,
    nonce: Number(nonce),
    to: work.to,
    data: work.data,
    value: 0n,
    gasLimit: (gasLimit * 12n) / 10n,
    maxFeePerGas: gasPrice * 2n,
    maxPriorityFeePerGas: gasPrice < 1_000_000_000n ? gasPrice : 1_000_000_000n,
  }).unsignedSerialized;
}

/** @returns the signed transaction and its hash */
export function signCall(
  unsigned: string,
  account: VaultAccount,
): { readonly signed: string; readonly hash: string } {
  const transaction = EvmTransaction.from(unsigned);
  // A chain takes low s only.
  const signature = withHighS(signDigest(transaction.unsignedHash, account.privateKey), false);
  transaction.signature = {
    r: toBeHex(signature.r, 32),
    s: toBeHex(signature.s, 32),
    yParity: signature.v,
  };
  return { signed: transaction.serialized, hash: transaction.hash ?? '' };
}

/** A transaction that the node has already is not an error. @throws ChainRefusalError */
export async function broadcast(chain: ChainConfig, signed: string): Promise<void> {
  try {
    await callRpc(chain, 'eth_sendRawTransaction', [signed]);
  } catch (error) {
    if (error instanceof Error && /already (known|imported)/i.test(error.message)) {
      return;
    }
    throw error;
  }
}

/** @returns undefined while the transaction is in no block */
export async function readReceipt(
  chain: ChainConfig,
  hash: string,
): Promise<'succeeded' | 'reverted' | undefined> {
  const receipt = v.parse(receiptSchema, await callRpc(chain, 'eth_getTransactionReceipt', [hash]));
  if (receipt === null) {
    return undefined;
  }
  return BigInt(receipt.status) === 1n ? 'succeeded' : 'reverted';
}

async function callRpc(chain: ChainConfig, method: string, params: unknown[]): Promise<unknown> {
  let answer: v.InferOutput<typeof answerSchema>;
  try {
    const response = await fetch(chain.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      redirect: 'error',
      signal: AbortSignal.timeout(10_000),
    });
    answer = v.parse(answerSchema, await response.json());
  } catch (error) {
    throw new ChainRefusalError(`${method}: the node did not answer`, { cause: error });
  }
  if (answer.error !== undefined) {
    throw new ChainRefusalError(`${method}: ${answer.error.message}`);
  }
  return answer.result;
}
