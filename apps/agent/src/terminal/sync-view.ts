/**
 * A sync on a terminal: one line that is redrawn, with the stage, a bar over the blocks of the chain and the time left. A pipe gets
 * nothing.
 *
 * @module
 */

import { drawBar, formatSeconds, type Terminal } from '@pool/pay-run';
import type { SyncProgress } from '@pool/wallet';

export type SyncView = {
  show(progress: SyncProgress): void;
  /** Removes the line. Nothing is shown afterwards. */
  end(): void;
};

/** @param nowMs - milliseconds, monotonic */
export function createSyncView(terminal: Terminal, nowMs: () => number): SyncView {
  const startedMs = nowMs();
  let hasLine = false;
  let hasEnded = false;
  return {
    show(progress) {
      // A sync that has nothing new ends before the first line.
      if (!terminal.isTty || hasEnded || !progress.isRunning) {
        return;
      }
      hasLine = true;
      terminal.write(`\r\u001b[K  ${describe(progress, (nowMs() - startedMs) / 1000)}`);
    },
    end() {
      hasEnded = true;
      if (hasLine) {
        hasLine = false;
        terminal.write('\r\u001b[K');
      }
    },
  };
}

function describe({ blocks, notes }: SyncProgress, seconds: number): string {
  const opened = notes === 0 ? '' : `, ${notes} notes opened`;
  const { read, total } = blocks;
  if (read >= total) {
    return `opening notes ${formatSeconds(seconds)}${opened}`;
  }
  const fraction = read / total;
  const left =
    fraction < 0.02 ? '' : `, about ${formatSeconds((seconds / fraction) * (1 - fraction))} left`;
  return `reading the chain ${formatSeconds(seconds)} ${drawBar(fraction)}${left}${opened}`;
}
