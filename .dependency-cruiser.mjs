// Who may import whom (ARCHITECTURE.md, "Packages and apps"). Arrows point down, from a level to one below it, or stay in their level
// without a circle.
// A rule that stops you is a question about where the code belongs, not about how to silence the rule.

/** Tests, and the helpers that only tests use. */
const TEST = '\\.(test|bench)\\.ts$|^(packages|apps)/[^/]+/(src/fixtures|test)/';
/** The packages, from the bottom up. Apps are above them all. */
const LEVELS = [
  ['core', 'kernels'],
  ['api', 'notes', 'storage'],
  ['policy', 'http-client', 'http-server', 'evm-sender', 'configuration', 'idempotency'],
  ['signers', 'platform-client', 'circuits', 'contracts', 'prover'],
  ['wallet', 'database'],
  ['operations', 'approve', 'pay-run', 'relayer', 'pool-gate'],
];
const upwards = LEVELS.slice(0, -1).map((level, index) => ({
  name: `${level.join('-')}-import-nothing-above`,
  severity: 'error',
  from: { path: `^packages/(${level.join('|')})/src/`, pathNot: TEST },
  to: {
    path: `^(apps|tooling)/|^packages/(${LEVELS.slice(index + 1)
      .flat()
      .join('|')})/`,
  },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...upwards,
    {
      name: 'no-cycles',
      comment: 'Two modules that need each other are one module, or three.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment: 'Every import resolves to a file or an installed package.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'declared-dependencies',
      comment: 'A package imports only what its own package.json declares.',
      severity: 'error',
      from: { path: '^(packages|apps|examples)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no-development-dependencies-in-production',
      comment: 'Code that ships does not import devDependencies.',
      severity: 'error',
      from: { path: '^(packages|apps)/[^/]+/src/', pathNot: TEST },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-tests-in-production',
      comment: 'Only a test imports a test; benchmarks and scripts may use the helpers of tests.',
      severity: 'error',
      from: { pathNot: [TEST, '^packages/[^/]+/scripts/', '^tooling/bench/'] },
      to: { path: TEST },
    },
    {
      name: 'core-imports-nothing-of-ours',
      severity: 'error',
      from: { path: '^packages/core/', pathNot: TEST },
      to: { path: '^(packages|apps|tooling)/', pathNot: '^packages/core/' },
    },
    {
      name: 'kernels-imports-nothing-of-ours',
      comment: 'Arithmetic and threads: any other project could use them as they are.',
      severity: 'error',
      from: { path: '^packages/kernels/', pathNot: TEST },
      to: { path: '^(packages|apps|tooling)/', pathNot: '^packages/kernels/' },
    },
    {
      name: 'kernels-are-for-provers-setup-and-scanning',
      comment:
        'Everybody else asks prover, circuits or notes, who check what they hand to the kernels.',
      severity: 'error',
      from: {
        path: '^(packages|apps|examples)/',
        pathNot: [TEST, '^packages/(kernels|prover|circuits|notes)/'],
      },
      to: { path: '^packages/kernels/' },
    },
    {
      name: 'notes-imports-core-and-kernels-only',
      severity: 'error',
      from: { path: '^packages/notes/', pathNot: TEST },
      to: { path: '^(packages|apps|tooling)/', pathNot: '^packages/(core|kernels|notes)/' },
    },
    {
      name: 'api-imports-core-only',
      comment: 'What crosses HTTP is described over the domain, and knows no note and no proof.',
      severity: 'error',
      from: { path: '^packages/api/', pathNot: TEST },
      to: { path: '^(packages|apps|tooling)/', pathNot: '^packages/(core|api)/' },
    },
    {
      name: 'storage-imports-core-only',
      comment: 'It is below everything that writes files.',
      severity: 'error',
      from: { path: '^packages/storage/', pathNot: TEST },
      to: { path: '^(packages|apps|tooling)/', pathNot: '^packages/(core|storage)/' },
    },
    {
      name: 'policy-imports-core-notes-and-storage-only',
      comment:
        'What may be signed follows from the domain and the notes, and not from how a signer is reached.',
      severity: 'error',
      from: { path: '^packages/policy/', pathNot: TEST },
      to: { path: '^(packages|apps|tooling)/', pathNot: '^packages/(core|notes|policy|storage)/' },
    },
    {
      name: 'lower-room-tests-import-testkit-only',
      comment: 'The tests of core, kernels and notes may use testkit, but nothing above them.',
      severity: 'error',
      from: {
        path: '^packages/(core|kernels|notes)/(src/fixtures|test|.*\\.(test|bench)\\.ts$)',
      },
      to: { path: '^(packages|apps|tooling)/', pathNot: '^packages/(core|kernels|notes|testkit)/' },
    },
    {
      name: 'pure-rooms-do-no-io',
      comment: 'core and notes are pure: no node: module, so no I/O, no clock, no randomness.',
      severity: 'error',
      from: { path: '^packages/(core|notes)/src/', pathNot: TEST },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'prover-imports-kernels-only',
      comment: 'It knows nothing of pools: any other project could use it as it is.',
      severity: 'error',
      from: { path: '^packages/prover/src/', pathNot: TEST },
      to: { path: '^(packages|apps|tooling)/', pathNot: '^packages/(kernels|prover)/' },
    },
    {
      name: 'idempotency-imports-core-and-storage-only',
      comment: 'It knows nothing of pools.',
      severity: 'error',
      from: { path: '^packages/idempotency/src/', pathNot: TEST },
      to: { path: '^(packages|apps|tooling)/', pathNot: '^packages/(core|idempotency|storage)/' },
    },
    {
      name: 'http-server-imports-core-only',
      comment: 'It answers the errors of core, and knows no route, note or payment (decision 10).',
      severity: 'error',
      from: { path: '^packages/http-server/src/', pathNot: TEST },
      to: { path: '^(packages|apps|tooling)/', pathNot: '^packages/(core|http-server)/' },
    },
    {
      name: 'http-client-imports-core-only',
      comment: 'Bounded exchanges: it knows no route, note or payment.',
      severity: 'error',
      from: { path: '^packages/http-client/src/', pathNot: TEST },
      to: { path: '^(packages|apps|tooling)/', pathNot: '^packages/(core|http-client)/' },
    },
    {
      name: 'evm-sender-imports-core-only',
      comment: 'Nonces, fees and bytes: it knows no pool, batch or note.',
      severity: 'error',
      from: { path: '^packages/evm-sender/src/', pathNot: TEST },
      to: { path: '^(packages|apps|tooling)/', pathNot: '^packages/(core|evm-sender)/' },
    },
    {
      name: 'packages-do-not-import-apps',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^(apps|examples)/' },
    },
    {
      name: 'apps-do-not-import-apps',
      comment: 'Apps meet over HTTP; the sandbox starts them as processes.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^(apps|examples)/', pathNot: '^apps/$1/' },
    },
    {
      name: 'agent-config-imports-no-room',
      comment:
        'The rooms of the agent: config <- state <- services <- {http, terminal} <- commands.',
      severity: 'error',
      from: { path: '^apps/agent/src/config/', pathNot: TEST },
      to: { path: '^apps/agent/src/', pathNot: '^apps/agent/src/config/' },
    },
    {
      name: 'agent-state-imports-config-only',
      severity: 'error',
      from: { path: '^apps/agent/src/state/', pathNot: TEST },
      to: { path: '^apps/agent/src/', pathNot: '^apps/agent/src/(config|state)/' },
    },
    {
      name: 'agent-services-import-config-and-state-only',
      severity: 'error',
      from: { path: '^apps/agent/src/services/', pathNot: TEST },
      to: { path: '^apps/agent/src/', pathNot: '^apps/agent/src/(config|state|services)/' },
    },
    {
      name: 'agent-http-and-terminal-import-services-only',
      comment: 'http and terminal do not import each other; commands use them.',
      severity: 'error',
      from: { path: '^apps/agent/src/(http|terminal)/', pathNot: TEST },
      to: {
        path: '^apps/agent/src/[^/]+/',
        pathNot: '^apps/agent/src/(config|state|services|$1)/',
      },
    },
    {
      name: 'agent-rooms-do-not-import-the-root',
      comment: 'The root (agent, serve, cli, main) builds the rooms.',
      severity: 'error',
      from: { path: '^apps/agent/src/[^/]+/', pathNot: TEST },
      to: { path: '^apps/agent/src/[^/]+\\.ts$' },
    },
    {
      name: 'operations-check-imports-neither-run-nor-adapters',
      comment: 'Checks move no money: they do not reach the code that does.',
      severity: 'error',
      from: { path: '^packages/operations/src/check/', pathNot: TEST },
      to: { path: '^packages/operations/src/(run|adapters)/' },
    },
    {
      name: 'operations-run-imports-no-adapter',
      comment: 'The run knows its ports; the app chooses the adapters.',
      severity: 'error',
      from: { path: '^packages/operations/src/run/', pathNot: TEST },
      to: { path: '^packages/operations/src/adapters/' },
    },
    {
      name: 'wallet-runs-in-a-browser',
      comment:
        'Only its Node part imports modules of Node; only its EVM part imports ethers and the contracts.',
      severity: 'error',
      from: { path: '^packages/wallet/src/', pathNot: [TEST, '^packages/wallet/src/node/'] },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'wallet-core-is-no-adapter',
      severity: 'error',
      from: { path: '^packages/wallet/src/', pathNot: [TEST, '^packages/wallet/src/(node|evm)/'] },
      to: {
        path: '^packages/(wallet/src/(node|evm)|contracts|signers)/|node_modules/ethers/',
        pathNot: '^packages/signers/src/holder/holder-signer\\.ts$',
      },
    },
    {
      name: 'wallet-spend-and-sync-do-not-import-each-other',
      comment: 'A spend knows its ports, and the sync of notes only reads.',
      severity: 'error',
      from: { path: '^packages/wallet/src/(spend|sync)/', pathNot: TEST },
      to: { path: '^packages/wallet/src/(spend|sync)/', pathNot: '^packages/wallet/src/$1/' },
    },
    {
      name: 'operations-adapters-import-ports-only',
      severity: 'error',
      from: { path: '^packages/operations/src/adapters/', pathNot: TEST },
      to: { path: '^packages/operations/src/(check|run)/' },
    },
    {
      name: 'testkit-is-for-tests',
      comment: 'Only tests, the sandbox and testkit itself import testkit.',
      severity: 'error',
      from: { pathNot: [TEST, '^apps/sandbox/', '^packages/testkit/'] },
      to: { path: '^packages/testkit/' },
    },
    {
      name: 'production-does-not-import-tooling',
      severity: 'error',
      from: { path: '^(packages|apps|examples)/[^/]+/src/' },
      to: { path: '^tooling/', pathNot: '^tooling/custodians/' },
    },
    {
      name: 'custodians-are-for-tests',
      comment: 'Only tests and the sandbox import the simulators of custodians.',
      severity: 'error',
      from: { pathNot: [TEST, '^apps/sandbox/', '^tooling/custodians/'] },
      to: { path: '^tooling/custodians/' },
    },
    {
      name: 'custodians-import-nothing-of-ours',
      comment: 'A simulator that shared code with an adapter would share its mistakes.',
      severity: 'error',
      from: { path: '^tooling/custodians/' },
      to: { path: '^(packages|apps|examples|tooling)/', pathNot: '^tooling/custodians/' },
    },
    {
      name: 'custodians-do-not-import-each-other',
      severity: 'error',
      from: { path: '^tooling/custodians/(custodian-[ab])/' },
      to: {
        path: '^tooling/custodians/custodian-',
        pathNot: '^tooling/custodians/$1/',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|\\.cache|\\.sandbox)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@pool/source', 'import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
