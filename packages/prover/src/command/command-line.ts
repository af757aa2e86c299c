/**
 * Finds the command that a command line names, runs it and reports what it did. Exit codes are those of snarkjs: 0; 1 for a failure and
 * for a proof that is not valid; 99 for a command line that is wrong.
 *
 * It uses Node's own `parseArgs`: a library for command lines would be a dependency of every program that proves, and snarkjs' names of
 * two or three words with aliases need a table of their own anyway.
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { ProverError } from '../base/errors.ts';
import { type Command, commands, type Outcome } from './commands.ts';

const usageExitCode = 99;

class UsageError extends Error {}

function renderHelp(command: Command | undefined): string {
  const list = command === undefined ? commands : [command];
  const blocks = list.map((one) => {
    const aliases = one.names.slice(1);
    const also = aliases.length === 0 ? '' : `\n    also: ${aliases.join(', ')}`;
    return `pool-prover ${one.names[0]} ${one.parameters}\n    ${one.summary}${also}`;
  });
  return `${blocks.join('\n')}

[file] may be left out, then the file has this name. <file> is required. Files are replaced as a whole.
--json prints one JSON object. --verbose reports in a pipe too. --key-cache-dir <folder> keeps prepared keys for later proofs.
Exit codes: 0 success, 1 failure or an invalid proof, 99 wrong usage.
`;
}

/** The command with the longest name that the words begin with, and the words after it. As in snarkjs, letter case does not matter. */
function findCommand(words: readonly string[]) {
  const found = commands.flatMap((command) =>
    command.names.flatMap((name) => {
      const parts = name.split(' ');
      const isMeant = parts.every((part, i) => words[i]?.toLowerCase() === part);
      return isMeant ? [{ command, length: parts.length }] : [];
    }),
  );
  const [best] = found.toSorted((left, right) => right.length - left.length);
  return best && { command: best.command, values: words.slice(best.length) };
}

function fillIn({ names: [name], parameters }: Command, given: readonly string[]): string[] {
  const places = parameters.split(' ');
  if (given.length > places.length) {
    throw new UsageError(`${name} takes at most ${places.length} files.`);
  }
  return places.map((place, i) => {
    const value = given[i] ?? (place.startsWith('[') ? place.slice(1, -1) : undefined);
    if (value === undefined) {
      throw new UsageError(`${name} needs the file ${place}.`);
    }
    return value;
  });
}

const options = {
  json: { type: 'boolean' },
  verbose: { type: 'boolean', short: 'v' },
  help: { type: 'boolean', short: 'h' },
  'key-cache-dir': { type: 'string' },
  // An option of snarkjs: every command here is Groth16.
  protocol: { type: 'string' },
} as const;

/** snarkjs also takes its long options with one dash. */
function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: args.map((arg) => arg.replace(/^-(?=[a-z]{2})/, '--')),
      options,
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function describeError(error: unknown) {
  const known = error instanceof ProverError ? error : undefined;
  const other = error instanceof UsageError ? 'argument_invalid' : 'internal_error';
  return {
    code: known?.code ?? other,
    retryable: known?.retryable ?? false,
    message: error instanceof Error ? error.message : String(error),
    // The place in the circuit, for a witness that was refused.
    ...(error instanceof Error && error.cause instanceof Error
      ? { cause: error.cause.message }
      : {}),
  };
}

function print({ json, text, note }: Outcome, isJson: boolean, isVerbose: boolean): void {
  if (isJson) {
    process.stdout.write(`${JSON.stringify(json)}\n`);
    return;
  }
  if (text !== undefined) {
    process.stdout.write(`${text}\n`);
  }
  if (note !== undefined && (isVerbose || process.stderr.isTTY)) {
    process.stderr.write(`${note}\n`);
  }
}

/** @returns the exit code */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  // A command line that is wrong is not parsed.
  let isJson = args.some((arg) => /^--?json$/.test(arg));
  try {
    const { positionals, values } = parse(args);
    isJson = values.json === true;
    const found = findCommand(positionals);
    if (values.help === true) {
      process.stdout.write(renderHelp(found?.command));
      return 0;
    }
    if (found === undefined) {
      const [first] = positionals;
      throw new UsageError(
        first === undefined
          ? 'A command is missing.'
          : `${first} is not a command of pool-prover. snarkjs has more: setup, ceremonies, PLONK and FFLONK stay there.`,
      );
    }
    const outcome = await found.command.run(fillIn(found.command, found.values), {
      keyCacheDir: values['key-cache-dir'],
    });
    print(outcome, isJson, values.verbose === true);
    return outcome.exitCode ?? 0;
  } catch (error) {
    if (error instanceof UsageError && !isJson) {
      process.stderr.write(`${error.message}\n\n${renderHelp(undefined)}`);
      return usageExitCode;
    }
    const described = describeError(error);
    if (isJson) {
      process.stdout.write(`${JSON.stringify({ error: described })}\n`);
    } else {
      const { code, message, cause } = described;
      process.stderr.write(`${code}: ${message}\n${cause === undefined ? '' : `${cause}\n`}`);
    }
    return error instanceof UsageError ? usageExitCode : 1;
  }
}
