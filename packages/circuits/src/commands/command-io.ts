/**
 * Input and output of this package's commands: results go to stdout (as JSON on request), progress goes to stderr and only to a
 * terminal.
 *
 * @module
 */

/** The command line is wrong. Exit code 2, with the usage. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

export type CommandIo = {
  /** Aborted by Ctrl-C: temporary files are removed before the process ends. */
  readonly signal: AbortSignal;
  /** Prints the text, or the value as one line of JSON. */
  readonly answer: (asJson: boolean, value: unknown, text: string) => void;
  /** fraction in 0..1 */
  readonly onProgress: (fraction: number) => void;
};

type Stream = { readonly isTTY?: boolean | undefined; write(text: string): unknown };

export function createCommandIo(out: Stream, err: Stream, signal: AbortSignal): CommandIo {
  let last = -1;
  return {
    signal,
    answer: (asJson, value, text) => {
      if (last >= 0) {
        err.write('\r\x1b[K');
        last = -1;
      }
      out.write(asJson ? `${JSON.stringify(value)}\n` : text);
    },
    onProgress: (fraction) => {
      const percent = Math.floor(100 * fraction);
      if (err.isTTY === true && percent !== last) {
        last = percent;
        err.write(`\r${percent} %`);
      }
    },
  };
}
