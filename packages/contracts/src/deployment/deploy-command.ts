/**
 * `pool-contracts deploy`: from options and keys to a pool on chain whose code was compared.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, posix, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PoolError } from '@pool/core';
import { askChain, assertChainId, createEvmProvider } from '@pool/evm-sender';
import { replaceDurableFile } from '@pool/storage';
import {
  getAddress,
  isAddress,
  type JsonRpcProvider,
  keccak256,
  Wallet,
  ZeroAddress,
} from 'ethers';
import { readPinnedKeys } from '../code/pinned-keys.ts';
import {
  type DeploymentTerms,
  digestKeys,
  type PlannedContract,
  planDeployment,
  requireAllKeys,
} from './deployment-plan.ts';
import { openState, readFirstNonce } from './deployment-state.ts';
import { runDeployment, verifyDeployment } from './run-deployment.ts';

// The standard JSON input with which anyone compiles the contracts to the deployed code, for the source verification of block
// explorers.

const contracts = [
  'solidity/ShieldedPool.sol',
  'solidity/EligibilityRegistry.sol',
  'solidity/KeyVerifier.sol',
  'solidity/lib/NoteTree.sol',
];
const library = '@openzeppelin/contracts/';

/** As foundry.toml has them. */
const compiler = {
  version: '0.8.37',
  settings: {
    optimizer: { enabled: true, runs: 1_000_000 },
    evmVersion: 'cancun',
    viaIR: false,
    metadata: { bytecodeHash: 'none', appendCBOR: false },
  },
} as const;

/** @param noteTree - address of the library that the pool calls */
function makeVerificationInput(noteTree: string): object {
  const require = createRequire(import.meta.url);
  const own = dirname(require.resolve('@pool/contracts/package.json'));
  const foreign = dirname(require.resolve(`${library}package.json`));
  const sources: Record<string, { readonly content: string }> = {};
  const waiting = [...contracts];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (sources[name] !== undefined) continue;
    const path = name.startsWith(library)
      ? join(foreign, name.slice(library.length))
      : join(own, name);
    const content = readFileSync(path, 'utf8');
    sources[name] = { content };
    for (const [, imported = ''] of content.matchAll(/^import\s[^;]*?"([^"]+)";/gm)) {
      waiting.push(imported.startsWith('.') ? posix.join(posix.dirname(name), imported) : imported);
    }
  }
  return {
    language: 'Solidity',
    sources,
    settings: {
      ...compiler.settings,
      libraries: { 'solidity/lib/NoteTree.sol': { NoteTree: noteTree } },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode', 'evm.deployedBytecode'] } },
    },
  };
}

export const usage = `pool-contracts deploy --chain-id N --keys <folder> --manifest <file> --out <folder>
    --admin ADDRESS --guardian ADDRESS --relayer ADDRESS --gate ADDRESS [--grace-seconds N] [--dry-run] [--json]
    deploys registry, note tree, five verifiers and pool. <folder> of --keys is the one that \`pool-circuits fetch\` filled; the
    manifest pins the keys in it. --out gets deployment.json, which a repeated run continues from, and the input for source
    verification. --dry-run prints the plan and sends nothing. The default of --grace-seconds is 3600.

    POOL_DEPLOY_RPC_URL                                        the node
    POOL_DEPLOY_PRIVATE_KEY_FILE, or POOL_DEPLOY_PRIVATE_KEY   key of the account that pays; it gets no role

Exit codes: 0 success, 1 failure (run it again: it continues), 2 wrong usage, 3 refused.
`;

/** The command line is wrong. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

export type DeployIo = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
  readonly progress: (text: string) => void;
  readonly sleep: (milliseconds: number) => Promise<void>;
};

const waitMs = 600_000;

/** @throws UsageError; PoolError of keys, plan and chain */
export async function runDeploy(args: readonly string[], io: DeployIo): Promise<void> {
  const options = readOptions(args);
  const wallet = await readWallet(io.env);
  const keys = requireAllKeys(
    await readPinnedKeys({ folder: options.keys, manifest: options.manifest }),
    options.chainId,
  );
  const rpcUrl = io.env['POOL_DEPLOY_RPC_URL'];
  if (rpcUrl === undefined || rpcUrl === '') throw new UsageError('POOL_DEPLOY_RPC_URL is not set');
  const provider = createEvmProvider({ rpcUrl, chainId: options.chainId });
  try {
    await assertChainId(provider, options);
    const statePath = join(options.out, 'deployment.json');
    const { chainId, admin, guardian, relayer, gate, graceSeconds } = options;
    const terms: DeploymentTerms = {
      ...{ chainId, admin, guardian, relayer, gate, graceSeconds },
      deployer: wallet.address,
      firstNonce: readFirstNonce(statePath) ?? (await fetchFirstNonce(provider, wallet.address)),
      keysDigest: digestKeys(keys),
    };
    const state = openState(statePath, terms);
    const plan = planDeployment(terms, keys);
    if (options.isDryRun) {
      const balance = await askChain(() => provider.getBalance(wallet.address));
      io.out(
        options.isJson
          ? toJson(terms, plan)
          : `${describe(terms, plan)}deployer ${wallet.address} has ${balance} wei; nothing was sent\n`,
      );
      return;
    }
    await mkdir(options.out, { recursive: true, mode: 0o700 });
    const onStep = (text: string): void => io.progress(`${text}\n`);
    const { sleep } = io;
    const block = await runDeployment({ provider, wallet, plan, state, onStep, sleep, waitMs });
    await verifyDeployment(provider, plan, terms, keys);
    writeVerification(options.out, plan);
    io.out(
      options.isJson
        ? toJson(terms, plan, block)
        : `${describe(terms, plan)}pool created in block ${block}; every contract has the planned code, and every role its holder\nnext: the admin enables tokens (enableToken); verify the sources with ${join(options.out, 'verification-input.json')}\n`,
    );
  } finally {
    provider.destroy();
  }
}

type Options = Pick<
  DeploymentTerms,
  'chainId' | 'admin' | 'guardian' | 'relayer' | 'gate' | 'graceSeconds'
> & {
  readonly keys: string;
  readonly manifest: string;
  readonly out: string;
  readonly isDryRun: boolean;
  readonly isJson: boolean;
};

function readOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ 'chain-id': text, keys: text, manifest: text, out: text, 'grace-seconds': text },
      ...{ admin: text, guardian: text, relayer: text, gate: text },
      'dry-run': { type: 'boolean' },
      json: { type: 'boolean' },
    },
  });
  const required = (name: Exclude<keyof typeof values, 'dry-run' | 'json'>): string => {
    const value = values[name];
    if (value === undefined) throw new UsageError(`--${name} is missing`);
    return value;
  };
  const account = (name: 'admin' | 'guardian' | 'relayer' | 'gate'): string => {
    const value = required(name);
    if (!isAddress(value) || getAddress(value) === ZeroAddress) {
      throw new UsageError(`--${name} is not an address with its checksum`);
    }
    return getAddress(value);
  };
  const graceSeconds = readInteger('grace-seconds', values['grace-seconds'] ?? '3600');
  if (graceSeconds < 3_000 || graceSeconds > 86_400) {
    throw new UsageError('--grace-seconds must lie between 3000 and 86400');
  }
  return {
    chainId: readInteger('chain-id', required('chain-id')),
    keys: resolve(required('keys')),
    manifest: resolve(required('manifest')),
    out: resolve(required('out')),
    admin: account('admin'),
    guardian: account('guardian'),
    relayer: account('relayer'),
    gate: account('gate'),
    graceSeconds,
    isDryRun: values['dry-run'] === true,
    isJson: values.json === true,
  };
}

function readInteger(name: string, value: string): number {
  if (!/^[1-9]\d{0,14}$/.test(value)) throw new UsageError(`--${name} is not a whole number`);
  return Number(value);
}

/** The key is never an argument, which other users of the host can read. */
async function readWallet(env: DeployIo['env']): Promise<Wallet> {
  const path = env['POOL_DEPLOY_PRIVATE_KEY_FILE'];
  const inline = env['POOL_DEPLOY_PRIVATE_KEY'];
  const key = path === undefined ? inline : await readFile(path, 'utf8').catch(() => undefined);
  if (key === undefined || !/^0x[0-9a-fA-F]{64}$/.test(key.trim())) {
    throw new UsageError(
      'POOL_DEPLOY_PRIVATE_KEY_FILE must name a file with a private key: 0x and 64 hex digits',
    );
  }
  return new Wallet(key.trim());
}

async function fetchFirstNonce(provider: JsonRpcProvider, deployer: string): Promise<number> {
  const [latest, pending] = await askChain(() =>
    Promise.all([
      provider.getTransactionCount(deployer, 'latest'),
      provider.getTransactionCount(deployer, 'pending'),
    ]),
  );
  if (latest !== pending) {
    throw new PoolError(
      'deployment_failed',
      `The deployer ${deployer} has transactions that are not mined yet. Wait for them, because the addresses follow from its nonce.`,
    );
  }
  return latest;
}

function list(plan: readonly PlannedContract[]) {
  return plan.map(({ name, address, source, constructorArguments, runtimeCode }) => ({
    ...{ name, address, source, constructorArguments },
    runtimeCodeHash: keccak256(runtimeCode),
  }));
}

function toJson(
  terms: DeploymentTerms,
  plan: readonly PlannedContract[],
  deployedAtBlock?: number,
): string {
  return `${JSON.stringify({ terms, contracts: list(plan), ...(deployedAtBlock === undefined ? {} : { deployedAtBlock }) })}\n`;
}

function describe(terms: DeploymentTerms, plan: readonly PlannedContract[]): string {
  const roles = (['admin', 'guardian', 'relayer', 'gate'] as const).map(
    (name) => `${name.padEnd(18)} ${terms[name]}\n`,
  );
  const contracts = list(plan).map(
    ({ name, address, runtimeCodeHash }) =>
      `${name.padEnd(18)} ${address}  code ${runtimeCodeHash}\n`,
  );
  return `chain ${terms.chainId}, grace period ${terms.graceSeconds} seconds\n${[...roles, ...contracts].join('')}`;
}

function writeVerification(out: string, plan: readonly PlannedContract[]): void {
  const noteTree = plan.find(({ name }) => name === 'noteTree')?.address ?? '';
  const input = makeVerificationInput(noteTree);
  replaceDurableFile(join(out, 'verification-input.json'), `${JSON.stringify(input)}\n`);
  const contracts = { compilerVersion: compiler.version, contracts: list(plan) };
  replaceDurableFile(join(out, 'contracts.json'), `${JSON.stringify(contracts, null, 2)}\n`);
}
