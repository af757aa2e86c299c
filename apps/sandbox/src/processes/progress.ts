/**
 * Steps with their times. On a terminal the current step shows while it runs; elsewhere finished steps are plain lines,
 * or are not shown.
 *
 * @module
 */
export type Progress = {
  /** Ends the step before and starts this one. */
  step(text: string): void;
  /** Reports the progress of the current step; shown on terminals only. */
  detail(text: string): void;
  /** Ends the current step. */
  done(): void;
  /** Marks the current step as failed. */
  fail(): void;
};

export type ProgressOptions = {
  readonly stream: {
    readonly isTTY?: boolean | undefined;
    write(text: string): unknown;
  };
  /** Also without a terminal: one line for each finished step. */
  readonly plainLines: boolean;
  /** Milliseconds, monotonic. */
  readonly nowMs?: () => number;
};

export function createProgress(options: ProgressOptions): Progress {
  const { stream, plainLines, nowMs = () => performance.now() } = options;
  const isTerminal = stream.isTTY === true;
  let present: { readonly text: string; readonly startedMs: number } | undefined;

  function end(mark: string): void {
    if (present === undefined) {
      return;
    }
    const seconds = ((nowMs() - present.startedMs) / 1_000).toFixed(1);
    const line = `${mark} ${present.text} (${seconds} s)\n`;
    present = undefined;
    if (isTerminal) {
      stream.write(`\r\u001b[K${line}`);
    } else if (plainLines) {
      stream.write(line);
    }
  }

  return {
    step(text) {
      end('✓');
      present = { text, startedMs: nowMs() };
      if (isTerminal) {
        stream.write(`… ${text}`);
      }
    },
    detail(text) {
      if (isTerminal && present !== undefined) {
        stream.write(`\r\u001b[K… ${present.text}: ${text}`);
      }
    },
    done() {
      end('✓');
    },
    fail() {
      end('✗');
    },
  };
}
