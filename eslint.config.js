// The rules of the house that a linter can hold (CONTRIBUTING.md, "How code reads").
// Formatting and the everyday lint belong to biome; who may import whom belongs to dependency-cruiser.
// Inline `eslint-disable` comments have no effect: change the code, or change the rule here for everybody.
import tseslint from 'typescript-eslint';

/** Tests, and the helpers that only tests use. */
const tests = [
  '**/*.test.ts',
  '**/*.bench.ts',
  '**/src/fixtures/**/*.ts',
  '{apps,packages}/*/test/**/*.{ts,tsx}',
];
const scripts = ['packages/*/scripts/**', 'tooling/**', '*.config.ts', '*.config.js'];
const pureRooms = ['packages/core/src/**/*.ts', 'packages/notes/src/**/*.ts'];

/** Shapes of code that no room uses. */
const bannedEverywhere = [
  { selector: 'TSEnumDeclaration', message: 'No enum: use a union of string literals.' },
  {
    selector: 'ExportAllDeclaration',
    message: 'No `export *`: an index.ts names what it exports, by hand.',
  },
  {
    selector: 'MemberExpression[object.name="Math"][property.name="random"]',
    message: 'No Math.random: take randomness as a dependency, or use node:crypto.',
  },
  {
    selector:
      'ClassDeclaration:not([superClass]):not(:has(PropertyDefinition > PrivateIdentifier))',
    message: 'Classes are for errors and for objects that own a resource in #private fields.',
  },
  {
    selector: 'ClassDeclaration[superClass]:not([id.name=/Error$/])',
    message: 'Inheritance is for errors only.',
  },
  ...['Program > ', 'Program > ExportNamedDeclaration > '].flatMap((level) => [
    {
      selector: `${level}VariableDeclaration > VariableDeclarator[init.type=/^(ArrowFunction|Function)Expression$/]`,
      message: 'Functions of a module are declarations: `function name() {}`.',
    },
    {
      selector: `${level}VariableDeclaration > VariableDeclarator > Identifier.id[name=/^[A-Z][A-Z0-9]*_|^[A-Z]{2}/]`,
      message:
        'Constants are in camelCase, like other names. Letters of a formula (G1, Q) may stay.',
    },
  ]),
];

const bannedInModules = [
  ...bannedEverywhere,
  ...['ExportDefaultDeclaration', 'ExportSpecifier[exported.name="default"]'].map((selector) => ({
    selector,
    message: 'Named exports only.',
  })),
];
const bannedInLibraries = [
  ...bannedInModules,
  {
    selector: 'MemberExpression[object.name="process"][property.name="env"]',
    message: 'The environment is read in config.ts or main.ts only; pass values on from there.',
  },
];
const bannedInPureRooms = [
  ...bannedInLibraries,
  ...[
    'MemberExpression[object.name="Date"][property.name="now"]',
    'NewExpression[callee.name="Date"][arguments.length=0]',
  ].map((selector) => ({
    selector,
    message: 'A pure room reads no clock: take the time as an argument.',
  })),
];

/** Rules about values that come from nowhere, which tests may use. */
const unsafe = ['argument', 'assignment', 'call', 'member-access', 'return'].map(
  (what) => `no-unsafe-${what}`,
);
/** Rules of typescript-eslint that take no options. */
const typed = [
  'await-thenable',
  'consistent-type-exports',
  'consistent-type-imports',
  'no-base-to-string',
  'no-explicit-any',
  'no-floating-promises',
  'no-for-in-array',
  'no-implied-eval',
  'no-misused-promises',
  'no-non-null-assertion',
  'no-require-imports',
  'no-unnecessary-type-assertion',
  'only-throw-error',
  'prefer-promise-reject-errors',
  'restrict-plus-operands',
  'use-unknown-in-catch-callback-variable',
  ...unsafe,
];

const pureRoomGlobals = ['fetch', 'crypto', 'process', 'performance', 'setTimeout', 'setInterval'];

export default tseslint.config(
  {
    ignores: [
      '**/node_modules/**',
      '**/dist/**',
      '**/out/**',
      'packages/contracts/cache/**',
      'packages/contracts/lib/**',
      '**/.cache/**',
      '**/.sandbox/**',
      '**/generated/**',
      '**/*.generated.ts',
      '**/*.d.ts',
    ],
  },
  { linterOptions: { noInlineConfig: true } },
  {
    files: ['**/*.ts', '**/*.tsx'],
    plugins: { '@typescript-eslint': tseslint.plugin },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: {
        project: ['./tsconfig.json', './apps/payee/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      ...Object.fromEntries(typed.map((name) => [`@typescript-eslint/${name}`, 'error'])),
      '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      eqeqeq: 'error',
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'no-eval': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-restricted-syntax': ['error', ...bannedInModules],
    },
  },
  {
    files: ['packages/*/src/**/*.ts', 'apps/*/src/**/*.ts', 'apps/*/src/**/*.tsx'],
    ignores: [...tests, '**/config.ts', '**/main.ts', 'packages/testkit/**', 'apps/sandbox/**'],
    rules: { 'no-restricted-syntax': ['error', ...bannedInLibraries] },
  },
  {
    files: ['packages/*/src/**/*.ts'],
    ignores: tests,
    rules: { 'no-console': 'error' },
  },
  {
    files: pureRooms,
    ignores: tests,
    rules: {
      'no-restricted-globals': [
        'error',
        ...pureRoomGlobals.map((name) => ({ name, message: 'core and notes are pure.' })),
      ],
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^@noble/.*utils',
              importNames: ['randomBytes'],
              message: 'core and notes are pure: randomness arrives as an argument.',
            },
          ],
        },
      ],
      'no-restricted-syntax': ['error', ...bannedInPureRooms],
    },
  },
  {
    files: tests,
    rules: Object.fromEntries(
      ['no-non-null-assertion', ...unsafe].map((name) => [`@typescript-eslint/${name}`, 'off']),
    ),
  },
  {
    // Configuration files of tools that insist on a default export.
    files: scripts.filter((pattern) => pattern.includes('config')).concat('tooling/*.config.ts'),
    rules: { 'no-restricted-syntax': ['error', ...bannedEverywhere] },
  },
);
