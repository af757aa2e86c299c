/**
 * `disburse-agent release …`: what waits for people, what it pays, and their signed word about it. It reads the job store and the release
 * log, and needs no running agent. A person signs on the agent's machine, or elsewhere with files.
 *
 * @module
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { type EvmChainSettings, formatTokenUnits, PoolError, parseStrictJson } from '@pool/core';
import type { JobStorePlace } from '@pool/idempotency';
import {
  assertCounts,
  findPreparedBatches,
  listPreparedBatches,
  type PreparedBatchView,
  type ReleaseDeps,
  storeRelease,
} from '@pool/operations';
import {
  type BatchRelease,
  parsePersonKey,
  type ReleaseEntry,
  signBatchRelease,
  verifyReleaseLog,
} from '@pool/policy';
import { isConfirmed } from '../check/confirm-payment.ts';
import { exitCodes } from '../exit-codes.ts';
import { withStore } from '../ledger/stored-keys.ts';
import type { Output } from '../ports.ts';
import { writeNewFile } from '../report/new-file.ts';
import {
  createRequestDocument,
  formatAnswer,
  formatRequest,
  parseAnswer,
  type RequestedBatch,
  readFile,
  readJson,
  readRequest,
  toRequested,
} from './release-files.ts';
import type { ReleaseSource } from './release-source.ts';

/** Where the batches of an agent are, and what its policy asks. */
export type ReleasePlace = {
  readonly jobs: JobStorePlace;
  readonly releases: ReleaseDeps;
  readonly chains: Readonly<Record<string, Pick<EvmChainSettings, 'tokens'>>>;
};

/** @returns the exit code */
export async function listReleases(
  place: ReleasePlace,
  { json = false }: { readonly json?: boolean },
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const rows = (await readPrepared(place)).map(describe);
  const lines = rows.map(
    ({ key, amount, chain, count, preparedBy, state, until }) =>
      `${key}\n  ${amount} on ${chain} to ${count} recipient(s), prepared by ${preparedBy}: ${state}, until ${until}`,
  );
  out(json ? { batches: rows } : lines.join('\n') || 'no prepared batch waits');
  return exitCodes.ok;
}

/** @returns the exit code */
export async function showRelease(
  name: string,
  place: ReleasePlace,
  options: { readonly out?: string; readonly json?: boolean },
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const found = findPreparedBatches(name, await readPrepared(place));
  const { sha256 } = place.releases.policy;
  const shown = found.map((view) => ({ view, asked: toRequested(view, sha256) }));
  const requested = shown.map(({ asked }) => asked);
  if (options.out !== undefined) {
    writeNewFile(options.out, formatRequest(requested));
    out(
      options.json === true
        ? { file: options.out, batches: requested.length }
        : `${options.out}: ${requested.length} batch(es); it holds recipients and amounts`,
    );
    return exitCodes.ok;
  }
  const texts = shown.map(({ view, asked }) => {
    const { state, until } = describe(view);
    return [...describeRequested(asked), `  ${state}, until ${until}`].join('\n');
  });
  out(options.json === true ? createRequestDocument(requested) : texts.join('\n\n'));
  return exitCodes.ok;
}

export type SignReleaseOptions = {
  readonly keyFile: string;
  /** For a request file: a new file for the answer. */
  readonly out?: string;
  readonly yes?: boolean;
};

/**
 * @param name - a file that `release show --out` wrote ({@link isFileName}), or a key or label of this agent
 * @param openPlace - of this agent. Not called for a file
 * @returns the exit code
 */
export async function signRelease(
  name: string,
  decision: 'release' | 'deny',
  openPlace: () => Promise<ReleasePlace>,
  options: SignReleaseOptions,
  output: Output,
): Promise<number> {
  const key = readKey(options.keyFile);
  if (isFileName(name)) {
    if (options.out === undefined) {
      throw new PoolError('invalid_release', 'give --out, a new file for the signed answer');
    }
    const words = await signAll(readRequest(name), decision, { key, options, output });
    writeNewFile(options.out, formatAnswer(words));
    output.out(`${options.out}: import it at the agent with "disburse-agent release import"`);
    return exitCodes.ok;
  }
  const place = await openPlace();
  const found = findPreparedBatches(name, await readPrepared(place));
  const requested = found.map((view) => toRequested(view, place.releases.policy.sha256));
  const words = await signAll(requested, decision, { key, options, output });
  return await storeAll(words, found, place, output);
}

/** What is in the folder does not decide what a name means: a label never has a slash, and a file of requests ends in `.json`. */
function isFileName(name: string): boolean {
  return name.includes('/') || name.includes('\\') || name.endsWith('.json');
}

/** @param source - a file or an address that holds what `release sign` wrote. @returns the exit code */
export async function importRelease(
  source: ReleaseSource,
  place: ReleasePlace,
  output: Pick<Output, 'out'>,
): Promise<number> {
  const words = parseAnswer(parseStrictJson(source.text, source.name), source.name);
  const views = await readPrepared(place);
  return await storeAll(words, views, place, output);
}

/** @throws PoolError `invalid_release` */
function findPaid(
  { key, manifestDigest }: BatchRelease,
  views: readonly PreparedBatchView[],
): PreparedBatchView {
  const view = views.find(({ batch }) => batch.manifestDigest === manifestDigest);
  if (view === undefined) {
    throw new PoolError(
      'invalid_release',
      `${key}: no prepared batch of this agent pays what was signed; nothing was stored`,
    );
  }
  return view;
}

async function storeAll(
  words: readonly BatchRelease[],
  views: readonly PreparedBatchView[],
  { releases }: ReleasePlace,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  await storeWords(words, views, releases, ({ key, event, by }) => {
    out(`${key}: ${event === 'deny' ? 'denied' : 'released'} by ${by}`);
  });
  return exitCodes.ok;
}

/**
 * Stores the words of people about batches that wait: all of them, or none if one does not count.
 * @param views - the prepared batches
 * @throws PoolError `invalid_release`
 */
export async function storeWords(
  words: readonly BatchRelease[],
  views: readonly PreparedBatchView[],
  releases: ReleaseDeps,
  onStored: (entry: ReleaseEntry) => void = () => undefined,
): Promise<void> {
  const found = words.map((word) => ({ word, view: findPaid(word, views) }));
  for (const { word, view } of found) {
    assertCounts(releases, view, word, Date.now());
  }
  for (const { word, view } of found) {
    onStored(await storeRelease(releases, view, word, Date.now()));
  }
}

async function signAll(
  batches: readonly RequestedBatch[],
  decision: 'release' | 'deny',
  { key, options, output }: { key: KeyObject; options: SignReleaseOptions; output: Output },
): Promise<readonly BatchRelease[]> {
  for (const one of batches) {
    output.terminal.write(`${describeRequested(one).join('\n')}\n`);
  }
  const ask = options.yes === true ? undefined : output.ask;
  const verb = decision === 'release' ? 'Release' : 'Deny';
  if (!(await isConfirmed({ ask }, `${verb} ${batches.length} batch(es)?`))) {
    throw new PoolError('payment_declined', 'nothing was signed');
  }
  const issuedAt = new Date().toISOString();
  return batches.map(({ batch, policy, until }) => {
    const { manifestDigest, total, token, key: jobKey, count } = batch;
    const paid = { manifestDigest, total, token, key: jobKey, count };
    return signBatchRelease({ ...paid, decision, issuedAt, policy, until }, key);
  });
}

/** Amounts in token units and in base units: the decimals are the word of the agent's machine, the base units are what is signed. */
function describeRequested({ batch, manifest, preparedBy }: RequestedBatch): readonly string[] {
  const { symbol, decimals, count, chain, total } = batch;
  const unit = (amount: string) => `${formatTokenUnits(BigInt(amount), decimals)} ${symbol}`;
  return [
    `${batch.key}: ${unit(total)} (${total} base units) to ${count} recipient(s) on ${chain}`,
    `  pool ${manifest.pool}, token ${batch.token}, funder ${manifest.funder}`,
    `  prepared by ${preparedBy}, digest ${batch.manifestDigest}`,
    ...manifest.recipients.map(
      ({ address, amount, memo }) => `  ${address}  ${unit(amount)}${memo ? `  ${memo}` : ''}`,
    ),
  ];
}

function describe({ batch, prepared, standing }: PreparedBatchView) {
  const { key, chain, symbol, total, decimals, count } = batch;
  const shown = { key, chain, token: symbol, total, count, preparedBy: prepared.by };
  const amount = `${formatTokenUnits(BigInt(total), decimals)} ${symbol}`;
  if (standing.kind === 'refused') {
    return { ...shown, amount, state: standing.message, until: prepared.at, waitsFor: [] };
  }
  const { missing, waitsFor, deniedBy, isReleased, releasedBy, untilMs } = standing;
  const names = waitsFor.map(({ name }) => name);
  const by = releasedBy.map(({ name }) => name);
  const state =
    deniedBy === undefined
      ? isReleased
        ? `released by ${by.join(', ') || 'the policy'}`
        : `waits for ${missing} of ${names.join(', ')}${by.length > 0 ? `; released by ${by.join(', ')}` : ''}`
      : `denied by ${deniedBy}`;
  return { ...shown, amount, state, until: new Date(untilMs).toISOString(), waitsFor: names };
}

async function readPrepared(place: ReleasePlace): Promise<readonly PreparedBatchView[]> {
  const { jobs, releases, chains } = place;
  return await withStore(jobs, [], (store) =>
    listPreparedBatches({ store, releases, chains, nowMs: Date.now() }),
  );
}

/** @returns the exit code: 2 for a log that is not as it was written */
export async function verifyLog(
  path: string | undefined,
  openLog: () => Promise<ReleaseDeps>,
  options: { readonly head?: string; readonly json?: boolean },
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const entries =
    path === undefined
      ? await (await openLog()).log.listSince()
      : readEntries(readJson(path), path);
  const verdict = verifyReleaseLog(entries, options.head);
  const text =
    verdict.kind === 'intact'
      ? `intact: ${verdict.entries} entries; keep the newest digest elsewhere: ${verdict.head}`
      : `broken at entry ${verdict.number}: ${verdict.message}`;
  out(options.json === true ? verdict : text);
  return verdict.kind === 'intact' ? exitCodes.ok : exitCodes.refused;
}

function readEntries(value: unknown, path: string): readonly unknown[] {
  if (typeof value === 'object' && value !== null && 'entries' in value) {
    const { entries } = value;
    if (Array.isArray(entries)) {
      return entries;
    }
  }
  throw new PoolError('invalid_release', `${path} is not what "release log --json" printed`);
}

/** Prints the log; as JSON, for `release verify`. @returns the exit code */
export async function printLog(
  { log }: ReleaseDeps,
  { json = false }: { readonly json?: boolean },
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const entries = await log.listSince();
  const lines = entries.map(
    ({ number, at, event, by, key, outcome }) =>
      `${number}  ${at}  ${event}  ${by}  ${key}${outcome === undefined ? '' : `  ${outcome}`}`,
  );
  out(json ? { entries } : lines.join('\n') || 'the log is empty');
  return exitCodes.ok;
}

/** Makes the key of a person. @returns the exit code */
export async function makeReleaseKey(path: string, { out }: Pick<Output, 'out'>): Promise<number> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  writeNewFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const { x = '' } = publicKey.export({ format: 'jwk' });
  out(`publicKey: 0x${Buffer.from(x, 'base64url').toString('hex')}`);
  return exitCodes.ok;
}

/** @throws PoolError `invalid_release` for a file that others can read, or that is no Ed25519 key */
function readKey(path: string): KeyObject {
  if (path !== '-' && process.platform !== 'win32' && existsSync(path)) {
    const { mode } = statSync(path);
    if ((mode & 0o077) !== 0) {
      throw new PoolError('invalid_release', `${path} can be read by others; chmod 600 it`);
    }
  }
  const key = parsePersonKey(readFile(path));
  if (key === undefined) {
    throw new PoolError(
      'invalid_release',
      `${path} is not an Ed25519 private key; "disburse-agent release new-key" makes one`,
    );
  }
  return key;
}
