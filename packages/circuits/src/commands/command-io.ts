/**
 * What all commands of this package share: their options, results on stdout (as JSON on request), and progress on stderr, only on a
 * terminal.
 *
 * @module
 */
import { parseArgs } from 'node:util';

/** The command line is wrong. Exit code 2, with the usage. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** What one command works with. */
export type Call<Required extends string, Optional extends string> = {
  readonly values: Readonly<Record<Required, string> & Partial<Record<Optional, string>>>;
  readonly force: boolean;
  /** Aborted by Ctrl-C: temporary files are removed before the process ends. */
  readonly signal: AbortSignal;
  /** fraction in 0..1 */
  readonly onProgress: (fraction: number) => void;
  /** Prints the text, or with --json the value as one line of JSON. Returns the exit code. */
  readonly answer: (value: unknown, text: string, exitCode?: number) => number;
};

export type Command = (args: readonly string[], signal: AbortSignal) => Promise<number>;

/**
 * Parses a command's options and rejects everything else. A required option may be missing or empty on the command line: both are a
 * usage error.
 * @throws UsageError
 */
export function command<Required extends string, Optional extends string>(
  required: readonly Required[],
  optional: readonly Optional[],
  flags: readonly ('force' | 'json')[],
  run: (call: Call<Required, Optional>) => Promise<number>,
): Command {
  const options: Record<string, { readonly type: 'string' | 'boolean' }> = {};
  for (const name of [...required, ...optional]) options[name] = { type: 'string' };
  for (const name of flags) options[name] = { type: 'boolean' };
  return async (args, signal) => {
    let values: Readonly<Record<string, string | boolean | undefined>>;
    try {
      ({ values } = parseArgs({ args: [...args], options }) as { values: typeof values });
    } catch (cause) {
      throw new UsageError(cause instanceof Error ? cause.message : 'unknown option');
    }
    const missing = required.find((name) => (values[name] ?? '') === '');
    if (missing !== undefined) {
      throw new UsageError(`--${missing} is missing`);
    }
    let last = -1;
    return await run({
      values: values as Call<Required, Optional>['values'],
      force: values['force'] === true,
      signal,
      onProgress: (fraction) => {
        const percent = Math.floor(100 * fraction);
        if (process.stderr.isTTY && percent !== last) {
          last = percent;
          process.stderr.write(`\r${percent} %`);
        }
      },
      answer: (value, text, exitCode = 0) => {
        if (last >= 0) {
          process.stderr.write('\r\x1b[K');
          last = -1;
        }
        process.stdout.write(values['json'] === true ? `${JSON.stringify(value)}\n` : text);
        return exitCode;
      },
    });
  };
}
