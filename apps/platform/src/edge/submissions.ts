/**
 * What the routes of settlements and of spends share. Few proofs of one employer or holder may fail to verify (docs/decisions/0011): each
 * costs the thread that checks those of everybody, and an honest agent verifies its own proof before it sends it.
 *
 * @module
 */
import { deriveTraceId, errorCodeOf, isIdempotencyKey, PoolError } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { ShellContext } from '@pool/http-server';
import { readIdempotencyKey, readJson } from '@pool/http-server';
import { isUnfinished, type SubmissionRow } from '@pool/relayer';
import type { GenericSchema, InferOutput } from 'valibot';
import { countRefusedProof } from '../accounts/credentials.ts';
import { type Limiter, type RateLimits, settlementCost } from '../http/rate-limit.ts';
import { assertOpen, type BootstrapSettings } from './bootstrap.ts';

export type SubmissionDeps = {
  readonly db: PlatformDatabase;
  readonly limits: RateLimits;
  readonly bootstrap: Pick<BootstrapSettings, 'findClosed'>;
  /** Wakes the relayer, because there is something to send. */
  readonly onAccepted: () => void;
  /** Brings the index up to the chain's final block, within a short time limit. */
  readonly refreshIndex: (chain: string) => Promise<void>;
};

type Posted<Request> = {
  readonly kind: 'settlement' | 'spend';
  /** Id of the employer, or address of the holder: whose limits it draws on. */
  readonly owner: string;
  /** Id of the edge token or API key. */
  readonly credential: number;
  /** Names the caller in the log. */
  readonly who: Readonly<Record<string, string | number>>;
  /** Calls `beforeWork` after the look-up of stored rows and before every other check. */
  readonly accept: (
    key: string,
    request: Request,
    beforeWork: () => Promise<void>,
  ) => Promise<SubmissionRow>;
};

const words = {
  settlement: {
    limits: 'settlements',
    many: 'settlements of this employer',
    accepted: 'settlement accepted',
    refused: 'a proof was refused',
    outOfGas: 'an employer has no gas left today',
  },
  spend: {
    limits: 'spends',
    many: 'spends of this holder',
    accepted: 'spend taken',
    refused: 'the proof of a spend was refused',
    outOfGas: 'no gas is left for a spend today',
  },
} as const;

/** Takes a posted settlement or spend. @throws PoolError as its `accept`, `rate_limited` (429), why the chain is closed (503) */
export async function submit<TSchema extends GenericSchema<unknown, { readonly chain: string }>>(
  c: ShellContext,
  { db, limits, bootstrap, onAccepted }: SubmissionDeps,
  schema: TSchema,
  { kind, owner, credential, who, accept }: Posted<InferOutput<TSchema>>,
): Promise<SubmissionRow> {
  const { many, accepted, refused, outOfGas, ...word } = words[kind];
  const limiter = limits[word.limits];
  await limiter.take(owner, settlementCost.request);
  const key = readIdempotencyKey(c);
  traceJob(c, key);
  const log = c.get('log');
  const request = await readJson(c, schema);
  const accepting = accept(key, request, async () => {
    assertOpen(bootstrap, request.chain);
    await assertProofsGood(limits.refusedProofs, owner, many);
    await limiter.take(owner, settlementCost.checks);
  });
  const row = await accepting.catch(async (error: unknown) => {
    if (errorCodeOf(error) === 'proof_invalid') {
      log.warn({ ...who, refused: await countRefusedProof(db, credential) }, refused);
      await noteRefusedProof(limits.refusedProofs, owner);
    }
    if (errorCodeOf(error) === 'gas_budget_exceeded') {
      log.warn({ ...who, chain: request.chain }, outOfGas);
    }
    throw error;
  });
  log.info({ [kind]: row.id, state: row.state }, accepted);
  if (row.state === 'accepted') {
    onAccepted();
  }
  return row;
}

/**
 * The row of the key in the path. The caller may have seen on chain already what it carries, so it is not older than the chain.
 * @param find - undefined: there is no row that the caller may see
 */
export async function readFresh(
  c: ShellContext,
  { refreshIndex }: SubmissionDeps,
  find: (key: string) => Promise<SubmissionRow | undefined>,
): Promise<SubmissionRow | undefined> {
  // The path has the key without quoting: a quote character there is part of the key.
  const key = c.req.param('key') ?? '';
  traceJob(c, key);
  const row = isIdempotencyKey(key) ? await find(key) : undefined;
  if (row === undefined || !isUnfinished(row)) {
    return row;
  }
  await refreshIndex(row.chain);
  return (await find(key)) ?? row;
}

/** From here on every log line of the request carries the id that finds the job in all logs. */
export function traceJob(c: ShellContext, key: string): void {
  c.set('log', c.get('log').child({ trace: deriveTraceId(key) }));
}

/** @throws PoolError `rate_limited` (429) */
async function assertProofsGood(limiter: Limiter, id: string, what: string): Promise<void> {
  try {
    await limiter.assertLeft(id);
  } catch (cause) {
    if (errorCodeOf(cause) !== 'rate_limited') {
      throw cause;
    }
    const details = cause instanceof PoolError ? cause.details : undefined;
    throw new PoolError(
      'rate_limited',
      `too many ${what} had a proof that is not valid; check that agent and platform use keys of the same ceremony, and try again later`,
      { cause, ...(details === undefined ? {} : { details }) },
    );
  }
}

/** The refusal of the proof itself is answered already. */
async function noteRefusedProof(limiter: Limiter, id: string): Promise<void> {
  try {
    await limiter.take(id);
  } catch {
    // Others of this owner were checked at the same time, and took the last ones.
  }
}
