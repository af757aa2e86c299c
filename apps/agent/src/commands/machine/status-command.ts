/**
 * `disburse-agent status`: the running agent and its jobs in one screen. Reads the job store itself, so it answers for an agent that does
 * not run too. Moves no money.
 *
 * @module
 */
import { readChainsFile } from '@pool/configuration';
import { isPoolError } from '@pool/core';
import {
  exitCodes,
  formatSeconds,
  type JobSummary,
  type Output,
  type ScheduleSummary,
  summarizeJobs,
  summarizeSchedules,
} from '@pool/pay-run';
import { type Config, readConfig } from '../../config/config.ts';
import { version } from '../../config/version.ts';
import { lookAtAgent, type RunningAgent } from './agent-look.ts';

type AgentState =
  | ({ readonly isRunning: true } & RunningAgent)
  | { readonly isRunning: false; readonly code: string; readonly message: string };

export type Status = {
  readonly commandVersion: string;
  readonly agent: AgentState;
  readonly jobs: JobSummary;
  readonly schedules: ScheduleSummary;
  readonly chains: readonly {
    readonly chain: string;
    readonly maxRecipients: number;
    readonly tokens: readonly string[];
  }[];
  readonly limits: { readonly requestsPerSecond: number; readonly connections: number };
};

export type StatusOptions = { readonly json?: boolean; readonly envFile?: string };

/** @returns the exit code: 0 if the agent runs and is ready, and every schedule can be read */
export async function runStatus(options: StatusOptions, { out }: Output): Promise<number> {
  const nowMs = Date.now();
  const status = await readStatus(readConfig(options.envFile), nowMs);
  out(options.json === true ? status : renderStatus(status, nowMs));
  const { agent, schedules } = status;
  const isWell = agent.isRunning && agent.readiness.ok && schedules.damaged.length === 0;
  return isWell ? exitCodes.ok : exitCodes.error;
}

async function readStatus(config: Config, nowMs: number): Promise<Status> {
  const [agent, jobs, schedules] = await Promise.all([
    readAgent(config),
    summarizeJobs(config.jobs),
    summarizeSchedules(config.jobs, nowMs),
  ]);
  return {
    commandVersion: version,
    agent,
    jobs,
    schedules,
    chains: Object.entries(readChainsFile(config.chainsFile).chains).map(
      ([chain, { maxRecipients, tokens }]) => ({
        chain,
        maxRecipients,
        tokens: Object.keys(tokens),
      }),
    ),
    limits: { requestsPerSecond: config.rateLimit, connections: config.maxConnections },
  };
}

async function readAgent(config: Config): Promise<AgentState> {
  try {
    return { isRunning: true, ...(await lookAtAgent(config)) };
  } catch (error) {
    if (isPoolError(error)) {
      return { isRunning: false, code: error.code, message: error.message };
    }
    throw error;
  }
}

function renderStatus(status: Status, nowMs: number): string {
  const { agent, jobs, schedules, chains, limits, commandVersion } = status;
  const states = Object.entries(jobs.byState).map(([state, count]) => `${count} ${state}`);
  const stages = Object.entries(jobs.openByStage).map(([stage, count]) => `${count} ${stage}`);
  const { oldestOpen } = jobs;
  const head = agent.isRunning
    ? [
        `agent     ${agent.version} at ${agent.url}, up ${formatSeconds(agent.uptimeSeconds)}`,
        ...(agent.version === commandVersion
          ? []
          : [`          this command is ${commandVersion}: restart the agent`]),
        ...Object.entries(agent.readiness.checks).map(
          ([name, { ok, detail }]) =>
            `${name.padEnd(12)}${ok ? 'ok' : 'NOT READY'}  ${detail.kind}: ${detail.message}`,
        ),
      ]
    : [`agent     does not run: ${agent.code}: ${agent.message}`];
  return [
    ...head,
    `jobs      ${states.join(', ') || 'none'}`,
    ...(stages.length === 0 ? [] : [`open      ${stages.join(', ')}`]),
    ...(oldestOpen === undefined
      ? []
      : [
          `oldest    ${oldestOpen.key}: ${oldestOpen.state}, for ${formatSeconds((nowMs - oldestOpen.createdAtMs) / 1_000)}`,
        ]),
    ...renderSchedules(schedules),
    `chains    ${chains.map(({ chain, maxRecipients, tokens }) => `${chain} (at most ${maxRecipients} a batch; ${tokens.join(', ')})`).join('; ')}`,
    `limits    ${limits.requestsPerSecond} requests a second of one credential, ${limits.connections} connections`,
  ].join('\n');
}

function renderSchedules({ active, paused, next, damaged }: ScheduleSummary): readonly string[] {
  if (active + paused + damaged.length === 0) {
    return [];
  }
  const counts = [`${active} active`, ...(paused === 0 ? [] : [`${paused} paused`])].join(', ');
  const code = next?.code === undefined ? '' : ` (${next.code})`;
  return [
    next === undefined
      ? `schedules ${counts}; no payment ahead`
      : `schedules ${counts}; next: ${next.schedule} ${next.period}, ${next.state}${code}, released before ${next.releaseBy}, paid ${next.payAt}`,
    ...damaged.map((message) => `DAMAGED   ${message}`),
  ];
}
