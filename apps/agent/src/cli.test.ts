// The command line as people expect it: suggestions, exit codes, and no stack trace for any arguments.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes } from '@pool/pay-run';
import { afterAll, describe, expect, it } from 'vitest';
import { runCli } from './cli.ts';
import { automationCommands } from './cli-automation.ts';
import { holderCommands } from './cli-holder.ts';
import { machineCommands } from './cli-machine.ts';
import type { Commands } from './cli-options.ts';
import { payerCommands } from './cli-payer.ts';
import { scheduleCommands } from './cli-schedule.ts';
import { describeUnexpected } from './terminal/envelope.ts';

const home = mkdtempSync(join(tmpdir(), 'pool-cli-'));
afterAll(() => rmSync(home, { recursive: true }));
const envFile = join(home, 'agent.env');

async function run(argv: readonly string[]) {
  let text = '';
  const write = (more: string): void => {
    text += `${more}\n`;
  };
  const code = await runCli(argv, {
    ...{ out: write, err: write },
    terminal: { isTty: false, write },
  });
  return { code, text };
}

describe('a mistyped command line', () => {
  it.each([
    [['dissburse'], 'Did you mean disburse?'],
    [['pay-runs', 'lst'], 'Did you mean list?'],
    [['tenancy', 'shwo'], 'Did you mean show?'],
    [['pay-runs', 'show', 'may', '--jsn'], 'Did you mean --json?'],
    [['pay-runs', 'list', '--chian', 'x'], 'Did you mean --chain?'],
    [['disburse', '--fle', 'x'], 'Did you mean --file?'],
    [['schedule', 'add', 'x', '--rostr', 'y'], 'Did you mean --roster?'],
    [['--no-colour'], 'Did you mean --no-color?'],
  ])('is answered with the likely one, and ends with 1: %j', async (argv, message) => {
    expect(await run(argv)).toEqual({
      code: exitCodes.error,
      text: expect.stringContaining(message),
    });
  });
});

it.each([['disburse', '--file', 'x'], ['statement']])(
  'names a required option that is missing: %j',
  async (...argv) => {
    expect(await run(argv.flat())).toEqual({
      code: exitCodes.error,
      text: expect.stringMatching(/^error: required option '--[a-z-]+ <[a-z]+>' not specified$/m),
    });
  },
);

it('shows examples in the help of a command', async () => {
  const { code, text } = await run(['disburse', '--help']);
  expect([code, text]).toEqual([
    0,
    expect.stringContaining('Examples:\n  disburse-agent disburse '),
  ]);
});

/** They listen, or read nothing of the broken configuration. */
const excluded = new Set(['page', 'approve', 'viewing-key', 'prover']);

function listPaths(commands: Commands, path: readonly string[] = []): (readonly string[])[] {
  return Object.entries(commands).flatMap(([name, { below = {} }]) =>
    excluded.has(name) ? [] : [[...path, name], ...listPaths(below, [...path, name])],
  );
}

function listFlags(commands: Commands): string[] {
  return Object.values(commands).flatMap(({ options = {}, below = {} }) => [
    ...Object.keys(options).flatMap((flags) => /--[a-z-]+/.exec(flags)?.[0] ?? []),
    ...listFlags(below),
  ]);
}

const all: Commands = {
  ...payerCommands,
  ...automationCommands,
  ...scheduleCommands,
  ...holderCommands,
  ...machineCommands,
};

const flags = [...new Set(listFlags(all))];
const words = ['', '-', '--', '0', 'may', '-1', '../..', '\u0000', '\u001b[2J', home, ...flags];
const files = ['', 'DISBURSE_PORT=x', '\u0000\u0001', 'DISBURSE_HOME=\nDISBURSE_PORT=-1', '{}'];

describe('any command line', () => {
  it.each(listPaths(all).map((path, index) => [path, index] as const))(
    'ends with a known code and without a stack trace, whatever the configuration is: %j',
    async (path, index) => {
      for (const [turn, file] of files.entries()) {
        writeFileSync(envFile, file);
        // Other words in each turn and for each command, as many as the number of the turn.
        const given = files.slice(0, turn).map((_, at) => {
          return words[(index * 31 + turn * 17 + at * 7) % words.length] ?? '';
        });
        const { code, text } = await run([...path, ...given, `--env-file=${envFile}`]);
        expect(Object.values(exitCodes)).toContain(code);
        expect(text).not.toMatch(/^\s+at .*:\d+:\d+|internal_error/m);
      }
    },
  );
});

describe('an unexpected error', () => {
  it('shows its stack only to whoever asks for it', () => {
    const error = new Error('canary');
    expect(describeUnexpected(error, {})).not.toContain('canary');
    expect(describeUnexpected(error, { DISBURSE_LOG_LEVEL: 'debug' })).toContain('canary');
  });
});
