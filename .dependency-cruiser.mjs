// Who may import whom (ARCHITECTURE.md, "Packages and apps"). Arrows point down, from a level to one below it, or stay in their level
// without a circle.
// A rule that stops you is a question about where the code belongs, not about how to silence the rule.

/** Tests, and the helpers that only tests use. */
const TEST = '\\.(test|bench)\\.ts$|^(packages|apps)/[^/]+/(src/fixtures|test)/';
const OURS = '^(packages|apps|tooling)/';

/** `from` and `to` are a path, or conditions of dependency-cruiser. Tests may import what production code may not. */
function forbid(name, from, to, comment = name) {
  const conditions = (side) => (typeof side === 'string' ? { path: side } : side);
  const production = typeof from === 'string' ? { path: from, pathNot: TEST } : from;
  return { name, comment, severity: 'error', from: production, to: conditions(to) };
}

/** The packages, from the bottom up. Apps are above them all. */
const LEVELS = [
  ['core', 'kernels'],
  ['api', 'notes', 'storage', 'statements', 'tracing'],
  ['policy', 'http-client', 'http-server', 'evm-sender', 'configuration', 'idempotency'],
  ['signers', 'platform-client', 'circuits', 'contracts', 'prover'],
  ['wallet', 'database'],
  ['operations', 'approve', 'pay-run', 'relayer', 'pool-gate', 'console', 'webhooks'],
];
const upwards = LEVELS.slice(0, -1).map((level, index) => {
  const above = LEVELS.slice(index + 1).flat();
  return forbid(
    `${level.join('-')}-import-nothing-above`,
    `^packages/(${level.join('|')})/src/`,
    `^(apps|tooling)/|^packages/(${above.join('|')})/`,
  );
});

/** Packages that import fewer of ours than their level allows. */
const CONFINED = [
  ['core', [], 'The domain.'],
  ['kernels', [], 'Arithmetic and threads: any other project could use them as they are.'],
  ['notes', ['core', 'kernels'], 'The cryptography of notes.'],
  [
    'api',
    ['core'],
    'What crosses HTTP is described over the domain, and knows no note and no proof.',
  ],
  ['storage', ['core'], 'It is below everything that writes files.'],
  ['statements', ['core'], 'Tables and documents from values: it opens no store and asks nobody.'],
  ['tracing', ['core'], 'Every service may trace.'],
  [
    'policy',
    ['core', 'notes', 'storage'],
    'What may be signed follows from the domain and the notes, and not from how a signer is reached.',
  ],
  [
    'prover/src',
    ['kernels'],
    'It knows nothing of pools: any other project could use it as it is.',
  ],
  ['idempotency/src', ['core', 'storage'], 'It knows nothing of pools.'],
  [
    'http-server/src',
    ['core', 'tracing'],
    'It answers the errors of core, and knows no route, note or payment (decision 10).',
  ],
  ['http-client/src', ['core'], 'Bounded exchanges: it knows no route, note or payment.'],
  ['evm-sender/src', ['core'], 'Nonces, fees and bytes: it knows no pool, batch or note.'],
];
const list = new Intl.ListFormat('en-GB');
const confined = CONFINED.map(([folder, others, comment]) => {
  const [room] = folder.split('/');
  const only = others.length === 0 ? 'nothing-of-ours' : `${list.format(others)} only`;
  return forbid(
    `${room}-imports-${only.replace(/,? /g, '-')}`,
    `^packages/${folder}/`,
    { path: OURS, pathNot: `^packages/(${[room, ...others].join('|')})/` },
    comment,
  );
});

const agent = '^apps/agent/src/';
const wallet = '^packages/wallet/src/';
const operations = '^packages/operations/src/';

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...upwards,
    ...confined,
    forbid('no-cycles', {}, { circular: true }, 'Two modules that need each other are one.'),
    forbid('resolvable', {}, { couldNotResolve: true }),
    forbid(
      'declared-dependencies',
      { path: '^(packages|apps|examples)/' },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
      'A package imports only what its own package.json declares.',
    ),
    forbid('no-development-dependencies-in-production', '^(packages|apps)/[^/]+/src/', {
      dependencyTypes: ['npm-dev'],
      dependencyTypesNot: ['type-only'],
      // An optional peer, which startTracing loads where it is installed.
      pathNot: '/@opentelemetry/',
    }),
    forbid(
      'no-tests-in-production',
      { pathNot: [TEST, '^packages/[^/]+/scripts/', '^tooling/(bench|deployment|model|scripts)/'] },
      TEST,
      'Only a test imports a test; benchmarks, scripts and replays of the model may use the helpers of tests.',
    ),
    forbid(
      'kernels-are-for-provers-setup-and-scanning',
      {
        path: '^(packages|apps|examples)/',
        pathNot: [TEST, '^packages/(kernels|prover|circuits|notes)/'],
      },
      '^packages/kernels/',
      'Everybody else asks prover, circuits or notes, who check what they hand to the kernels.',
    ),
    forbid(
      'lower-room-tests-import-testkit-only',
      { path: '^packages/(core|kernels|notes)/(src/fixtures|test|.*\\.(test|bench)\\.ts$)' },
      { path: OURS, pathNot: '^packages/(core|kernels|notes|testkit)/' },
      'The tests of core, kernels and notes may use testkit, but nothing above them.',
    ),
    forbid(
      'pure-rooms-do-no-io',
      '^packages/(core|notes)/src/',
      { dependencyTypes: ['core'] },
      'core and notes are pure: no node: module, so no I/O, no clock, no randomness.',
    ),
    forbid('packages-do-not-import-apps', { path: '^packages/' }, '^(apps|examples)/'),
    forbid(
      'apps-do-not-import-apps',
      { path: '^apps/([^/]+)/' },
      { path: '^(apps|examples)/', pathNot: '^apps/$1/' },
      'Apps meet over HTTP; the sandbox starts them as processes.',
    ),
    forbid(
      'agent-config-imports-no-room',
      `${agent}config/`,
      { path: agent, pathNot: `${agent}config/` },
      'The rooms of the agent: config <- state <- services <- {http, terminal} <- commands.',
    ),
    forbid('agent-state-imports-config-only', `${agent}state/`, {
      path: agent,
      pathNot: `${agent}(config|state)/`,
    }),
    forbid('agent-services-import-config-and-state-only', `${agent}services/`, {
      path: agent,
      pathNot: `${agent}(config|state|services)/`,
    }),
    forbid(
      'agent-http-and-terminal-import-services-only',
      `${agent}(http|terminal)/`,
      { path: `${agent}[^/]+/`, pathNot: `${agent}(config|state|services|$1)/` },
      'http and terminal do not import each other; commands use them.',
    ),
    forbid(
      'agent-rooms-do-not-import-the-root',
      `${agent}[^/]+/`,
      `${agent}[^/]+\\.ts$`,
      'The root (agent, serve, cli, main) builds the rooms.',
    ),
    forbid(
      'operations-check-imports-neither-run-nor-adapters',
      `${operations}check/`,
      `${operations}(run|adapters|peers)/`,
      'Checks move no money: they do not reach the code that does.',
    ),
    forbid(
      'operations-run-imports-no-adapter',
      `${operations}run/`,
      `${operations}(adapters|peers)/`,
      'The run knows its ports; the app chooses the adapters.',
    ),
    forbid(
      'operations-adapters-import-ports-only',
      `${operations}adapters/`,
      `${operations}(check|run|peers)/`,
    ),
    forbid(
      'wallet-runs-in-a-browser',
      { path: wallet, pathNot: [TEST, `${wallet}node/`] },
      { dependencyTypes: ['core'] },
      'Only its Node part imports modules of Node; only its EVM part imports ethers and the contracts.',
    ),
    forbid(
      'wallet-core-is-no-adapter',
      { path: wallet, pathNot: [TEST, `${wallet}(node|evm|browser)/`] },
      {
        path: '^packages/(wallet/src/(node|evm|browser)|contracts|signers)/|node_modules/ethers/',
        pathNot: '^packages/signers/src/holder/holder-signer\\.ts$',
      },
    ),
    forbid(
      'wallet-browser-imports-nothing-with-node',
      `${wallet}browser/`,
      `${wallet}node/|^packages/(policy|signers)/src/index\\.ts$`,
      'Of the packages with a part for Node it imports the entries without it.',
    ),
    forbid(
      'wallet-spend-and-sync-do-not-import-each-other',
      `${wallet}(spend|sync)/`,
      { path: `${wallet}(spend|sync)/`, pathNot: `${wallet}$1/` },
      'A spend knows its ports, and the sync of notes only reads.',
    ),
    forbid(
      'testkit-is-for-tests',
      {
        pathNot: [
          TEST,
          '^apps/sandbox/',
          '^packages/testkit/',
          '^tooling/(bench|deployment|scripts)/',
        ],
      },
      '^packages/testkit/',
    ),
    forbid('production-does-not-import-tooling', '^(packages|apps|examples)/[^/]+/src/', {
      path: '^tooling/',
      pathNot: '^tooling/custodians/',
    }),
    forbid(
      'custodians-are-for-tests',
      { pathNot: [TEST, '^apps/sandbox/', '^tooling/custodians/'] },
      '^tooling/custodians/',
    ),
    forbid(
      'custodians-import-nothing-of-ours',
      { path: '^tooling/custodians/' },
      { path: '^(packages|apps|examples|tooling)/', pathNot: '^tooling/custodians/' },
      'A simulator that shared code with an adapter would share its mistakes.',
    ),
    forbid(
      'custodians-do-not-import-each-other',
      { path: '^tooling/custodians/(custodian-[ab])/' },
      { path: '^tooling/custodians/custodian-', pathNot: '^tooling/custodians/$1/' },
    ),
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
