/**
 * The terminal of a command: its output, its question to the user, and its interruption.
 *
 * @module
 */
import { createInterface } from 'node:readline/promises';
import type { Ask, Terminal } from '@pool/pay-run';

export type Output = {
  /** Standard output: only the outcome. */
  out(text: string): void;
  /** Standard error: progress and notes. */
  readonly terminal: Terminal;
  /** Absent: there is no user who can answer. */
  readonly ask?: Ask | undefined;
};

export type TerminalStreams = {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly error: NodeJS.WriteStream;
};

/** Undefined unless input, output and error are a terminal: a question that nobody sees would block the command. */
export function createAsk({ input, output, error }: TerminalStreams): Ask | undefined {
  if (!input.isTTY || !output.isTTY || !error.isTTY) {
    return undefined;
  }
  return async (question) => {
    const lines = createInterface({ input, output: error });
    try {
      // End of input and Ctrl-C count as no answer.
      return await new Promise<string | undefined>((resolve) => {
        const endUnanswered = (): void => resolve(undefined);
        lines.once('close', endUnanswered);
        lines.once('SIGINT', () => {
          // Later output starts on a line of its own.
          error.write('\n');
          lines.close();
        });
        lines.question(question).then(resolve, endUnanswered);
      });
    } finally {
      lines.close();
    }
  };
}

/**
 * Runs a command that only follows a job. The first SIGINT or SIGTERM ends the following, the second one the process.
 *
 * @param work - ends early when its signal is aborted
 */
export async function withInterruption<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    return await work(interruption.signal);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

/** @returns whether the answer is yes. Nobody to ask: true */
export async function isConfirmed(
  { ask }: Pick<Output, 'ask'>,
  question: string,
): Promise<boolean> {
  return ask === undefined || /^\s*y(?:es)?\s*$/i.test((await ask(`${question} [y/N] `)) ?? '');
}
