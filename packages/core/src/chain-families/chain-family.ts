/**
 * What the rest of Pool knows about a family of chains: which curve its wallets sign on, and how an address
 * is read and written (ARCHITECTURE.md, "Chains"). Payments on a chain additionally require
 * a pool.
 *
 * @module
 */

/** The curve a wallet's key lies on. */
export type Curve = 'secp256k1' | 'ed25519';

export type ChainFamilyName = 'evm' | 'solana' | 'stellar';

/** `Address`: the type of an address that was read. */
export type ChainFamily<Address extends string = string> = {
  readonly name: ChainFamilyName;
  readonly curve: Curve;
  /**
   * Reads an address that a wallet can own, and answers its one canonical spelling: two texts name the same
   * wallet exactly when their answers are equal.
   * @throws PoolError `invalid-address`: what was wrong, without the text
   */
  parseAddress(text: unknown): Address;
  /**
   * address(W) of a wallet public key in this family's encoding, as lower-case 0x-hex (protocol §2).
   * @throws PoolError `invalid_wallet_pub`
   */
  formatAddress(walletPub: unknown): string;
};
