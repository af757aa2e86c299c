/**
 * The end of whoever reads the output, as in `disburse-agent history | head`.
 *
 * @module
 */

/**
 * Treats a closed standard output as an interruption: a command that follows something ends, and what the agent works on goes on. Without
 * a listener Node would end the process with a stack trace. A closed standard error only loses notes and progress.
 *
 * @param interrupt - called once, for example with a SIGINT to this process
 */
export function interruptOnClosedOutput(
  { output, error }: { readonly output: NodeJS.EventEmitter; readonly error: NodeJS.EventEmitter },
  interrupt: () => void,
): void {
  let isInterrupted = false;
  output.on('error', (failure: NodeJS.ErrnoException) => {
    if (failure.code !== 'EPIPE') {
      throw failure;
    }
    if (!isInterrupted) {
      isInterrupted = true;
      interrupt();
    }
  });
  error.on('error', (failure: NodeJS.ErrnoException) => {
    if (failure.code !== 'EPIPE') {
      throw failure;
    }
  });
}
