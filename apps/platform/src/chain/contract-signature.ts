/**
 * What the contract at an address says of a signature (ERC-1271), as of the chain's head. The contract is
 * somebody else's code: the call has a gas limit and a time, and only the exact word of consent counts.
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
import { Interface, type JsonRpcProvider } from 'ethers';
import { isEvmFailure } from './evm-failure.ts';
import { assertChainId } from './evm-provider.ts';

/** `delegated-account`: the address has a key of its own and only borrows code (EIP-7702). */
export type ContractVerdict = 'valid' | 'invalid' | 'no-contract' | 'delegated-account';

export type ContractSignature = {
  readonly address: EvmAddress;
  /** What was signed: for a text, its EIP-191 hash. */
  readonly digest: Hex32;
  readonly signature: Hex;
};

/** Enough for a wallet of dozens of owners or a passkey checked in Solidity; little for a node. */
const contractCallGas = 3_000_000;

const erc1271 = new Interface([
  'function isValidSignature(bytes32 digest, bytes signature) view returns (bytes4)',
]);

/** The selector, and zeros to the end of the word: contracts that echo their input do not answer that. */
const consent = `0x1626ba7e${'0'.repeat(56)}`;
const delegation = /^0xef0100[0-9a-f]{40}$/;

/**
 * @param timeoutMs - for all questions together
 * @throws PoolError `chain_unreachable` (503, retryable) when the RPC does not answer, answers nonsense or
 *   serves another chain: silence is no consent
 */
export async function checkContractSignature(
  provider: JsonRpcProvider,
  settings: EvmChainSettings,
  subject: ContractSignature,
  timeoutMs: number,
): Promise<ContractVerdict> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), timeoutMs);
  try {
    return await Promise.race([ask(provider, settings, subject), late.promise]);
  } catch (cause) {
    throw new PoolError(
      'chain_unreachable',
      'the chain cannot be asked about the signature right now; sign in again shortly',
      { status: 503, retryable: true, cause },
    );
  } finally {
    clearTimeout(timer);
  }
}

async function ask(
  provider: JsonRpcProvider,
  settings: EvmChainSettings,
  { address, digest, signature }: ContractSignature,
): Promise<ContractVerdict> {
  // The chain is made sure of each time: another one may have another contract at the same address.
  const [code] = await Promise.all([
    provider.send('eth_getCode', [address, 'latest']) as Promise<unknown>,
    assertChainId(provider, settings),
  ]);
  if (typeof code !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(code)) {
    throw new Error('eth_getCode was answered with something else than code');
  }
  if (code === '0x') {
    return 'no-contract';
  }
  if (delegation.test(code.toLowerCase())) {
    return 'delegated-account';
  }
  const data = erc1271.encodeFunctionData('isValidSignature', [digest, signature]);
  const gas = `0x${contractCallGas.toString(16)}`;
  try {
    const answer: unknown = await provider.send('eth_call', [{ to: address, data, gas }, 'latest']);
    if (typeof answer !== 'string') {
      throw new Error('eth_call was answered with something else than bytes');
    }
    return answer.slice(0, consent.length).toLowerCase() === consent ? 'valid' : 'invalid';
  } catch (error) {
    if (isEvmFailure(error)) {
      return 'invalid';
    }
    throw error;
  }
}
