// The project's rules in eslint.config.js, each broken once. The text is linted in place of an existing file,
// because the typed rules need a file of the TypeScript program.
import { resolve } from 'node:path';
import { ESLint } from 'eslint';
import { describe, expect, it } from 'vitest';

const repository = resolve(import.meta.dirname, '../..');
const eslint = new ESLint({
  cwd: repository,
  // With CI set, the parser would otherwise treat each file as unchanged and use the text on disk.
  overrideConfig: {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { disallowAutomaticSingleRunInference: true } },
  },
});

async function brokenRules(text: string, file: string): Promise<string[]> {
  const [result] = await eslint.lintText(text, { filePath: resolve(repository, file) });
  return (result?.messages ?? []).map(({ ruleId, message }) => `${ruleId ?? 'parser'}: ${message}`);
}

const core = 'packages/core/src/text/memo.ts';
const signers = 'packages/signers/src/index.ts';
const test = 'tooling/src/summary.test.ts';

const bans: readonly (readonly [text: string, file: string, found: string])[] = [
  ['export default 1;', core, 'Named exports only'],
  ["export { x as default } from './hex.ts';", core, 'Named exports only'],
  ["export * from './hex.ts';", core, 'No `export *`'],
  ['export enum A { B }', core, 'No enum'],
  ['export const f = (a: number) => a;', core, 'Functions of a module are declarations'],
  ['const f = function () {}; f();', core, 'Functions of a module are declarations'],
  ['export const MAX_BYTES = 1;', core, 'Constants are in camelCase'],
  ['const SIZE = 1; export const x = SIZE;', core, 'Constants are in camelCase'],
  ['export class Thing { x = 1; }', core, 'Classes are for errors'],
  ['export class Thing extends Map {}', core, 'Inheritance is for errors only'],
  ['export const x: any = 1;', core, 'no-explicit-any'],
  ['Promise.resolve(1);', core, 'no-floating-promises'],
  ['export function f(a: number[]) { return a[0]!; }', core, 'no-non-null-assertion'],
  ['export const x = Math.random();', core, 'No Math.random'],
  ['export const x = Date.now();', core, 'A pure room reads no clock'],
  ['export const x = new Date();', core, 'A pure room reads no clock'],
  ['export const x = crypto.randomUUID();', core, 'core and notes are pure'],
  ["export { randomBytes } from '@noble/hashes/utils.js';", core, 'randomness arrives'],
  ['export const x = process.env;', signers, 'The environment is read in config.ts'],
  ['console.log(1);', signers, 'no-console'],
  ['// @ts-ignore\nexport const x = 1;', core, 'ban-ts-comment'],
  ['// eslint-disable-next-line\nexport const x: any = 1;', core, 'no-explicit-any'],
  ['export const x = 1 == (2 as number);', core, 'eqeqeq'],
  [`export const x = [\n${'1,\n'.repeat(400)}];`, core, 'max-lines'],
];

describe('a lint rule', { timeout: 120_000 }, () => {
  it.each(bans)('refuses %j in %s', async (text, file, found) => {
    expect((await brokenRules(text, file)).join('\n')).toContain(found);
  });

  const allowed: readonly (readonly [text: string, file: string])[] = [
    ['export class OddError extends Error {}', core],
    ['export class Handle { #open = true; close() { this.#open = false; } }', core],
    ['export const x = Date.now();', signers],
    ['export const x = new Date(0);', core],
    ['export const G1 = 64;', core],
    ['export function f(a: number[]) { return a[0]!; }', test],
  ];
  it.each(allowed)('allows %j in %s', async (text, file) => {
    expect(await brokenRules(text, file)).toEqual([]);
  });
});
