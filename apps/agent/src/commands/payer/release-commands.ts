/**
 * `disburse-agent release …`, which `@pool/pay-run` carries out on the job store and the release log of this agent.
 *
 * @module
 */
import { readChainsFile } from '@pool/configuration';
import { PoolError } from '@pool/core';
import { openJobStore } from '@pool/idempotency';
import { createEvmChain, type OwnersOffice } from '@pool/operations';
import {
  importOwnersSignature,
  importRelease,
  listOwners,
  listReleases,
  makeReleaseKey,
  type Output,
  parseOwnersSignature,
  printLog,
  type ReleasePlace,
  readReleaseSource,
  type SignReleaseOptions,
  showRelease,
  signRelease,
  verifyLog,
} from '@pool/pay-run';
import { createPinnedFetch } from '@pool/webhooks';
import { readConfig } from '../../config/config.ts';
import { openReleases } from '../../services/releases.ts';
import { openDesk } from '../../services/signers/owners-place.ts';

type EnvFile = { readonly envFile?: string };
type Json = EnvFile & { readonly json?: boolean };

/** @returns the exit code */
export async function runListReleases(options: Json, output: Output): Promise<number> {
  return await withPlace(options, (place) => listReleases(place, options, output));
}

/** @returns the exit code */
export async function runShowRelease(
  name: string,
  options: Json & { readonly out?: string },
  output: Output,
): Promise<number> {
  return await withPlace(options, (place) => showRelease(name, place, options, output));
}

/** @returns the exit code */
export async function runSignRelease(
  name: string,
  options: SignReleaseOptions & EnvFile,
  output: Output,
): Promise<number> {
  return await sign(name, 'release', options, output);
}

/** @returns the exit code */
export async function runDenyRelease(
  name: string,
  options: SignReleaseOptions & EnvFile,
  output: Output,
): Promise<number> {
  return await sign(name, 'deny', options, output);
}

/** @param place - a file or an address. @returns the exit code */
export async function runImportRelease(
  place: string,
  options: EnvFile,
  output: Output,
): Promise<number> {
  const publicOnly = createPinnedFetch({ allowInsecureLoopback: false });
  const source = await readReleaseSource(place, publicOnly);
  const signature = parseOwnersSignature(source);
  return signature === undefined
    ? await withPlace(options, (releases) => importRelease(source, releases, output))
    : await withOwners(options, (owners) => importOwnersSignature(signature, owners, output));
}

/** @returns the exit code */
export async function runListOwners(
  options: Json & { readonly out?: string },
  output: Output,
): Promise<number> {
  return await withOwners(options, (owners) => listOwners(owners, options, output));
}

/** Reads the chain through the agent's own RPC. */
async function withOwners(
  { envFile }: EnvFile,
  work: (place: OwnersOffice) => Promise<number>,
): Promise<number> {
  const config = readConfig(envFile);
  if (config.remoteFunder?.kind !== 'contract_wallet') {
    throw new PoolError(
      'invalid_configuration',
      'this agent does not pay from a contract wallet; set DISBURSE_SIGNER=contract_wallet and DISBURSE_CONTRACT_WALLET_ADDRESS',
    );
  }
  const chains = Object.entries(readChainsFile(config.chainsFile).chains).map(
    ([key, settings]) => [key, { settings, chain: createEvmChain(settings) }] as const,
  );
  const store = await openJobStore(config.jobs);
  const desk = openDesk(config, new Map(chains));
  try {
    return await work({ ...desk.place, store });
  } finally {
    await desk.close();
    await store.close();
    for (const [, { chain }] of chains) {
      chain.close();
    }
  }
}

/** @returns the exit code */
export async function runReleaseLog(options: Json, output: Output): Promise<number> {
  return await withPlace(options, ({ releases }) => printLog(releases, options, output));
}

/** @returns the exit code */
export async function runVerifyReleases(
  path: string | undefined,
  options: Json & { readonly head?: string },
  output: Output,
): Promise<number> {
  return path === undefined
    ? await withPlace(options, ({ releases }) =>
        verifyLog(undefined, async () => releases, options, output),
      )
    : await verifyLog(path, refuseToOpen, options, output);
}

/** @returns the exit code */
export async function runNewReleaseKey(
  path: string,
  _options: object,
  output: Output,
): Promise<number> {
  return await makeReleaseKey(path, output);
}

async function refuseToOpen(): Promise<never> {
  throw new PoolError('invalid_release', 'the log is read from the file');
}

async function sign(
  name: string,
  decision: 'release' | 'deny',
  options: SignReleaseOptions & EnvFile,
  output: Output,
): Promise<number> {
  let opened: ReleasePlace | undefined;
  const openPlace = async () => {
    opened = await openPlaceOf(options);
    return opened;
  };
  try {
    return await signRelease(name, decision, openPlace, options, output);
  } finally {
    await opened?.releases.log.close();
  }
}

async function withPlace(
  options: EnvFile,
  work: (place: ReleasePlace) => Promise<number>,
): Promise<number> {
  const place = await openPlaceOf(options);
  try {
    return await work(place);
  } finally {
    await place.releases.log.close();
  }
}

async function openPlaceOf({ envFile }: EnvFile): Promise<ReleasePlace> {
  const config = readConfig(envFile);
  const { chains } = readChainsFile(config.chainsFile);
  const contexts = new Map(Object.entries(chains).map(([key, settings]) => [key, { settings }]));
  const releases = await openReleases(config, contexts);
  if (releases === undefined) {
    throw new PoolError(
      'invalid_policy',
      'this agent has no release policy: DISBURSE_RELEASE_POLICY is not set, so nothing waits for a release',
    );
  }
  return { jobs: config.jobs, releases, chains };
}
