/**
 * `disburse-agent pay-runs list|show`: the labels that this directory has used, with what the agent knows about their parts. Moves no money
 * (docs/decisions/0008).
 *
 * @module
 */
import { type DisbursementJob, formatTokenAmount, isPoolError, PoolError } from '@pool/core';
import type { AgentClient } from '@pool/pay-run';
import {
  exitCodes,
  findPart,
  listAllPayRuns,
  type NamedPayRun,
  parsePayRun,
  stateOf,
  sumAmounts,
} from '@pool/pay-run';
import { type Config, readConfig } from '../../config/config.ts';
import { findDecimals } from '../../services/holder/spend-place.ts';
import type { Output } from '../../terminal/command-output.ts';
import { createClient } from './disburse-command.ts';

export type PayRunsOptions = {
  readonly chain?: string;
  readonly token?: string;
  readonly json?: boolean;
  readonly envFile?: string;
};

export type PayRunPart = {
  readonly part: number;
  readonly of: number;
  readonly key: string;
  readonly attempt: number;
  readonly job: DisbursementJob | undefined;
  /** It was sent, and the agent does not say what became of it. */
  readonly isUnseen: boolean;
};

export type PayRunView = NamedPayRun & { readonly parts: readonly PayRunPart[] };

/** @returns the exit code */
export async function runListPayRuns(options: PayRunsOptions, output: Output): Promise<number> {
  const config = readConfig(options.envFile);
  const found = select(listAllPayRuns(config.home), options);
  const views = await inspectAll(found, config, output);
  if (options.json === true) {
    output.out(JSON.stringify({ payRuns: views.map((view) => toDocument(view)) }, null, 2));
  } else if (views.length === 0) {
    output.out('no pay run was sent from this directory');
  } else {
    output.out(views.map((view) => describeHead(view, config)).join('\n'));
  }
  return exitCodes.ok;
}

/** @returns the exit code */
export async function runShowPayRun(
  label: string,
  options: PayRunsOptions,
  output: Output,
): Promise<number> {
  const config = readConfig(options.envFile);
  const found = findLabel(label, listAllPayRuns(config.home), options);
  if (found.length === 0) {
    throw new PoolError(
      'not_found',
      `no pay run ${parsePayRun(label)} was sent from this directory; "disburse-agent pay-runs list" lists those that were`,
    );
  }
  const views = await inspectAll(found, config, output);
  output.out(
    options.json === true
      ? JSON.stringify({ payRuns: views.map((view) => toDocument(view)) }, null, 2)
      : views.flatMap((view) => [describeHead(view, config), ...describeParts(view)]).join('\n'),
  );
  return exitCodes.ok;
}

/** The records of a label. @throws PoolError `invalid_request` */
export function findLabel(
  label: string,
  all: readonly NamedPayRun[],
  place: Pick<PayRunsOptions, 'chain' | 'token'>,
): readonly NamedPayRun[] {
  const normal = parsePayRun(label);
  return select(all, place).filter(({ payRun }) => payRun === normal);
}

function select(
  all: readonly NamedPayRun[],
  { chain, token }: Pick<PayRunsOptions, 'chain' | 'token'>,
): readonly NamedPayRun[] {
  return all.filter(
    (found) =>
      (chain === undefined || found.chain === chain) &&
      (token === undefined || found.token === token),
  );
}

/** What the agent knows about each part. */
export async function inspectPayRun(
  found: NamedPayRun,
  client: Pick<AgentClient, 'find'>,
): Promise<PayRunView> {
  const { payRun, record } = found;
  const count = record.parts.length;
  const parts: PayRunPart[] = [];
  for (const [index, known] of record.parts.entries()) {
    const name = { payRun, digest: record.digest, part: index + 1, count };
    const { key, attempt, job } = await findPart(name, known.attempt, client);
    const isUnseen = job === undefined && known.sent !== 'no';
    parts.push({ part: index + 1, of: count, key, attempt, job, isUnseen });
  }
  return { ...found, parts };
}

/** Without an agent, the ledger is shown alone. */
async function inspectAll(
  found: readonly NamedPayRun[],
  config: Config,
  { terminal }: Output,
): Promise<readonly PayRunView[]> {
  try {
    const client = createClient(config);
    return await Promise.all(found.map((one) => inspectPayRun(one, client)));
  } catch (error) {
    if (!isPoolError(error) || !(error.retryable || error.code === 'agent_unreachable')) {
      throw error;
    }
    terminal.write(
      `note: what was sent is from this directory; what became of it is unknown, because the agent does not answer: ${error.message}\n`,
    );
    const nobody = { find: async () => undefined };
    return await Promise.all(found.map((one) => inspectPayRun(one, nobody)));
  }
}

function describeHead({ payRun, chain, token, record, parts }: PayRunView, config: Config): string {
  const paid = parts.filter(({ job, isUnseen }) => stateOf(job, isUnseen) === 'paid');
  const notes = paid.flatMap(({ job }) => job?.result?.notes ?? []);
  const decimals = findDecimals(chain, token, config);
  const total =
    decimals === undefined
      ? `${sumAmounts(notes)} base units of ${token}`
      : formatTokenAmount(sumAmounts(notes), { symbol: token, decimals });
  const changedAt = new Date(Math.max(...record.parts.map(({ sinceMs }) => sinceMs)));
  const states =
    parts.length === 1
      ? parts.map(({ job, isUnseen }) => nameState(job, isUnseen)).join('')
      : `${paid.length} of ${parts.length} parts paid`;
  const sum = paid.length === 0 ? '' : `, ${notes.length} recipient(s), ${total}`;
  return `${payRun} on ${chain}: ${states}${sum}; last sent or changed ${changedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function describeParts({ parts }: PayRunView): readonly string[] {
  return parts.map(({ part, key, job, isUnseen }) => {
    const { code, message } = job?.error ?? job?.result?.batches[0]?.error ?? {};
    const reason = code === undefined ? '' : `: ${code}: ${message ?? ''}`;
    const txHash = job?.result?.batches[0]?.txHash;
    return `  part ${part}: ${nameState(job, isUnseen)}${txHash === undefined ? '' : ` in ${txHash}`}${reason}, key ${key}`;
  });
}

function nameState(job: DisbursementJob | undefined, isUnseen: boolean): string {
  return stateOf(job, isUnseen).replace('-', ' ');
}

/** The document of `--json`. Amounts are base units, as decimal strings. */
function toDocument({ payRun, chain, token, parts }: PayRunView): object {
  return {
    ...{ payRun, chain, token },
    parts: parts.map(({ part, of, key, attempt, job, isUnseen }) => ({
      ...{ part, of, key, attempt, state: stateOf(job, isUnseen) },
      ...(job === undefined ? {} : { job }),
      ...(job?.result === undefined ? {} : { amount: String(sumAmounts(job.result.notes)) }),
    })),
  };
}
