/**
 * Work that the page waits for: its progress, and its failure in words that say what to do.
 *
 * @module
 */
import { isPoolError } from '@pool/core';
import { useEffect, useRef, useState } from 'preact/hooks';
import { createTimeLeft } from '../model/time-left.ts';
import { texts } from '../texts.ts';
import type { Known, OnProgress, Progress } from '../wallet-port.ts';
import { Notice } from './elements.tsx';
import { formatTime } from './format.ts';

export type Task = {
  readonly isBusy: boolean;
  readonly progress: Progress | undefined;
  /** Of the last failure. */
  readonly failure: string | undefined;
  /** Runs the work, unless other work of this task runs. A failure is shown and not thrown. */
  readonly run: (work: (onProgress: OnProgress) => Promise<void>) => void;
};

/**
 * One piece of work at a time: a second click does nothing.
 * @param words - of failures of this work, by code; before those of every work
 */
export function useTask(words?: Readonly<Record<string, string>>): Task {
  const [state, setState] = useState<Omit<Task, 'run'>>({
    ...{ isBusy: false, progress: undefined, failure: undefined },
  });
  const isRunning = useRef(false);
  const isMounted = useRef(true);
  useEffect(
    () => () => {
      isMounted.current = false;
    },
    [],
  );
  const show = (next: Omit<Task, 'run'>): void => {
    if (isMounted.current) setState(next);
  };
  return {
    ...state,
    run(work) {
      if (isRunning.current) return;
      isRunning.current = true;
      show({ isBusy: true, progress: undefined, failure: undefined });
      work((progress) => show({ isBusy: true, progress, failure: undefined })).then(
        () => {
          isRunning.current = false;
          show({ isBusy: false, progress: undefined, failure: undefined });
        },
        (error: unknown) => {
          isRunning.current = false;
          show({ isBusy: false, progress: undefined, failure: describeFailure(error, words) });
        },
      );
    },
  };
}

/** An error in words. Errors that crossed a thread keep their code and lose their class. */
export function describeFailure(
  error: unknown,
  words: Readonly<Record<string, string>> = {},
): string {
  const code = readCode(error) ?? 'unknown';
  if (code === 'invalid-chain' && isPoolError(error) && error.details !== undefined) {
    const { configured, own } = error.details;
    return texts.otherPool(`${configured}`, `${own}`);
  }
  return words[code] ?? texts.errors[code] ?? texts.unknownError(code);
}

/** Short words only: a code is shown, and anything can be thrown. */
function readCode(error: unknown): string | undefined {
  const code: unknown =
    typeof error === 'object' && error !== null && 'code' in error && error.code;
  return typeof code === 'string' && /^[a-z0-9_-]{1,64}$/.test(code) ? code : undefined;
}

/** What a task shows of itself. */
export function TaskState({ task }: { readonly task: Task }) {
  return (
    <>
      {task.isBusy && task.progress && <Work progress={task.progress} />}
      {task.failure !== undefined && <Notice kind="failure">{task.failure}</Notice>}
    </>
  );
}

/** An equal payment, before this one is sent. */
export function Earlier({ earlier }: { readonly earlier: Known['known'] }) {
  return (
    earlier && (
      <div role="alert">
        <Notice kind="warning">{texts.earlier[earlier.state](formatTime(earlier.atMs))}</Notice>
      </div>
    )
  );
}

/** Progress with the time left. A screen reader hears the stages, and not every second. */
function Work({ progress }: { readonly progress: Progress }) {
  const { stage, fraction } = progress;
  const timeLeft = useRef({ stage, estimate: createTimeLeft() });
  if (timeLeft.current.stage !== stage) {
    timeLeft.current = { stage, estimate: createTimeLeft() };
  }
  const seconds =
    fraction === undefined ? undefined : timeLeft.current.estimate(fraction, performance.now());
  return (
    <div class="work">
      <p role="status">{texts.progress.stages[stage]}</p>
      <progress
        aria-label={texts.progress.stages[stage]}
        max={1}
        {...(fraction === undefined ? {} : { value: fraction })}
      />
      {seconds !== undefined && <p class="hint">{texts.progress.secondsLeft(seconds)}</p>}
      <p class="hint">{stage === 'syncing' ? texts.progress.mayLeave : texts.progress.keepOpen}</p>
    </div>
  );
}
