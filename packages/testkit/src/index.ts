/**
 * Helpers for tests and for the sandbox: fakes, vectors, processes. Never published.
 *
 * @module
 */

export {
  type Anvil,
  type AnvilOptions,
  anvilMnemonic,
  mineMeanwhile,
  startAnvil,
} from './anvil.ts';
export { callWrapped } from './call-wrapper.ts';
export { readData, textOf } from './command-output.ts';
export {
  type EarlierStores,
  listEarlierVersions,
  unpackEarlierStores,
} from './earlier-stores.ts';
export { openEmptyCluster, placeEmptyCluster } from './embedded-cluster.ts';
export { createFakeClock, type FakeClock } from './fake-clock.ts';
export {
  createFakeHolder,
  type FakeHolder,
  type FakeSignIn,
  fakeEvidenceDomain,
  signFakeEvidence,
} from './fake-holder.ts';
export { createFakeNotePool, type FakeNote, type FakeNotePool } from './fake-note-pool.ts';
export {
  createFakeGate,
  createFakePlatform,
  type FakeGate,
  type FakePlatform,
} from './fake-platform.ts';
export {
  createFakePoolChain,
  type FakeChainOptions,
  type FakePoolChain,
} from './fake-pool-chain.ts';
export { anvilBinary } from './foundry-binary.ts';
export { type Json, type Lie, type LyingProxy, startLyingProxy } from './lying-proxy.ts';
export {
  createDatabase,
  type PostgresServer,
  queryDatabase,
  startPostgres,
} from './postgres.ts';
export { findPostgres } from './postgres-binaries.ts';
export {
  findFreePorts,
  findProgram,
  isAnswering,
  type ManagedProcess,
  type ProcessExit,
  type StartOptions,
  signalAt,
  startNodeProcess,
  startProcess,
  waitUntilReady,
} from './process.ts';
export {
  endProcess,
  isRunning,
  type ProcessIdentity,
  readProcessIdentity,
} from './process-identity.ts';
export { type RpcFault, type RpcProxy, startRpcProxy } from './rpc-proxy.ts';
export { formsOfScalar, type ScalarForm } from './secrets/scalar-forms.ts';
export { type Finding, searchFile } from './secrets/search-bytes.ts';
export {
  heapSnapshotOptions,
  type ProcessSearch,
  type SearchOptions,
  searchProcess,
} from './secrets/search-process.ts';
export { createTestClock, type TestClock } from './shifted-clock.ts';
export type { RpcCall } from './stuck-node.ts';
export { type LostEnd, startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
export { createTestHolder, type TestHolder, testEvidenceDomain } from './test-holder.ts';
