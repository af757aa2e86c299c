// The test files that `npm test` leaves out because of their time (docs/decisions/0002). `npm test -- --all` runs them
// too, as `.ci/run` and `pnpm test:full` do, and `npm test -- <path>` runs them when the path names them.

/** Unit tests, as globs. */
export const slowUnitTests: readonly string[] = [
  // The WebGPU engine on a software device, a quarter of the time of all unit tests. Each file has a process of its own: a process in which
  // the prover has looked for a device before the test names the driver finds none.
  'packages/prover/src/webgpu/{engine,shaders}.test.ts',
  'packages/prover/src/webgpu/{device/device,field/field,msm/msm-plan,quotient/ntt,quotient/quotient}.test.ts',
  'packages/prover/test/gpu-check.test.ts',
  // The kernels and engines of the prover against independent implementations, at many sizes and under faults.
  'packages/kernels/src/{curve/msm,msm-sizes,secrets,transform}.test.ts',
  'packages/prover/src/proof/{engine-prover-devices,engine-prover-faults}.test.ts',
  'packages/prover/src/engine/cpu-engine.test.ts',
  // Constraints and mutants of the circuits, and their audit.
  'packages/circuits/test/audit/{audit,mutants,propagate,signer-audit,spend-audit,spend-mutants}.test.ts',
  'packages/circuits/src/{fund,fund-16,hidden-signer-whole,spend,spend-2x4,spend-16x8,spend-outputs}.test.ts',
  'packages/circuits/src/{hidden-signer,hidden-signer-bounds,hidden-signer-parts}.test.ts',
  // Half of the crash table of a disbursement: two of its four variants.
  'packages/operations/src/run/crash-variants.test.ts',
  // Every route under random requests; the routes' own tests stay.
  'apps/agent/src/http/api-fuzz.test.ts',
  'apps/platform/src/api-fuzz.test.ts',
  // A real PostgreSQL server, new clusters, and a production deployment with every kill.
  'apps/platform/src/database/{earlier-versions,postgres}.test.ts',
  'apps/agent/test/upgrade/earlier-agent.test.ts',
  'packages/{idempotency/src/postgres-store,wallet/src/node/store/shared-state}.test.ts',
  'packages/testkit/src/{embedded-cluster,postgres}.test.ts',
  'tooling/src/production-deployment.test.ts',
  // Requests of megabytes at the simulated custodians.
  'packages/approve/src/foreign-requests.test.ts',
  // Connections and nodes that are slow on purpose.
  'apps/platform/src/{closed-chain,http/listen,operator/control-stale}.test.ts',
  'packages/approve/src/custodian/page-reader-cut.test.ts',
  'packages/relayer/src/send/fair-relayer.test.ts',
  // A file of an account and its password, with scrypt at full strength, once for each attempt.
  'apps/payee/src/backup/backup-file.test.ts',
  // Wizards and tools: a process, a compiler or a linter for each case.
  'packages/prover/src/command/command-line.test.ts',
  'apps/agent/src/onboard/{onboard,onboard-custodian}.test.ts',
  'packages/circuits/src/cli.test.ts',
  'tooling/src/{lint-rules,readme-examples}.test.ts',
  // A simulation for each seeded fault of the model.
  'tooling/model/faults.test.ts',
  // Ceremonies and their forgeries, in pairings and in snarkjs.
  'packages/circuits/src/ceremony/{beacon-only,poisoned-powers,snarkjs}.test.ts',
  'packages/circuits/src/ceremony/{key/powers-origin,verify/verify-key,verify/verify-key-powers,verify/verify-sections}.test.ts',
];

/** End-to-end tests, as globs: whole deployments under one fault each, and proofs of every size. */
export const slowEndToEndTests: readonly string[] = [
  'packages/contracts/test/proofs/spend-attacks.e2e.test.ts',
  'apps/agent/src/services/fleet/fleet.e2e.test.ts',
  'packages/approve/src/killed-gate.e2e.test.ts',
  'apps/platform/src/{hostile-tenant,platform,postgres,reload,replicas}.e2e.test.ts',
  'apps/sandbox/src/{access,account-lies,browser-wallet,cancel,chaos,console,crashes,custody,fleet,fund-64,fund-256,hidden-change,in-flight,keep,late-landing,lies,onboard,pay-run,payee-attacks,payee-closed-tabs,payee-exit,payee-page,payee-two-tabs,privacy,redeliver,relayer-health,rpc-outage,self-submit,shared-jobs,spend,spend-crashes,split,tenancy,up-signer}.e2e.test.ts',
  'packages/prover/src/create-prover.e2e.test.ts',
  'examples/exit-without-platform/src/main.e2e.test.ts',
  'tooling/src/{device-proofs,fund-proofs,production-keys}.e2e.test.ts',
  'tooling/{browser/browser-proofs,conformance/sandbox}.e2e.test.ts',
];

/**
 * Of the slow files, those that only `pnpm test:full` runs, as globs. In every run: fleet.e2e.test.ts of the agent; the gas of a proof of
 * fund-64; the mutants of the other audits; keys that verify-key.test.ts changes; and quotients on a graphics device in webgpu/engine.test.ts.
 */
export const fullTests: readonly string[] = [
  'apps/sandbox/src/{fleet,fund-64}.e2e.test.ts',
  'packages/circuits/test/audit/spend-mutants.test.ts',
  'packages/circuits/src/ceremony/verify/verify-sections.test.ts',
  'packages/prover/src/webgpu/quotient/{ntt,quotient}.test.ts',
];

/** The longest files. They start first: a run whose last file is a long one leaves processors without work. */
export const longestTests =
  /\/(spend-audit|webgpu\/engine)\.test|\/(chaos|crashes|custody|device-proofs|fleet|fund-proofs|in-flight|redeliver|self-submit|shared-jobs|spend|spend-crashes|tenancy)\.e2e\.test/;

/** Vitest projects of `npm test`. The files of `postgres` are in `unit` too, on the embedded database. */
export const everydayProjects: readonly string[] = ['unit', 'e2e'];
