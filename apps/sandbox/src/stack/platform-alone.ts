/**
 * A chain with the pool on it and one platform process, without gate and agent: for `pnpm bench platform`. The
 * verifiers on the chain accept every proof, so that a measurement need not make real ones; the platform's own check
 * stays.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  connectEligibilityRegistry,
  connectErc20,
  renderVerifierCode,
  verifierPlaces,
} from '@pool/contracts';
import { type KeySource, readPinnedKeys } from '@pool/contracts/pinned-keys';
import {
  bigintToHex32,
  type ChainsFile,
  type EvmChainSettings,
  type Hex32,
  PoolError,
  parseEvmAddress,
  type Secret,
  type TypedData,
} from '@pool/core';
import { createSessionClient } from '@pool/platform-client';
import {
  anvilBinary,
  findFreePorts,
  isAnswering,
  placeEmptyCluster,
  startNodeProcess,
  startProcess,
  waitUntilReady,
} from '@pool/testkit';
import { JsonRpcProvider, MaxUint256, Wallet } from 'ethers';
import {
  anvilArguments,
  chainKey,
  createChainsFile,
  type DeployedChain,
  deployChain,
  readChainId,
} from '../chain/local-chain.ts';
import { openSession } from '../chain/people.ts';
import { deriveEmployerKey, deriveHolderKey, deriveRoleKey } from '../chain/sandbox-keys.ts';
import { openProcessLedger } from '../processes/process-ledger.ts';
import { createEdgeToken } from './edge-token.ts';

export const platformScript = fileURLToPath(
  new URL('../../../platform/src/main.ts', import.meta.url),
);

/** Live API keys that one wallet may have. */
const maxKeys = 50;
/** Beside those of employers and of sign-ins. */
const strangerIndex = 2_000;

export type PlatformAlone = {
  readonly url: string;
  readonly rpcUrl: string;
  /** Of the platform's process. */
  readonly pid: number;
  readonly chain: string;
  readonly settings: EvmChainSettings;
  /** An account with tokens and an unlimited allowance for the pool. */
  readonly funder: { readonly address: string; sign(data: TypedData): Promise<string> };
  /** Accepted by the registry. */
  readonly eligibilityRoot: Hex32;
  /** Registers one more employer. @returns an edge token of it */
  openEmployer(index: number): Promise<string>;
  /** Registers a wallet that the operator does not know. @returns as many holder keys as it may have */
  openStranger(): Promise<string[]>;
  /** Signs in as one of many wallets, through both routes. @throws the platform's error */
  signIn(index: number): Promise<void>;
  stop(): Promise<void>;
};

export async function startPlatformAlone(options: {
  /** Everything is written below this folder. */
  readonly directory: string;
  /** Added to the platform's. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onStep: (step: string) => void;
}): Promise<PlatformAlone> {
  const { directory, onStep } = options;
  const ledger = openProcessLedger(directory);
  const logs = join(directory, 'logs');
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const [chainPort = 0, platformPort = 0] = await findFreePorts(2);
  const rpcUrl = `http://127.0.0.1:${chainPort}`;
  const url = `http://127.0.0.1:${platformPort}`;
  try {
    onStep('starting the chain');
    const anvil = startProcess({
      name: 'chain',
      command: anvilBinary(),
      args: anvilArguments(chainPort),
      logPath: join(logs, 'chain.log'),
    });
    ledger.add(anvil.name, anvil.identity);
    await waitUntilReady(anvil, () => readChainId(rpcUrl));
    onStep('deploying contracts and tokens');
    const deployed = await deployChain(rpcUrl);
    const keys = findKeySource(options.environment);
    const eligibilityRoot = await prepareChain(rpcUrl, deployed, keys);
    const chains = createChainsFile(deployed, { rpcUrl, platformUrl: url, maxRecipients: 256 });
    const chainsFile = join(directory, 'chains.json');
    writeFileSync(chainsFile, JSON.stringify(chains), { mode: 0o600 });

    onStep('starting the platform');
    const dataDirectory = join(directory, 'platform-data');
    await placeEmptyCluster(dataDirectory);
    const platform = startNodeProcess({
      name: 'platform',
      script: platformScript,
      args: ['serve'],
      env: {
        PLATFORM_PORT: String(platformPort),
        PLATFORM_DATA_DIR: dataDirectory,
        PLATFORM_CHAINS_FILE: chainsFile,
        PLATFORM_DEFAULT_CHAIN: chainKey,
        PLATFORM_RELAYER_KEY: deriveRoleKey('relayer').reveal(),
        ...options.environment,
      },
      logPath: join(logs, 'platform.log'),
    });
    ledger.add(platform.name, platform.identity);
    await waitUntilReady(platform, () => isAnswering(url));
    const funder = new Wallet(deriveEmployerKey().reveal());
    return {
      url,
      rpcUrl,
      pid: platform.identity.pid,
      chain: chainKey,
      settings: settingsOf(chains),
      funder: {
        address: funder.address,
        sign: ({ domain, types, message }) => funder.signTypedData(domain, types, message),
      },
      eligibilityRoot,
      async openEmployer(index) {
        const key = deriveHolderKey(index);
        await openSession(key, { platformUrl: url });
        const employerAddress = new Wallet(key.reveal()).address;
        return await createEdgeToken({ script: platformScript, dataDirectory, employerAddress });
      },
      async openStranger() {
        const session = await openSession(deriveHolderKey(strangerIndex), { platformUrl: url });
        const keys: string[] = [];
        while (keys.length < maxKeys) {
          keys.push((await session.mintKey('holder.read', 'stranger')).apiKey.reveal());
        }
        return keys;
      },
      signIn: createSignIns(url),
      stop: () => ledger.endAll(),
    };
  } catch (error) {
    await ledger.endAll();
    throw error;
  }
}

function settingsOf({ chains }: ChainsFile): EvmChainSettings {
  const settings = chains[chainKey];
  if (settings === undefined) {
    throw new PoolError('internal_error', 'the chains file has no chain');
  }
  return settings;
}

function findKeySource(environment: Readonly<Record<string, string>>): KeySource | undefined {
  const folder = environment['PLATFORM_ARTIFACTS_DIR'];
  const manifest = environment['PLATFORM_ARTIFACTS_MANIFEST'];
  return folder === undefined || manifest === undefined ? undefined : { folder, manifest };
}

/** Verifiers with the platform's own keys, an accepted root, and the funder's allowance. */
async function prepareChain(
  rpcUrl: string,
  { contracts, tokens }: DeployedChain,
  source: KeySource | undefined,
): Promise<Hex32> {
  const root = bigintToHex32(0xcafen);
  const provider = new JsonRpcProvider(rpcUrl, undefined, { cacheTimeout: -1 });
  provider.pollingInterval = 100;
  try {
    if (source !== undefined) {
      const keys = await readPinnedKeys(source);
      for (const { circuit, name } of verifierPlaces) {
        const code = renderVerifierCode(keys[circuit] ?? []);
        await provider.send('anvil_setCode', [contracts[name], code]);
      }
    }
    const publisher = new Wallet(deriveRoleKey('publisher').reveal(), provider);
    await (await connectEligibilityRegistry(contracts.registry, publisher).publish(root)).wait();
    const funder = new Wallet(deriveEmployerKey().reveal(), provider);
    const token = connectErc20(tokens['USDC']?.address ?? '', funder);
    await (await token.approve(contracts.pool, MaxUint256)).wait();
    return root;
  } finally {
    provider.destroy();
  }
}

function createSignIns(url: string): (index: number) => Promise<void> {
  const wallets = Array.from({ length: 50 }, (_, index) => {
    const key: Secret = deriveHolderKey(1_000 + index);
    return new Wallet(key.reveal());
  });
  return async (index) => {
    const wallet = wallets[index % wallets.length] ?? Wallet.createRandom();
    await createSessionClient({ url }).signIn({
      address: parseEvmAddress(wallet.address),
      domain: new URL(url).host,
      uri: url,
      chainId: 31337,
      signMessage: (message) => wallet.signMessage(message),
    });
  };
}
