/**
 * The running job on a terminal: one line that is redrawn, and a line per finished stage. A pipe gets only refusals and
 * the outcome; a pay run in parts also writes a line for each step of a part, for later readers of the log.
 *
 * @module
 */
import type { JobStage } from '@pool/core';
import type { JobTrace, Terminal } from '../ports.ts';

export type ProgressView = {
  show(state: string, stage: JobStage | undefined, trace: JobTrace | undefined): void;
  /** Ends the redrawn line and prints the stages that were not printed yet. */
  end(trace: JobTrace | undefined): void;
};

const barWidth = 24;

export function createProgressView(terminal: Terminal): ProgressView {
  const printRefusal = createRefusalPrinter(terminal);
  if (!terminal.isTty) {
    return { show: (_state, _stage, trace) => printRefusal(trace), end: () => undefined };
  }
  const printed = new Set<JobStage>();
  let hasPrintedAllowance = false;

  function printFinished(trace: JobTrace | undefined, current: JobStage | undefined): void {
    for (const { stage, seconds } of trace?.timings ?? []) {
      if (stage !== current && !printed.has(stage)) {
        printed.add(stage);
        terminal.write(`\r\u001b[K  ${stage.padEnd(20)} ${formatSeconds(seconds)}\n`);
      }
    }
    if (trace?.allowance === 'insufficient' && !hasPrintedAllowance) {
      hasPrintedAllowance = true;
      terminal.write(`\r\u001b[K  ${insufficientAllowanceLine}\n  ${allowanceNote}\n`);
    }
  }

  return {
    show(state, stage, trace) {
      printFinished(trace, stage);
      printRefusal(trace);
      const progress = trace?.progress;
      const name = (stage ?? state).padEnd(20);
      const seconds = progress?.seconds ?? 0;
      const fraction = progress?.fraction;
      const bar = fraction === undefined || fraction <= 0 ? '' : ` ${drawBar(fraction)}`;
      const left =
        fraction === undefined || fraction < 0.05
          ? ''
          : `, about ${formatSeconds((seconds / fraction) * (1 - fraction))} left`;
      terminal.write(`\r\u001b[K  ${name} ${formatSeconds(seconds)}${bar}${left}`);
    },
    end(trace) {
      printFinished(trace, undefined);
      terminal.write('\r\u001b[K');
    },
  };
}

/** Prints once why a settlement is refused, or cannot be signed, and what to do. Otherwise nobody would know before its deadline. */
function createRefusalPrinter(terminal: Terminal): (trace: JobTrace | undefined) => void {
  let printed: string | undefined;
  return (trace) => {
    const { refusal, outage } = trace ?? {};
    const reason = refusal ?? outage;
    if (reason !== undefined && reason.code !== printed) {
      printed = reason.code;
      const start = terminal.isTty ? '\r\u001b[K  ' : '';
      const waiting = refusal === undefined ? 'no signature yet' : describeWaiting(reason.code);
      const advice = refusal === undefined ? outageAdvice : adviseOn(reason.code);
      terminal.write(
        `${start}${waiting}: ${reason.code}: ${reason.message}\n` +
          `${terminal.isTty ? '  ' : ''}${advice}\n`,
      );
    }
  };
}

const outageAdvice =
  'the signer is asked again until the deadline of the batch; "disburse-agent cancel <key>" cancels it';

function describeWaiting(code: string): string {
  return code === 'configuration_changed' ? 'the job waits' : 'settlement refused';
}

function adviseOn(code: string): string {
  if (code === 'configuration_changed') {
    return 'this command continues when the job does; Ctrl-C ends this command, not the job';
  }
  return code === 'settled_elsewhere'
    ? 'it is not sent again; the job ends when the chain shows that this batch can never be paid'
    : 'it is sent again until its deadline; "disburse-agent cancel <key>" cancels it';
}

/** The line for an insufficient pre-proof allowance. */
export const insufficientAllowanceLine = 'allowance: insufficient at the pre-proof check';

/** Printed below that line, which looks like a request to act. */
export const allowanceNote =
  '  (no action needed: the agent grants exactly what the payment needs)';

/** @param fraction - 0 … 1 */
export function drawBar(fraction: number): string {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * barWidth);
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ${Math.floor(fraction * 100)} %`;
}

export function formatSeconds(seconds: number): string {
  return seconds < 60
    ? `${seconds.toFixed(1)} s`
    : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
