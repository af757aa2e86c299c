/**
 * Whether a funder signed, as the pool's contract decides it (FunderSignature.sol): the key of its address first, then
 * the contract at its address (ERC-1271). A settlement that its funder did not sign could only block one that it signed.
 *
 * @module
 */
import { type EvmAddress, type Hex, type Hex32, hexToBytes, parseEvmAddress } from '@pool/core';
import { recoverAddress } from 'ethers';
import type { ContractSignature, ContractVerdict } from '../chain/contract-signature.ts';
import { refuse } from './refuse-settlement.ts';

export type FunderClaim = {
  readonly funder: EvmAddress;
  /** What was signed (EIP-712). */
  readonly digest: Hex32;
  readonly signature: Hex;
};

const signatureBytes = 65;
/** Half of the order of secp256k1's group: the contract accepts no greater s. */
const greatestS = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * @param ask - asks the contract at the funder's address about the signature
 * @throws PoolError `invalid_settlement` (400), what `ask` throws
 */
export async function assertFunderSigned(
  { funder, digest, signature }: FunderClaim,
  ask: (subject: ContractSignature) => Promise<ContractVerdict>,
): Promise<void> {
  if (recoverSigner(digest, signature) === funder) {
    return;
  }
  const verdict = await ask({ address: funder, digest, signature });
  switch (verdict) {
    case 'valid':
      return;
    case 'invalid':
      throw refuse('neither the funder’s key nor the contract at its address made this signature');
    case 'no-contract':
    case 'delegated-account':
      throw refuse(
        'the funder’s key did not make this signature, and there is no contract at its address',
      );
  }
}

/** As `ECDSA.tryRecover`: 65 bytes, s in the lower half, v of 27 or 28. Undefined: no valid signature. */
export function recoverSigner(digest: Hex32, signature: Hex): EvmAddress | undefined {
  const bytes = hexToBytes(signature);
  const v = bytes[signatureBytes - 1];
  if (bytes.length !== signatureBytes || (v !== 27 && v !== 28)) {
    return undefined;
  }
  const [r, s] = [`0x${signature.slice(2, 66)}`, `0x${signature.slice(66, 130)}`];
  if (BigInt(s) > greatestS) {
    return undefined;
  }
  try {
    return parseEvmAddress(recoverAddress(digest, { r, s, v }));
  } catch {
    return undefined;
  }
}
