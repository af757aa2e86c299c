/**
 * Solana: an address is its wallet's ed25519 key in base58 (Bitcoin's alphabet), without a checksum.
 *
 * @module
 */
import { base58 } from '@scure/base';
import { PoolError } from '../errors/pool-error.ts';
import type { ChainFamily, Ed25519SignInRules } from './chain-family.ts';
import { decodeEd25519WalletPub, isEd25519Key } from './ed25519-key.ts';

/** 32 bytes have 32 to 44 digits. */
const addressForm = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

export const solanaFamily = {
  name: 'solana',
  curve: 'ed25519',
  addressForm,
  parseAddress: parseSolanaAddress,
  formatAddress: (walletPub: unknown) => base58.encode(decodeEd25519WalletPub(walletPub)),
  signIn: {
    walletName: 'Solana',
    networks: ['mainnet', 'testnet', 'devnet', 'localnet'],
    // Wallet Standard, `signMessage`.
    computeSignedBytes: (text: Uint8Array) => text,
    decodeAddress: (address: string) => base58.decode(address),
  },
} as const satisfies ChainFamily & { readonly signIn: Ed25519SignInRules };

/** Each key has one spelling, so the text itself is the canonical one. */
function parseSolanaAddress(text: unknown): string {
  // Bounded first: decoding takes time in the square of the length.
  if (typeof text !== 'string' || !addressForm.test(text)) {
    throw notSolana();
  }
  const key = base58.decode(text);
  if (key.length !== 32) {
    throw notSolana();
  }
  if (!isEd25519Key(key)) {
    throw new PoolError(
      'invalid-address',
      'not the address of a Solana wallet: nobody can sign with this key. It is mistyped, or it belongs to a program or a token account; give the address of the wallet that owns it',
    );
  }
  return text;
}

function notSolana(): PoolError {
  return new PoolError(
    'invalid-address',
    'not a Solana address: 32 bytes in base58, which is 32 to 44 letters and digits without 0, I, O and l',
  );
}
