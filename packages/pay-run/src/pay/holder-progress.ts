/**
 * Work that is underway, on a terminal: one line that is redrawn. A pipe gets nothing.
 *
 * @module
 */
import type { SyncProgress } from '@pool/wallet';
import type { SpendProgress } from '@pool/wallet/node';
import type { Terminal } from '../ports.ts';
import { drawBar, formatSeconds } from './progress-view.ts';

export type ProgressView<TProgress> = {
  show(progress: TProgress): void;
  /** Removes the line. Nothing is shown afterwards. */
  end(): void;
};

const redrawMs = 500;
const clear = '\r\u001b[K';

/** @param describe - the text of the line. Undefined: the line stays as it is */
function createView<TProgress>(
  terminal: Terminal,
  describe: (progress: TProgress) => string | undefined,
): ProgressView<TProgress> {
  let [isShown, hasEnded] = [false, !terminal.isTty];
  return {
    show(progress) {
      const text = hasEnded ? undefined : describe(progress);
      if (text !== undefined) {
        isShown = true;
        terminal.write(`${clear}  ${text}`);
      }
    },
    end() {
      hasEnded = true;
      if (isShown) {
        isShown = false;
        terminal.write(clear);
      }
    },
  };
}

/**
 * Shows the progress until the work ends.
 * @param read - an error is not shown: the work itself reports what is wrong
 */
export async function withProgress<TProgress, T>(
  view: ProgressView<TProgress>,
  read: () => Promise<TProgress>,
  work: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => {
    read().then(view.show, () => undefined);
  }, redrawMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    view.end();
  }
}

/** Step of a consolidation, with the time that it has taken. */
export function createStepView(
  terminal: Terminal,
  step: number,
  total: number,
): ProgressView<number> {
  const bar = drawBar((step - 1) / total);
  return createView(
    terminal,
    (seconds) => `step ${step} of ${total} ${bar} ${formatSeconds(seconds)}`,
  );
}

/** The stage of a spend, its time and the share of the proof. A stage that ended stays. */
export function createSpendView(terminal: Terminal): ProgressView<SpendProgress> {
  let shown: SpendProgress | undefined;
  return createView(terminal, (progress) => {
    if (!progress.isRunning) {
      return undefined;
    }
    const ended =
      shown?.stage !== undefined && shown.stage !== progress.stage
        ? `${describeStage(shown)}\n${clear}  `
        : '';
    shown = progress;
    const { fraction = 0 } = progress;
    return `${ended}${describeStage(progress)}${fraction <= 0 ? '' : ` ${drawBar(fraction)}`}`;
  });
}

function describeStage({ stage = 'checking', seconds = 0 }: SpendProgress): string {
  return `${stage.padEnd(10)} ${formatSeconds(seconds)}`;
}

/**
 * The stage of a sync, a bar over the blocks of the chain, and the time left. One that has nothing new ends before the first line.
 * @param nowMs - milliseconds, monotonic
 */
export function createSyncView(
  terminal: Terminal,
  nowMs: () => number = () => performance.now(),
): ProgressView<SyncProgress> {
  const startedMs = nowMs();
  return createView(terminal, (progress) =>
    progress.isRunning ? describeSync(progress, (nowMs() - startedMs) / 1000) : undefined,
  );
}

function describeSync({ blocks, notes }: SyncProgress, seconds: number): string {
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
