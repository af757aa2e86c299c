/**
 * `disburse-agent page`: the payee's page from a copy on this machine, so that no server can change it between two visits.
 *
 * @module
 */
import { join, resolve } from 'node:path';
import { createArtifactStore, openProductionKeys } from '@pool/circuits';
import { readChainsFile } from '@pool/configuration';
import { type ChainsFile, PoolError } from '@pool/core';
import { createRedactedLog } from '@pool/http-server';
import { findKeySource } from '@pool/operations';
import { exitCodes, type Output, withInterruption } from '@pool/pay-run';
import { type Config, readConfig } from '../../config/config.ts';
import { findSpendChain } from '../../services/holder/spend-place.ts';
import { checkRelease, keepRelease, parseReleaseDigest } from '../../services/page/own-release.ts';
import { servePage } from '../../services/page/page-server.ts';

export type PageOptions = {
  readonly digest: string;
  readonly folder?: string;
  readonly port: string;
  readonly chain?: string;
  readonly json?: boolean;
  readonly envFile?: string;
};

/** @returns the exit code, after an interruption */
export async function runPage(
  options: PageOptions,
  { out, terminal }: Pick<Output, 'out' | 'terminal'>,
): Promise<number> {
  const digest = parseReleaseDigest(options.digest);
  const port = parsePort(options.port);
  const config = readConfig(options.envFile);
  const chains = readOneChain(options.chain, config);
  const platformUrl = new URL(config.platformUrl).origin;
  let folder: string;
  if (options.folder === undefined) {
    folder = join(config.home, 'pages', digest);
    terminal.write(`Looking at the release ${digest}.\n`);
    await keepRelease(folder, digest, new URL('/payee/', platformUrl));
  } else {
    folder = resolve(options.folder);
    await checkRelease(folder, digest);
  }
  const source = findKeySource(config);
  const keys = source && openProductionKeys(source);
  const store = keys ?? createArtifactStore({ cacheDir: config.artifactsDir, keyForm: 'compact' });
  const log = createRedactedLog(config.logLevel);
  const artifacts = async (circuit: Parameters<typeof store.ensureArtifacts>[0]) => {
    const { wasm, zkey, verificationKey } = await store.ensureArtifacts(circuit);
    return { wasm: String(wasm), zkey: String(zkey), verificationKey };
  };
  const server = await servePage({ folder, port, platformUrl, chains, artifacts, log });
  const url = `http://localhost:${port}/payee/`;
  out(
    options.json === true
      ? { url, digest, folder, platform: platformUrl }
      : `The page is at ${url} until you press Ctrl-C, from ${folder}.\nEvery file was compared with the release ${digest}. The platform is ${platformUrl}.`,
  );
  await withInterruption(
    (signal) =>
      new Promise<void>((done) => {
        signal.addEventListener('abort', () => done(), { once: true });
      }),
  );
  await server.close();
  return exitCodes.ok;
}

/** @throws PoolError `invalid-chain` */
function readOneChain(chain: string | undefined, config: Config): ChainsFile {
  const file = readChainsFile(config.chainsFile);
  const { key, settings } = findSpendChain(chain, config);
  if (key === undefined || settings === undefined) {
    throw new PoolError(
      'invalid-chain',
      `choose one chain of ${config.chainsFile} with --chain: ${Object.keys(file.chains).join(', ')}`,
    );
  }
  return { ...file, chains: { [key]: settings } };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535) {
    throw new PoolError('invalid_request', '--port is a number from 1 to 65535');
  }
  return port;
}
