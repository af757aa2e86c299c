/**
 * What the owners of a contract wallet sign, in the form of Safe: EIP-712 `SafeMessage(bytes message)` of the wallet on its chain, where the
 * message is the digest that the wallet is asked about (`isValidSignature(bytes32,bytes)`).
 *
 * @module
 */
import { type EvmAddress, type Hex32, parseHex32 } from '@pool/core';
import { TypedDataEncoder } from 'ethers';

const types = { SafeMessage: [{ name: 'message', type: 'bytes' }] };

/** The typed data that an owner signs. @param digest - of the document that the wallet agrees to */
export function createSafeMessage(chainId: number, wallet: EvmAddress, digest: Hex32) {
  const domain = { chainId, verifyingContract: wallet };
  return { domain, types, primaryType: 'SafeMessage', message: { message: digest } } as const;
}

/** The 32 bytes that an owner signs, which Safe calls the message hash. */
export function computeSafeMessageHash(chainId: number, wallet: EvmAddress, digest: Hex32): Hex32 {
  const { domain, message } = createSafeMessage(chainId, wallet, digest);
  return parseHex32(TypedDataEncoder.hash(domain, types, message));
}
