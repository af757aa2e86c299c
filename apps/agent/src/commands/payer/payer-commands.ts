/**
 * A payer's commands: `disburse`, `recipients check`, `pay-runs`, `cancel` and `redeliver`, which `@pool/pay-run` carries out
 * through the agent on this machine.
 *
 * @module
 */

import { readChainsFile } from '@pool/configuration';
import { probeTimeoutMs } from '@pool/operations';
import {
  beginTenancy,
  type CancelOptions,
  cancelPayment,
  checkRecipients,
  createAgentClient,
  type DisburseOptions,
  type DropOptions,
  dropLine,
  type ExportOptions,
  exitCodes,
  exportLines,
  type JobsOptions,
  listJobs,
  listPayRuns,
  listTenancyKeys,
  type NewTenancyOptions,
  type Output,
  type Payer,
  type PayRunsOptions,
  payRoster,
  type RecipientsOptions,
  type RedeliverOptions,
  type ResumeOptions,
  redeliver,
  resumePayRun,
  rosterTemplate,
  showJob,
  showPayRun,
  showTenancy,
  type TenancyPlace,
  urlOf,
} from '@pool/pay-run';
import { createEdgeClient } from '@pool/platform-client';
import {
  type AgentAddress,
  readAgentAddress,
  readAgentPlace,
  readConfig,
} from '../../config/config.ts';
import type { EmployerLogin } from '../../onboard/employer-session.ts';
import { createInvitations } from '../../onboard/invitations.ts';
import { withLocalChecks } from '../../services/local-checks.ts';
import { readLoopbackToken } from '../../state/agent-home.ts';
import { parseRange } from '../holder/history-range.ts';

type EnvFile = { readonly envFile?: string };

/** @returns the exit code */
export async function runDisburse(
  options: DisburseOptions & EmployerLogin,
  output: Output,
): Promise<number> {
  return await payRoster(options, () => openPayer(options, output), output);
}

/** @returns the exit code */
export async function runResume(
  label: string,
  options: ResumeOptions & EmployerLogin,
  output: Output,
): Promise<number> {
  return await resumePayRun(label, openPayer(options, output), options, output);
}

/** @returns the exit code */
export async function runDrop(
  label: string,
  options: DropOptions & EnvFile,
  output: Output,
): Promise<number> {
  return await dropLine(label, openPayer(options, output), options, output);
}

/** @returns the exit code */
export async function runExport(
  name: string | undefined,
  options: ExportOptions & EnvFile,
  output: Output,
): Promise<number> {
  const chosen = { ...options, ...parseRange(options) };
  return await exportLines(name, openLedgerOwner(options, output), chosen, output);
}

/** @returns the exit code */
export async function runListJobs(options: JobsOptions & EnvFile, output: Output): Promise<number> {
  const chosen = { ...options, ...parseRange(options) };
  return await listJobs(openLedgerOwner(options, output), chosen, output);
}

/** @returns the exit code */
export async function runShowJob(
  key: string,
  options: JobsOptions & EnvFile,
  output: Output,
): Promise<number> {
  return await showJob(key, openLedgerOwner(options, output), options, output);
}

/** @returns the exit code */
export async function runRosterTemplate(_options: object, { out }: Output): Promise<number> {
  out(rosterTemplate);
  return exitCodes.ok;
}

/** @returns the exit code */
export async function runCheckRecipients(
  options: RecipientsOptions & EnvFile,
  output: Output,
): Promise<number> {
  return await checkRecipients(openPayer(options, output), options, output);
}

/** @returns the exit code */
export async function runListPayRuns(
  options: PayRunsOptions & EnvFile,
  output: Output,
): Promise<number> {
  return await listPayRuns(openLedgerOwner(options, output), options, output);
}

/** @returns the exit code */
export async function runShowPayRun(
  label: string,
  options: PayRunsOptions & EnvFile,
  output: Output,
): Promise<number> {
  return await showPayRun(label, openLedgerOwner(options, output), options, output);
}

/** @returns the exit code */
export async function runCancel(
  name: string,
  options: CancelOptions & EnvFile,
  output: Output,
): Promise<number> {
  const address = readAgentPlace(options.envFile);
  const payer = { ledger: address, openAgent: () => openAgent(address) };
  return await cancelPayment(name, payer, options, output);
}

/** @returns the exit code */
export async function runRedeliver(
  key: string | undefined,
  options: RedeliverOptions & EnvFile,
  output: Output,
): Promise<number> {
  const openPorts = () => {
    const { jobs, platformUrl, platformToken } = readConfig(options.envFile);
    return { ...createEdgeClient({ url: platformUrl, token: platformToken }), jobs };
  };
  return await redeliver(key, openPorts, options, output);
}

function openPayer(login: EmployerLogin, { terminal }: Pick<Output, 'terminal'>): Payer {
  const { envFile } = login;
  const config = readConfig(envFile);
  return {
    ledger: config,
    chain: config.chain,
    readChains: () => readChainsFile(config.chainsFile).chains,
    agentUrl: urlOf(config),
    openAgent: () => openAgent(readAgentAddress(envFile)),
    withChecks: (work) => withLocalChecks(config, work),
    invitations: createInvitations(login, terminal),
  };
}

/** Without an agent the ledger is shown alone, so its port may be 0. */
export function openLedgerOwner(
  options: EnvFile,
  { terminal }: Pick<Output, 'terminal'>,
): Pick<Payer, 'ledger' | 'openAgent' | 'readChains' | 'invitations'> {
  const config = readConfig(options.envFile);
  return {
    ledger: config,
    openAgent: () => openAgent(config),
    readChains: () => readChainsFile(config.chainsFile).chains,
    invitations: createInvitations(options, terminal),
  };
}

/** A client of the agent on this machine. */
function openAgent(address: AgentAddress): ReturnType<Payer['openAgent']> {
  return createAgentClient(urlOf(address), readLoopbackToken(address.home));
}

/** @returns the exit code: 0 when directory, variable and platform agree */
export async function runShowTenancy(options: EnvFile, output: Output): Promise<number> {
  return await showTenancy(openTenancy(options), output);
}

/** @returns the exit code */
export async function runListTenancyKeys(options: EnvFile, output: Output): Promise<number> {
  return await listTenancyKeys(readConfig(options.envFile), output);
}

/** @returns the exit code */
export async function runBeginTenancy(
  options: NewTenancyOptions & EnvFile,
  output: Output,
): Promise<number> {
  return await beginTenancy(openTenancy(options), options, output);
}

function openTenancy({ envFile }: EnvFile): TenancyPlace {
  const config = readConfig(envFile);
  const { platformUrl: url, platformToken: token } = config;
  const edge = createEdgeClient({ url, token, timeoutMs: probeTimeoutMs });
  return { ...config, bootstrap: () => edge.bootstrap() };
}
