// The command line as people expect it: suggestions, exit codes, and no stack trace for any arguments.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes, type Output } from '@pool/pay-run';
import { afterAll, describe, expect, it } from 'vitest';
import { commands, runCli } from './cli.ts';
import { type CommandRow, type Commands, json } from './cli-options.ts';
import { describeUnexpected } from './terminal/unexpected.ts';

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

const flags = [...new Set(listFlags(commands))];
const words = ['', '-', '--', '0', 'may', '-1', '../..', '\u0000', '\u001b[2J', home, ...flags];
const files = ['', 'DISBURSE_PORT=x', '\u0000\u0001', 'DISBURSE_HOME=\nDISBURSE_PORT=-1', '{}'];

describe('any command line', () => {
  it.each(listPaths(commands).map((path, index) => [path, index] as const))(
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

/** Every command with `--json`. @returns its words, with something for everything that it needs */
function listWithJson(rows: Commands, path: readonly string[] = []): (readonly string[])[] {
  return Object.entries(rows).flatMap(([name, row]) => {
    const own = [...path, name];
    const hasJson = Object.hasOwn(row.options ?? {}, '--json');
    return [...(hasJson ? [[...own, ...fillIn(row)]] : []), ...listWithJson(row.below ?? {}, own)];
  });
}

function fillIn({ args = {}, options = {}, hasEnvFile }: CommandRow): readonly string[] {
  const needed = Object.entries(options).flatMap(([flags, form]) => {
    const [flag = ''] = flags.split(' ');
    return typeof form === 'object' && form.isRequired === true ? [flag, 'x'] : [];
  });
  const words = Object.keys(args).flatMap((arg) => (arg.startsWith('<') ? ['x'] : []));
  const place = hasEnvFile === false ? [] : ['--env-file', join(home, 'missing.env')];
  return [...words, ...needed, ...place, '--json'];
}

async function runJson(argv: readonly string[]) {
  const lines: string[] = [];
  let messages = '';
  const err = (text: string): void => {
    messages += `${text}\n`;
  };
  const code = await runCli(argv, {
    ...{ out: (text) => void lines.push(text), err },
    terminal: { isTty: false, write: err },
  });
  return { code, lines, messages, answer: JSON.parse(lines[0] ?? '') };
}

describe('--json', () => {
  it.each(listWithJson(commands).map((argv) => [argv]))(
    'prints one envelope and nothing else, also where there is no configuration: %j',
    async (argv) => {
      const { code, lines, messages, answer } = await runJson(argv);
      expect(lines).toHaveLength(1);
      expect(lines[0]).not.toContain('\n');
      expect(code).not.toBe(exitCodes.ok);
      if (answer.ok === false) {
        expect(Object.keys(answer)).toEqual(['ok', 'error']);
        expect(messages).toBe(`${answer.error.code}: ${answer.error.message}\n`);
      } else {
        // They report what is wrong with the configuration.
        expect(['config', 'doctor']).toContain(argv[0]);
        expect(answer).toEqual({ ok: true, data: expect.anything() });
      }
    },
  );

  it.each([
    ['jobs', 'list', '--json', '--stat', 'paid'],
    ['jobs', 'list', '--json', '--state', 'lost'],
    ['jobs', 'show', '--json'],
    ['transfer', '--json'],
    ['job', '--json'],
  ])('prints an envelope for wrong usage: %s %s %s %s', async (...argv) => {
    const { code, lines, answer } = await runJson(argv);
    expect([code, lines.length]).toEqual([exitCodes.error, 1]);
    expect(answer).toEqual({
      ok: false,
      error: { code: 'invalid_request', message: expect.not.stringContaining('error:') },
    });
  });

  it('lists every problem of a configuration beside the message', async () => {
    writeFileSync(envFile, 'DISBURSE_PORT=x\nDISBURSE_PLATFORM_URL=y\n');
    const { answer } = await runJson(['jobs', 'list', '--json', '--env-file', envFile]);
    expect(answer.error.code).toBe('invalid_configuration');
    expect(answer.error.problems.length).toBeGreaterThan(1);
    for (const { message } of answer.error.problems) {
      expect(answer.error.message).toContain(message);
    }
  });

  it.each([
    ['prover', '--new-key', join(home, 'prover.key')],
    ['contacts', 'list', '--env-file', envFile],
  ])('prints the document of a command that did its work: %s %s', async (...argv) => {
    writeFileSync(envFile, `DISBURSE_HOME=${home}\n`);
    const { code, lines, answer } = await runJson([...argv, '--json']);
    expect([code, lines.length]).toEqual([exitCodes.ok, 1]);
    expect(answer).toEqual({ ok: true, data: expect.any(Object) });
  });

  it.each([
    ['answers null for a command that hands over nothing', [], ['{"ok":true,"data":null}']],
    ['prints no line for a command that follows and met no event', ['--follow'], []],
    ['prints no line for a command that watches and met no event', ['--watch'], []],
  ])('keeps a text off standard output, and %s', async (_, flags, expected) => {
    const lines: string[] = [];
    const texts: string[] = [];
    const err = (text: string): void => void texts.push(text);
    const say: CommandRow = {
      ...{ about: 'Say.', hasEnvFile: false },
      options: { ...json, '--follow': 'go on', '--watch': 'go on' },
      load:
        async () =>
        async (_options: object, { out }: Pick<Output, 'out'>) => {
          out('a text');
          return 5;
        },
    };
    const streams = { out: (text: string) => void lines.push(text), err };
    const argv = ['say', '--json', ...flags];
    const terminal = { isTty: false, write: err };
    expect(await runCli(argv, { ...streams, terminal }, { say })).toBe(5);
    expect([lines, texts]).toEqual([expected, ['a text']]);
  });
});

describe('an unexpected error', () => {
  it('shows its stack only to whoever asks for it', () => {
    const error = new Error('canary');
    expect(describeUnexpected(error, {})).not.toContain('canary');
    expect(describeUnexpected(error, { DISBURSE_LOG_LEVEL: 'debug' })).toContain('canary');
  });
});
