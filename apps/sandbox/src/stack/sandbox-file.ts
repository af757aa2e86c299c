/**
 * `.sandbox/sandbox.json`: everything an outside client needs to drive the sandbox. Holds private keys, all
 * of them public test keys, and is readable by its owner only.
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SignerKind } from '../custody/custody-place.ts';
import type { Stack } from './stack.ts';

export type SandboxFile = {
  /** Where the funder's key is. */
  readonly signer: SignerKind;
  /** The custodian's simulator, with its control routes. Absent if the signer is no custodian. */
  readonly custodianUrl?: string;
  /** The directory of the gate that votes: `APPROVE_HOME` for its commands. Absent if the signer is no custodian. */
  readonly approveHome?: string;
  readonly agentUrl: string;
  readonly platformUrl: string;
  readonly gateUrl: string;
  readonly rpcUrl: string;
  /** Chain key, as requests name it. */
  readonly chain: string;
  readonly chainId: number;
  readonly contracts: Stack['deployed']['contracts'];
  readonly tokens: Stack['deployed']['tokens'];
  /** Bearer for the agent's disbursement routes. */
  readonly loopbackToken: string;
  readonly employer: Stack['employer'];
  readonly holders: Stack['holders'];
  /** The agent's own directory: `DISBURSE_HOME` for its commands. */
  readonly agentHome: string;
  readonly processes: readonly {
    readonly name: string;
    readonly pid: number;
    readonly log: string;
  }[];
};

export function sandboxFilePath(directory: string): string {
  return join(directory, 'sandbox.json');
}

export function writeSandboxFile(stack: Stack): SandboxFile {
  const { kind = 'local-key', custodianUrl, gateHome } = stack.custody ?? {};
  const file: SandboxFile = {
    signer: kind,
    ...(custodianUrl === undefined ? {} : { custodianUrl }),
    ...(gateHome === undefined ? {} : { approveHome: gateHome }),
    agentUrl: stack.agent.url,
    platformUrl: stack.platformUrl,
    gateUrl: stack.gateUrl,
    rpcUrl: stack.rpcUrl,
    chain: stack.chain,
    chainId: stack.chainId,
    contracts: stack.deployed.contracts,
    tokens: stack.deployed.tokens,
    loopbackToken: stack.agent.loopbackToken,
    employer: stack.employer,
    holders: stack.holders,
    agentHome: stack.agent.home,
    processes: stack.ledger.listRunning().map(({ name, pid }) => ({
      name,
      pid,
      log: join(stack.directory, 'logs', `${name}.log`),
    })),
  };
  const text = `${JSON.stringify(file, undefined, 2)}\n`;
  writeFileSync(sandboxFilePath(stack.directory), text, { mode: 0o600 });
  return file;
}

/** Undefined: no sandbox came up here. */
export function readSandboxFile(directory: string): SandboxFile | undefined {
  try {
    return JSON.parse(readFileSync(sandboxFilePath(directory), 'utf8')) as SandboxFile;
  } catch {
    return undefined;
  }
}

/** The homes of all agents. */
function listHomes(directory: string): readonly string[] {
  return existsSync(directory)
    ? readdirSync(directory).filter((name) => name.endsWith('-home'))
    : [];
}

/** Removes what a deployment wrote. Keeps the logs on request, for diagnosis. */
export function removeDeployment(directory: string, options: { readonly keepLogs: boolean }): void {
  const names = ['sandbox.json', 'chains.json', 'processes.json', 'processes.json.new'];
  const folders = [
    ...listHomes(directory),
    'platform-data',
    'gate-data',
    'custody',
    ...(options.keepLogs ? [] : ['logs']),
  ];
  for (const name of [...names, ...folders]) {
    rmSync(join(directory, name), { recursive: true, force: true });
  }
}
