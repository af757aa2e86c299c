/**
 * The question of a command to its user.
 *
 * @module
 */
import { createInterface } from 'node:readline/promises';
import type { Ask } from '@pool/pay-run';

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
