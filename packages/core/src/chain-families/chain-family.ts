/**
 * What the rest of Pool knows about a family of chains: which curve its wallets sign on, and how an address
 * is read and written (ARCHITECTURE.md, "Chains"). Payments on a chain additionally require
 * a pool.
 *
 * @module
 */

/** The curve a wallet's key lies on. */
export type Curve = 'secp256k1' | 'ed25519';

/** `Address`: the type of an address that was read. */
export type ChainFamily<Address extends string = string> = {
  /** Its key in the registry. */
  readonly name: string;
  readonly curve: Curve;
  /** What a text looks like that may be an address of this family, and of no other. It is not checked yet. */
  readonly addressForm: RegExp;
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

/** How an ed25519 wallet of a family signs in (docs/decisions/0006). A family with addresses only has no such rules. */
export type Ed25519SignInRules = {
  /** As the text names it: `wants you to sign in with your Solana account`. */
  readonly walletName: string;
  /** Networks that the `Chain ID:` line may name: references of CAIP-2 by their usual names. The first is the default. */
  readonly networks: readonly [string, ...string[]];
  /** The bytes that the wallet signs for the bytes of a text. */
  computeSignedBytes(text: Uint8Array): Uint8Array;
  /** The 32 bytes of W. @param address - of `parseAddress` */
  decodeAddress(address: string): Uint8Array;
};
