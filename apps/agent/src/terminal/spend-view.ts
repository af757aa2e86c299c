/**
 * A spend on a terminal: one line that is redrawn with the stage, its time and the share of the proof. A pipe gets nothing.
 *
 * @module
 */
import { drawBar, formatSeconds, type Terminal } from '@pool/pay-run';
import type { SpendProgress } from '@pool/wallet/node';

export type SpendView = {
  show(progress: SpendProgress): void;
  /** Removes the line. Nothing is shown afterwards. */
  end(): void;
};

export function createSpendView(terminal: Terminal): SpendView {
  let shown: SpendProgress | undefined;
  let hasEnded = false;
  return {
    show(progress) {
      if (!terminal.isTty || hasEnded || !progress.isRunning) {
        return;
      }
      if (shown?.stage !== undefined && shown.stage !== progress.stage) {
        terminal.write(`\r\u001b[K  ${describe(shown)}\n`);
      }
      shown = progress;
      terminal.write(`\r\u001b[K  ${describe(progress)}${describeBar(progress)}`);
    },
    end() {
      hasEnded = true;
      if (shown !== undefined) {
        shown = undefined;
        terminal.write('\r\u001b[K');
      }
    },
  };
}

function describe({ stage = 'checking', seconds = 0 }: SpendProgress): string {
  return `${stage.padEnd(10)} ${formatSeconds(seconds)}`;
}

function describeBar({ fraction }: SpendProgress): string {
  return fraction === undefined || fraction <= 0 ? '' : ` ${drawBar(fraction)}`;
}
