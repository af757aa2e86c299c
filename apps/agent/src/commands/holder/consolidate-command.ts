/**
 * `disburse-agent consolidate`: merges notes of the holder through the agent on this machine, with `DISBURSE_TRANSFER_TOKEN`. It shows the steps
 * and their time first. It can be interrupted and run again: the agent makes the plan again before each step (docs/decisions/0011).
 *
 * @module
 */
import {
  type ConsolidateRequest,
  type Consolidation,
  isPoolError,
  type NumberFormat,
  PoolError,
  type SpendReceipt,
} from '@pool/core';
import {
  type ConsolidateClient,
  chooseFormat,
  computeSpendWaitMs,
  createConsolidateClient,
  createStepView,
  exitCodes,
  formatSeconds,
  isConfirmed,
  type Output,
  readTypedAmounts,
  urlOf,
  withInterruption,
  withProgress,
} from '@pool/pay-run';
import { readAgentAddress, readConfig } from '../../config/config.ts';
import { readSpendPlace } from '../../services/holder/spend-place.ts';
import { requireRoleToken } from '../../services/signers/role-tokens.ts';
import { readLoopbackToken } from '../../state/agent-home.ts';
import { inTokens } from './spend-echo.ts';

export type ConsolidateOptions = {
  /** What one spend must cover afterwards, as typed. */
  readonly until?: string;
  readonly token?: string;
  /** `until` without a unit is in tokens. */
  readonly decimal?: boolean;
  /** The same, and how it is written. */
  readonly numberFormat?: NumberFormat;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly envFile?: string;
};

/** Of the token. Undefined: they are not known here. */
type Decimals = { readonly decimals: number | undefined };

/** @returns the exit code */
export async function runConsolidate(options: ConsolidateOptions, output: Output): Promise<number> {
  const config = readConfig(options.envFile);
  const token = options.token ?? config.holder.tokenSymbol;
  const { decimals } = readSpendPlace(undefined, token, config);
  const isUnasked = options.yes === true;
  const [until] = await readTypedAmounts(
    options.until === undefined ? [] : [{ option: '--until', text: options.until }],
    {
      token,
      decimals,
      format: chooseFormat(options),
      isUnasked,
      ask: output.ask,
      terminal: output.terminal,
    },
  );
  const address = readAgentAddress(options.envFile);
  const client = createConsolidateClient({
    baseUrl: urlOf(address),
    token: requireRoleToken('transfer', config.holder),
    readLoopbackToken: () => readLoopbackToken(address.home),
    timeoutMs: computeSpendWaitMs(config.holder),
    onPause: (text) => output.terminal.write(`${text}\n`),
  });
  const request: ConsolidateRequest = {
    token,
    ...(until === undefined ? {} : { until }),
  };
  const view = { ...options, decimals };
  return await withInterruption((signal) => consolidate(client, request, view, output, signal));
}

/** @returns the exit code */
export async function consolidate(
  client: ConsolidateClient,
  request: ConsolidateRequest,
  options: Pick<ConsolidateOptions, 'dryRun' | 'yes' | 'json'> & Decimals,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const { out } = output;
  const plan = await client.step({ ...request, dryRun: true }, signal);
  // A question is never about a plan that nobody saw.
  const say = options.json === true ? (line: string) => output.terminal.write(`${line}\n`) : out;
  for (const line of describePlan(plan, request, options)) {
    say(line);
  }
  if (options.dryRun === true) {
    printJson(options, out, { ...plan, receipts: [] });
    return exitCodes.ok;
  }
  if (
    plan.steps.length > 0 &&
    options.yes !== true &&
    !(await isConfirmed(output, 'Merge these notes?'))
  ) {
    throw new PoolError('payment_declined', 'nothing was sent: the merges were not confirmed');
  }
  const receipts: SpendReceipt[] = [];
  try {
    // A step that an earlier run began is in no plan, so the agent is asked even if nothing is owed.
    for (let owed = plan.steps.length + 1; owed > 1 || receipts.length === 0; ) {
      const total = receipts.length + Math.max(1, owed - 1);
      const view = createStepView(output.terminal, receipts.length + 1, total);
      const startedMs = performance.now();
      const answer = await withProgress(
        view,
        async () => (performance.now() - startedMs) / 1_000,
        () => client.step(request, signal),
      );
      const { receipt, steps } = answer;
      if (receipt === undefined) {
        break;
      }
      receipts.push(receipt);
      if (options.json !== true) {
        const { token } = request;
        out(describeStep(receipts.length, answer, receipt, { ...options, token }));
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
      printJson(options, out, { ...plan, receipts });
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
    out(document);
  }
}

/** For people: the steps in their order, and how long they take. */
function describePlan(
  { steps, seconds, chain }: Consolidation,
  { token, until }: ConsolidateRequest,
  decimals: Decimals,
): readonly string[] {
  const goal = until === undefined ? `all ${token} that is free` : inTokens(until, token, decimals);
  if (steps.length === 0) {
    return [`nothing to merge: one spend can cover ${goal} on ${chain}`];
  }
  return [
    `${steps.length} step(s) until one spend can cover ${goal} on ${chain}, about ${formatSeconds(seconds)}:`,
    ...steps.map(
      ({ notes, amount }, index) =>
        `  ${index + 1}. ${notes} note(s) become one of ${inTokens(amount, token, decimals)}`,
    ),
  ];
}

function describeStep(
  index: number,
  { steps: [step] }: Consolidation,
  { status, txHash }: SpendReceipt,
  { token, decimals }: Decimals & { readonly token: string },
): string {
  const made =
    step === undefined
      ? ''
      : `: ${step.notes} note(s) became one of ${inTokens(step.amount, token, { decimals })}`;
  return status === 'success'
    ? `step ${index}${made} (${txHash ?? 'no transaction'})`
    : `step ${index} reverted, and nothing moved (${txHash ?? 'no transaction'})`;
}
