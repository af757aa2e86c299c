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

export type SandboxFile = ReturnType<typeof describeStack>;

export function sandboxFilePath(directory: string): string {
  return join(directory, 'sandbox.json');
}

function describeStack(stack: Stack) {
  const { kind, custodian, gateHome } = stack.custody ?? {};
  const signer: SignerKind = kind ?? 'local-key';
  return {
    /** Where the funder's key is. */
    signer,
    // Both absent if the signer is no custodian: its simulator, with its control routes, and `APPROVE_HOME` of the gate that votes.
    ...(custodian === undefined ? {} : { custodianUrl: custodian.url }),
    ...(gateHome === undefined ? {} : { approveHome: gateHome }),
    agentUrl: stack.agent.url,
    platformUrl: stack.platformUrl,
    gateUrl: stack.gateUrl,
    // Where payees open their accounts.
    ...(stack.payeePageUrl === undefined ? {} : { payeePageUrl: stack.payeePageUrl }),
    rpcUrl: stack.rpcUrl,
    /** Chain key, as requests name it. */
    chain: stack.chain,
    chainId: stack.chainId,
    contracts: stack.deployed.contracts,
    tokens: stack.deployed.tokens,
    /** Bearer for the agent's disbursement routes. */
    loopbackToken: stack.agent.loopbackToken,
    employer: stack.employer,
    holders: stack.holders,
    /** The agent's own directory: `DISBURSE_HOME` for its commands. */
    agentHome: stack.agent.home,
    processes: stack.ledger.listRunning().map(({ name, pid }) => ({
      name,
      pid,
      log: join(stack.directory, 'logs', `${name}.log`),
    })),
  };
}

export function writeSandboxFile(stack: Stack): SandboxFile {
  const file = describeStack(stack);
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
    'payee-page',
    'custody',
    ...(options.keepLogs ? [] : ['logs']),
  ];
  for (const name of [...names, ...folders]) {
    rmSync(join(directory, name), { recursive: true, force: true });
  }
}
