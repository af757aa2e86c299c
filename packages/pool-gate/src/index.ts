/**
 * The pool-gate: the wallets that are eligible, the root of their tree on chain, and the paths under it.
 *
 * @module
 */

export { createGateApp } from './gate-app.ts';
export { listGateMeasures } from './gate-measures.ts';
export { type GateTables, gateMigrations } from './gate-tables.ts';
export { createLeaves } from './leaves.ts';
export { createTokenService, type TokenLimits } from './oauth.ts';
export { assertAccepted } from './past-lists.ts';
export { defaultPastRootSeconds, startPublisher } from './publisher.ts';
export { openReaderClients } from './reader-clients.ts';
export { createEvmRegistryChain } from './registry-chain.ts';

export { createFileScreening, passEverybody } from './screening.ts';
