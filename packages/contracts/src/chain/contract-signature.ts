/**
 * Asks the contract at an address about a signature (ERC-1271), on the state of the chain's head. The contract is
 * foreign code: the call has a gas limit and a time limit, and only the exact magic value counts as consent.
 *
 * @module
 */
import {
  type EvmAddress,
  type EvmChainSettings,
  type Hex,
  type Hex32,
  PoolError,
} from '@pool/core';
import { assertChainId, isEvmFailure, waitAtMost } from '@pool/evm-sender';
import { Interface, type JsonRpcProvider } from 'ethers';
import { erc1271Gas } from '../calls/shielded-pool.ts';

/** `delegated-account`: the address has a key of its own and only borrows code (EIP-7702). */
export type ContractVerdict = 'valid' | 'invalid' | 'no-contract' | 'delegated-account';

export type ContractSignature = {
  readonly address: EvmAddress;
  /** What was signed: for a text, its EIP-191 hash. */
  readonly digest: Hex32;
  readonly signature: Hex;
};

/** How the contract is called. */
export type Question = {
  /** For all calls together. */
  readonly timeoutMs: number;
  /** What the contract may use; the call itself included. */
  readonly gas: number;
  /** The caller that the contract sees. Default: the zero address. */
  readonly from?: EvmAddress;
  /** Whether code that an account borrows (EIP-7702) is called too. Default: no. */
  readonly asksDelegated?: boolean;
};

/** Enough for a wallet with dozens of owners, or a passkey verified in Solidity; little for a node. */
export const signInQuestionGas = 3_000_000;

/** Of any call, and of each byte of its data at most. */
const transactionGas = 21_000;
const dataByteGas = 16;

/** Gas with which the contract gets at least what the pool gives it, and slightly more. */
export function computeFunderQuestionGas({
  signature,
}: Pick<ContractSignature, 'signature'>): number {
  // Selector, digest, offset, length, and the signature in whole words.
  const dataBytes = 4 + 3 * 32 + 32 * Math.ceil((signature.length - 2) / 64);
  return Number(erc1271Gas) + transactionGas + dataByteGas * dataBytes;
}

const erc1271 = new Interface([
  'function isValidSignature(bytes32 digest, bytes signature) view returns (bytes4)',
]);

/** The selector, and zeros to the end of the word: contracts that echo their input do not answer that. */
const consent = `0x1626ba7e${'0'.repeat(56)}`;
const delegation = /^0xef0100[0-9a-f]{40}$/;

/**
 * @throws PoolError `chain_unreachable` (503, retryable) when the RPC does not answer, answers nonsense or
 *   serves another chain: a missing answer is not consent
 */
export async function checkContractSignature(
  provider: JsonRpcProvider,
  settings: EvmChainSettings,
  subject: ContractSignature,
  question: Question,
): Promise<ContractVerdict> {
  try {
    return await waitAtMost(ask(provider, settings, subject, question), question.timeoutMs);
  } catch (cause) {
    throw new PoolError(
      'chain_unreachable',
      'the chain does not answer, so the signature cannot be checked now; try again shortly',
      { cause },
    );
  }
}

async function ask(
  provider: JsonRpcProvider,
  settings: EvmChainSettings,
  { address, digest, signature }: ContractSignature,
  { gas: gasLimit, from, asksDelegated = false }: Question,
): Promise<ContractVerdict> {
  // Checked on every call: another chain may have another contract at the same address.
  const [code] = await Promise.all([
    provider.send('eth_getCode', [address, 'latest']) as Promise<unknown>,
    assertChainId(provider, settings),
  ]);
  if (typeof code !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(code)) {
    throw new Error('eth_getCode returned something other than code');
  }
  if (code === '0x') {
    return 'no-contract';
  }
  if (!asksDelegated && delegation.test(code.toLowerCase())) {
    return 'delegated-account';
  }
  const data = erc1271.encodeFunctionData('isValidSignature', [digest, signature]);
  const gas = `0x${gasLimit.toString(16)}`;
  const call = { ...(from === undefined ? {} : { from }), to: address, data, gas };
  try {
    const answer: unknown = await provider.send('eth_call', [call, 'latest']);
    if (typeof answer !== 'string') {
      throw new Error('eth_call returned something other than bytes');
    }
    return answer.slice(0, consent.length).toLowerCase() === consent ? 'valid' : 'invalid';
  } catch (error) {
    if (isEvmFailure(error)) {
      return 'invalid';
    }
    throw error;
  }
}
