/**
 * The ports of `@pool/wallet` for EVM chains, and the spend that a holder sends itself.
 *
 * @module
 */
