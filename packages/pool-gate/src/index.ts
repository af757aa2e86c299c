/**
 * The pool-gate: the wallets that are eligible, the root of their tree on chain, and the paths under it.
 *
 * @module
 */
