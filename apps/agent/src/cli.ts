/**
 * The commands of `disburse-agent`, made from their tables. Each loads its own code when it runs.
 *
 * @module
 */
import type { Output } from '@pool/pay-run';
import { exitCodes } from '@pool/pay-run/exit-codes';
import { Command, CommanderError, Option } from 'commander';
import { automationCommands } from './cli-automation.ts';
import { holderCommands } from './cli-holder.ts';
import { machineCommands } from './cli-machine.ts';
import { type Commands, envFile, type OptionForm, type Options } from './cli-options.ts';
import { payerCommands } from './cli-payer.ts';
import { scheduleCommands } from './cli-schedule.ts';
import { version } from './config/version.ts';
import { runWithJson } from './terminal/json-output.ts';
import type { Paint } from './terminal/paint.ts';

export type Streams = Omit<Output, 'out'> & {
  out(text: string): void;
  err(text: string): void;
  /** Absent: no colours. */
  readonly paint?: Paint;
};

const programName = 'disburse-agent';

export const commands: Commands = {
  ...payerCommands,
  ...scheduleCommands,
  ...automationCommands,
  ...holderCommands,
  ...machineCommands,
  completion: {
    about:
      'Print a script that completes commands, options, their choices, labels and schedules. For bash: source <(disburse-agent completion bash)',
    args: { '<shell>': 'bash, zsh or fish' },
    hasEnvFile: false,
    load: async () => {
      const { isNameKind, printCompletion } = await import('./cli-completion.ts');
      return async (shell: string, _options: object, { out }: Pick<Output, 'out'>) => {
        if (isNameKind(shell)) {
          const { runNames } = await import('./commands/machine/completion-names.ts');
          return await runNames(shell, { out });
        }
        out(printCompletion(shell, programName, commands));
        return exitCodes.ok;
      };
    },
  },
};

/** Runs one command line. @returns the exit code */
export async function runCli(
  argv: readonly string[],
  streams: Streams,
  table: Commands = commands,
): Promise<number> {
  let code: number = exitCodes.ok;
  const program = createProgram(table, streams, (result) => {
    code = result;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) {
      return exitCodes.ok;
    }
    const { asksForJson, formatFailure, isPoolError, PoolError } = await import('@pool/core');
    if (asksForJson(argv)) {
      const isUsage = error instanceof CommanderError;
      const message = isUsage ? error.message.replace(/^error: /, '') : '';
      streams.out(formatFailure(isUsage ? new PoolError('invalid_request', message) : error));
    }
    if (error instanceof CommanderError) {
      return exitCodes.error;
    }
    if (isPoolError(error)) {
      const { exitCodeOfError } = await import('@pool/pay-run');
      streams.err(`${error.code}: ${error.message}`);
      return exitCodeOfError(error.code);
    }
    const { createProcessSource } = await import('./config/config.ts');
    const { describeUnexpected } = await import('./terminal/unexpected.ts');
    streams.err(describeUnexpected(error, createProcessSource().env));
    return exitCodes.error;
  }
}

function createProgram(
  table: Commands,
  streams: Streams,
  setCode: (code: number) => void,
): Command {
  const program = new Command(programName)
    .description('Pays rosters from a shielded pool: the disbursement agent and its commands.')
    .version(version)
    .option('--no-color', 'print no colours, as with NO_COLOR=1')
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({ writeOut: (text) => streams.out(text.trimEnd()), writeErr: streams.err });
  addCommands(program, table, streams, setCode);
  return program;
}

function addCommands(
  parent: Command,
  commands: Commands,
  streams: Streams,
  setCode: (code: number) => void,
): void {
  for (const [name, row] of Object.entries(commands)) {
    const { about, args = {}, options = {}, hasEnvFile = true, below = {}, load } = row;
    const command = parent.command(name).description(about);
    if (row.examples !== undefined) {
      const lines = row.examples.map((example) => `  ${programName} ${example}`);
      command.addHelpText('after', ['', 'Examples:', ...lines].join('\n'));
    }
    if (row.alias !== undefined) {
      command.alias(row.alias);
    }
    for (const [arg, what] of Object.entries(args)) {
      command.argument(arg, what);
    }
    const own = load !== undefined && hasEnvFile ? { ...options, ...envFile } : options;
    for (const [flags, form] of Object.entries(own)) {
      command.addOption(createOption(flags, typeof form === 'string' ? { about: form } : form));
    }
    if (row.isPassedThrough === true) {
      command.helpOption(false).allowUnknownOption().passThroughOptions();
    }
    addCommands(command, below, streams, setCode);
    if (load !== undefined) {
      command.action(async (...given: unknown[]) => {
        // The last argument is the command itself.
        const [{ json, follow, watch }] = given.slice(-2) as [Record<string, unknown>];
        assertMandatory(command, own);
        const work = await load(...(given as never[]));
        const run = (output: object) => work(...(given.slice(0, -1) as never[]), output as never);
        const goesOn = follow === true || watch === true;
        setCode(json === true ? await runWithJson(streams, goesOn, run) : await run(streams));
      });
    }
  }
}

/**
 * Commander itself would look for missing options before unknown ones, and would not suggest the one that was mistyped.
 * @throws CommanderError
 */
function assertMandatory(command: Command, options: Options): void {
  const given: Readonly<Record<string, unknown>> = command.opts();
  for (const [flags, form] of Object.entries(options)) {
    const isRequired = typeof form !== 'string' && form.isRequired === true;
    if (isRequired && given[new Option(flags).attributeName()] === undefined) {
      command.error(`error: required option '${flags}' not specified`, {
        code: 'commander.missingMandatoryOptionValue',
      });
    }
  }
}

function createOption(flags: string, form: OptionForm): Option {
  const { about, choices, parse, initial, initialText } = form;
  const option = new Option(flags, about);
  if (parse !== undefined) {
    option.argParser((text, earlier) => parse(text, earlier as never));
  }
  return (choices === undefined ? option : option.choices(choices)).default(initial, initialText);
}
