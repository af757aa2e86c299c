// The rules of the house that a linter can hold (CONTRIBUTING.md, "How code reads").
// Formatting and the everyday lint belong to biome; who may import whom belongs to dependency-cruiser.
// Inline `eslint-disable` comments have no effect: change the code, or change the rule here for everybody.
import tseslint from 'typescript-eslint';

/** Tests, and the helpers that only tests use. */
const tests = [
  '**/*.test.ts',
  '**/*.bench.ts',
  '**/src/fixtures/**/*.ts',
  'packages/*/test/**/*.ts',
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

const bannedDefaultExport = [
  { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
  {
    selector: 'ExportSpecifier[exported.name="default"]',
    message: 'Named exports only.',
  },
];

const bannedEnvironment = [
  {
    selector: 'MemberExpression[object.name="process"][property.name="env"]',
    message: 'The environment is read in config.ts or main.ts only; pass values on from there.',
  },
];

const bannedClock = [
  {
    selector: 'MemberExpression[object.name="Date"][property.name="now"]',
    message: 'A pure room reads no clock: take the time as an argument.',
  },
  {
    selector: 'NewExpression[callee.name="Date"][arguments.length=0]',
    message: 'A pure room reads no clock: take the time as an argument.',
  },
];

const pureRoomGlobals = ['fetch', 'crypto', 'process', 'performance', 'setTimeout', 'setInterval'];

export default tseslint.config(
  {
    ignores: [
      '**/node_modules/**',
      '**/dist/**',
      '**/out/**',
      '**/cache/**',
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
    files: ['**/*.ts'],
    plugins: { '@typescript-eslint': tseslint.plugin },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { project: ['./tsconfig.json'], tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': true }],
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-base-to-string': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-for-in-array': 'error',
      '@typescript-eslint/no-implied-eval': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-require-imports': 'error',
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/no-unsafe-argument': 'error',
      '@typescript-eslint/no-unsafe-assignment': 'error',
      '@typescript-eslint/no-unsafe-call': 'error',
      '@typescript-eslint/no-unsafe-member-access': 'error',
      '@typescript-eslint/no-unsafe-return': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/prefer-promise-reject-errors': 'error',
      '@typescript-eslint/restrict-plus-operands': 'error',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/use-unknown-in-catch-callback-variable': 'error',
      eqeqeq: 'error',
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'no-eval': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-restricted-syntax': ['error', ...bannedEverywhere, ...bannedDefaultExport],
    },
  },
  {
    files: ['packages/*/src/**/*.ts', 'apps/*/src/**/*.ts'],
    ignores: [...tests, '**/config.ts', '**/main.ts', 'packages/testkit/**', 'apps/sandbox/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...bannedEverywhere,
        ...bannedDefaultExport,
        ...bannedEnvironment,
      ],
    },
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
      'no-restricted-syntax': [
        'error',
        ...bannedEverywhere,
        ...bannedDefaultExport,
        ...bannedEnvironment,
        ...bannedClock,
      ],
    },
  },
  {
    files: tests,
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    // Configuration files of tools that insist on a default export.
    files: scripts.filter((pattern) => pattern.includes('config')).concat('tooling/*.config.ts'),
    rules: { 'no-restricted-syntax': ['error', ...bannedEverywhere] },
  },
);
