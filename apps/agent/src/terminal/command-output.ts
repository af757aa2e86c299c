/**
 * Where a command writes, and whom it can ask.
 *
 * @module
 */
import { createInterface } from 'node:readline/promises';
import type { Terminal } from './progress-view.ts';

/** Puts a question to whoever sits at the terminal. @returns their answer; undefined: they ended the input */
export type Ask = (question: string) => Promise<string | undefined>;

export type Output = {
  /** Standard output: the outcome and nothing else. */
  out(text: string): void;
  /** Standard error: what happens meanwhile. */
  readonly terminal: Terminal;
  /** Absent: nobody can answer. */
  readonly ask?: Ask | undefined;
};

export type TerminalStreams = {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly error: NodeJS.WriteStream;
};

/** Undefined unless input, output and error are a terminal: a question that nobody sees would wait for ever. */
export function createAsk({ input, output, error }: TerminalStreams): Ask | undefined {
  if (!input.isTTY || !output.isTTY || !error.isTTY) {
    return undefined;
  }
  return async (question) => {
    const lines = createInterface({ input, output: error });
    try {
      // End of input and Ctrl-C are no answer.
      return await new Promise<string | undefined>((resolve) => {
        const giveUp = (): void => resolve(undefined);
        lines.once('close', giveUp);
        lines.once('SIGINT', () => {
          // What follows does not belong behind the question.
          error.write('\n');
          lines.close();
        });
        lines.question(question).then(resolve, giveUp);
      });
    } finally {
      lines.close();
    }
  };
}
