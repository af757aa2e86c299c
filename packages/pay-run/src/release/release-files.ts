/**
 * The files that a release travels in: from the agent's machine to that of a person, and back.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import {
  fundManifestSchema,
  hexSchema,
  isoTimeSchema,
  openEnvelope,
  PoolError,
  parseStrictJson,
  parseWire,
} from '@pool/core';
import { describeManifest, type PaidBatch, type PreparedBatchView } from '@pool/operations';
import { type BatchRelease, computeBatchReleaseText, parseBatchReleaseText } from '@pool/policy';
import * as v from 'valibot';

const text = v.pipe(v.string(), v.maxLength(4_096));

const requestSchema = v.strictObject({
  format: v.literal('pool/release-request/1'),
  batches: v.pipe(
    v.array(
      v.strictObject({
        manifest: fundManifestSchema,
        symbol: v.pipe(v.string(), v.maxLength(32)),
        decimals: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(36)),
        preparedBy: v.pipe(v.string(), v.maxLength(128)),
        policy: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
        until: isoTimeSchema,
      }),
    ),
    v.minLength(1),
    v.maxLength(1_000),
  ),
});

/** A batch as a person reads it, computed from its manifest and not from what the file says of it. */
export type RequestedBatch = {
  readonly batch: PaidBatch;
  readonly manifest: v.InferOutput<typeof fundManifestSchema>;
  readonly preparedBy: string;
  /** SHA-256 of the release policy. */
  readonly policy: string;
  /** ISO 8601. */
  readonly until: string;
};

export function toRequested(view: PreparedBatchView, policy: string): RequestedBatch {
  const { batch, manifest, standing, prepared } = view;
  if (standing.kind === 'refused') {
    throw new PoolError('invalid_release', `${batch.key}: ${standing.message}`);
  }
  const until = new Date(standing.untilMs).toISOString();
  return { batch, manifest, policy, until, preparedBy: prepared.by };
}

/** Confidential: it holds recipients and amounts. */
export function createRequestDocument(batches: readonly RequestedBatch[]): object {
  const content = batches.map(({ batch: { symbol, decimals }, ...rest }) => {
    const { manifest, preparedBy, policy, until } = rest;
    return { manifest, symbol, decimals, preparedBy, policy, until };
  });
  return { format: 'pool/release-request/1', batches: content };
}

/** The text of {@link createRequestDocument}. */
export function formatRequest(batches: readonly RequestedBatch[]): string {
  return `${JSON.stringify(createRequestDocument(batches), null, 2)}\n`;
}

/** @throws PoolError `invalid_release`, `invalid_request` */
export function readRequest(path: string): readonly RequestedBatch[] {
  return parseWire(requestSchema, readJson(path), path).batches.map((one) => {
    const { manifest, symbol, decimals, preparedBy, policy, until } = one;
    const batch = describeManifest(manifest, { symbol, decimals });
    return { batch, manifest, preparedBy, policy, until };
  });
}

const answerSchema = v.strictObject({
  format: v.literal('pool/release-answer/1'),
  releases: v.pipe(
    v.array(
      v.strictObject({ statement: text, publicKey: hexSchema(32), signature: hexSchema(64) }),
    ),
    v.minLength(1),
    v.maxLength(1_000),
  ),
});

/** It holds totals, and no recipient. */
export function formatAnswer(words: readonly BatchRelease[]): string {
  const releases = words.map(({ publicKey, signature, ...content }) => ({
    statement: computeBatchReleaseText(content),
    ...{ publicKey, signature },
  }));
  return `${JSON.stringify({ format: 'pool/release-answer/1', releases }, null, 2)}\n`;
}

/** @param what - names it in errors. @throws PoolError `invalid_release`, `invalid_request` */
export function parseAnswer(value: unknown, what: string): readonly BatchRelease[] {
  return parseWire(answerSchema, value, what).releases.map(({ statement, ...signed }, index) => {
    const content = parseBatchReleaseText(statement);
    if (content === undefined) {
      throw new PoolError('invalid_release', `${what}: releases[${index}].statement is not one`);
    }
    return { ...content, ...signed };
  });
}

/** @param path - of a file, or of what a command printed with `--json`. @throws PoolError `invalid_release` */
export function readJson(path: string): unknown {
  return openEnvelope(parseStrictJson(readFile(path), path));
}

/** @throws PoolError `invalid_release` */
export function readFile(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (cause) {
    throw new PoolError('invalid_release', `${path} cannot be read`, { cause });
  }
}
