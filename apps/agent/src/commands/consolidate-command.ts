/**
 * `disburse-agent consolidate`: merges notes of the holder through the agent on this machine, with `DISBURSE_TRANSFER_TOKEN`. It shows the steps
 * and their time first. It can be interrupted and run again: the agent makes the plan again before each step (docs/decisions/0050).
 *
 * @module
 */
import {
  type ConsolidateRequest,
  type Consolidation,
  isPoolError,
  PoolError,
  type SpendReceipt,
} from '@pool/core';
import { readAgentAddress, readConfig } from '../config/config.ts';
import { type ConsolidateClient, createConsolidateClient } from '../services/consolidate-client.ts';
import { requireRoleToken } from '../services/role-tokens.ts';
import { computeSpendWaitMs } from '../services/spend-client.ts';
import { type Output, withInterruption } from '../terminal/command-output.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { drawBar, formatSeconds } from '../terminal/progress-view.ts';
import { urlOf } from './disburse-command.ts';
import { assertAmount } from './spend-recipients.ts';

export type ConsolidateOptions = {
  /** Base units that one spend must cover afterwards. */
  readonly until?: string;
  readonly token?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly envFile?: string;
};

const redrawMs = 500;

/** @returns the exit code */
export async function runConsolidate(options: ConsolidateOptions, output: Output): Promise<number> {
  if (options.until !== undefined) {
    assertAmount(options.until, '--until');
  }
  const config = readConfig(options.envFile);
  const client = createConsolidateClient({
    baseUrl: urlOf(readAgentAddress(options.envFile)),
    token: requireRoleToken('transfer', config.holder),
    timeoutMs: computeSpendWaitMs(config.holder),
  });
  const request: ConsolidateRequest = {
    token: options.token ?? config.holder.tokenSymbol,
    ...(options.until === undefined ? {} : { until: options.until }),
  };
  return await withInterruption((signal) => consolidate(client, request, options, output, signal));
}

/** @returns the exit code */
export async function consolidate(
  client: ConsolidateClient,
  request: ConsolidateRequest,
  options: Pick<ConsolidateOptions, 'dryRun' | 'yes' | 'json'>,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const { out } = output;
  const plan = await client.step({ ...request, dryRun: true }, signal);
  if (options.json !== true) {
    for (const line of describePlan(plan, request)) {
      out(line);
    }
  }
  if (options.dryRun === true) {
    printJson(options, out, { ...plan, receipts: [] });
    return exitCodes.ok;
  }
  if (plan.steps.length > 0 && options.yes !== true) {
    await confirm(output);
  }
  const receipts: SpendReceipt[] = [];
  try {
    // A step that an earlier run began is in no plan, so the agent is asked even if nothing is owed.
    for (let owed = plan.steps.length + 1; owed > 1 || receipts.length === 0; ) {
      const total = receipts.length + Math.max(1, owed - 1);
      const answer = await withProgress(receipts.length + 1, total, output, () =>
        client.step(request, signal),
      );
      const { receipt, steps } = answer;
      if (receipt === undefined) {
        break;
      }
      receipts.push(receipt);
      if (options.json !== true) {
        out(describeStep(receipts.length, answer, receipt));
      }
      if (receipt.status === 'reverted') {
        printJson(options, out, { ...plan, receipts });
        return exitCodes.partial;
      }
      owed = steps.length;
    }
  } catch (error) {
    if (isPoolError(error) && error.code === 'interrupted') {
      output.terminal.write(
        'interrupted: the agent finishes the step that is underway; run the same command again to go on\n',
      );
      return exitCodes.interrupted;
    }
    throw error;
  }
  printJson(options, out, { ...plan, receipts });
  return exitCodes.ok;
}

function printJson(
  { json }: Pick<ConsolidateOptions, 'json'>,
  out: Output['out'],
  document: Consolidation & { readonly receipts: readonly SpendReceipt[] },
): void {
  if (json === true) {
    out(JSON.stringify(document, null, 2));
  }
}

/** For people: the steps in their order, and how long they take. */
function describePlan(
  { steps, seconds, chain }: Consolidation,
  { token, until }: ConsolidateRequest,
): readonly string[] {
  const goal = until === undefined ? 'everything that is free' : `${until} base units`;
  if (steps.length === 0) {
    return [`nothing to merge: one spend can cover ${goal} of ${token} on ${chain}`];
  }
  return [
    `${steps.length} step(s) until one spend can cover ${goal} of ${token} on ${chain}, about ${formatSeconds(seconds)}:`,
    ...steps.map(
      ({ notes, amount }, index) => `  ${index + 1}. ${notes} note(s) become one of ${amount}`,
    ),
  ];
}

function describeStep(
  index: number,
  { steps: [step] }: Consolidation,
  { status, txHash }: SpendReceipt,
): string {
  const made = step === undefined ? '' : `: ${step.notes} note(s) became one of ${step.amount}`;
  return status === 'success'
    ? `step ${index}${made} (${txHash ?? 'no transaction'})`
    : `step ${index} reverted, and nothing moved (${txHash ?? 'no transaction'})`;
}

async function confirm({ ask }: Pick<Output, 'ask'>): Promise<void> {
  if (ask === undefined) {
    return;
  }
  const answer = await ask('Merge these notes? [y/N] ');
  if (!/^\s*y(?:es)?\s*$/i.test(answer ?? '')) {
    throw new PoolError('payment_declined', 'nothing was sent: the merges were not confirmed');
  }
}

/** One line that is redrawn on a terminal; a pipe gets nothing. */
async function withProgress<T>(
  step: number,
  total: number,
  { terminal }: Pick<Output, 'terminal'>,
  work: () => Promise<T>,
): Promise<T> {
  if (!terminal.isTty) {
    return await work();
  }
  const startedMs = performance.now();
  const draw = (): void => {
    const seconds = (performance.now() - startedMs) / 1000;
    const bar = drawBar((step - 1) / total);
    terminal.write(`\r\u001b[K  step ${step} of ${total} ${bar} ${formatSeconds(seconds)}`);
  };
  draw();
  const timer = setInterval(draw, redrawMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    terminal.write('\r\u001b[K');
  }
}
