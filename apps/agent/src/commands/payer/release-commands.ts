/**
 * `disburse-agent release …`, which `@pool/pay-run` carries out on the job store and the release log of this agent.
 *
 * @module
 */
import { readChainsFile } from '@pool/configuration';
import { PoolError } from '@pool/core';
import {
  importRelease,
  listReleases,
  makeReleaseKey,
  type Output,
  printLog,
  type ReleasePlace,
  type SignReleaseOptions,
  showRelease,
  signRelease,
  verifyLog,
} from '@pool/pay-run';
import { readConfig } from '../../config/config.ts';
import { openReleases } from '../../services/releases.ts';

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

/** @returns the exit code */
export async function runImportRelease(
  path: string,
  options: EnvFile,
  output: Output,
): Promise<number> {
  return await withPlace(options, (place) => importRelease(path, place, output));
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
