/**
 * `/agent-edge/…` (ARCHITECTURE.md): what holders read and spend, with keys of their own.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises';
import { edgeRoutes } from '@pool/api';
import { type EvmChainSettings, errorCodeOf, findAccountFamily, PoolError } from '@pool/core';
import type { Shell, ShellContext } from '@pool/http-server';
import { hashCredential, readJson } from '@pool/http-server';
import type { BatchPages, SubmissionRow } from '@pool/relayer';
import {
  type AcceptSpendDeps,
  acceptSpend,
  createNotePaths,
  describeSpend,
  findSubmission,
  type Holder,
  isUnfinished,
  listServedNotes,
  parseSpend,
} from '@pool/relayer';
import { isKnownEmployer } from '../accounts/credentials.ts';
import { type CallerDeps, identifyAgent, identifyKey } from '../accounts/identify-caller.ts';
import { apiKeyPrefix } from '../credentials/credential.ts';
import type { CredentialMemory } from '../credentials/credential-memory.ts';
import { createCredentialMemory } from '../credentials/credential-memory.ts';
import { findSubject } from '../enrolment/enrolment.ts';
import { createFewAtOnce } from '../http/few-at-once.ts';
import { batchCost } from '../http/rate-limit.ts';
import { assertServed, type BootstrapSettings } from './bootstrap.ts';
import { readFresh, type SubmissionDeps, submit } from './submissions.ts';

// Who may read `/agent-edge/batches`: an agent by its edge token, or a holder by one of its keys, whose wallet is admitted
// (docs/decisions/0010). What they read is counted together for their owner, whatever number of credentials it has.

type ReaderDeps = CallerDeps & {
  /** The owners of credentials that read before: their limit is taken before the database is asked. */
  readonly readers: CredentialMemory;
};

/**
 * @returns the owner, whose limit the bytes of the answer draw on
 * @throws PoolError `unauthorized` (401), `forbidden`, `edge_token_not_allowed` (403), `rate_limited` (429)
 */
async function identifyReader(deps: ReaderDeps, c: ShellContext): Promise<string> {
  const { batches } = deps.limits;
  const header = c.req.header('authorization') ?? '';
  const hash = hashCredential(header);
  const known = deps.readers.recall(hash);
  if (known?.kind === 'good') {
    batches.take(known.caller, batchCost.request);
  }
  const isKey = header.includes(` ${apiKeyPrefix}`);
  const { owner, refusal } = await (isKey ? judgeKey(deps, c) : judgeAgent(deps, c));
  deps.readers.remember(hash, { kind: 'good', caller: owner });
  if (known === undefined) {
    batches.take(owner, batchCost.request);
  }
  if (refusal !== undefined) {
    batches.take(owner, batchCost.refusal);
    throw refusal;
  }
  return owner;
}

type Judged = { readonly owner: string; readonly refusal?: PoolError };

async function judgeAgent(deps: ReaderDeps, c: ShellContext): Promise<Judged> {
  const { id } = await identifyAgent(deps, c);
  return { owner: id };
}

async function judgeKey(deps: ReaderDeps, c: ShellContext): Promise<Judged> {
  const { capability, employerId: owner, address } = await identifyKey(deps, c);
  if (capability === 'disburse') {
    const message =
      'a disburse key does not reach this route; use an edge token or a key of a holder';
    return { owner, refusal: new PoolError('forbidden', message) };
  }
  if (!(await isKnownEmployer(deps.db, deps.admission, { id: owner, address }))) {
    const message =
      'the wallet of this key is not enrolled: enrol it first, or ask the operator of the platform for an edge token';
    return { owner, refusal: new PoolError('forbidden', message) };
  }
  return { owner };
}

export type HolderDeps = CallerDeps &
  AcceptSpendDeps &
  SubmissionDeps & {
    readonly bootstrap: Pick<BootstrapSettings, 'chains' | 'findClosed'>;
    readonly batchPages: BatchPages;
    /** Whether holders may ask for the paths of their notes, which links the notes to their spends. */
    readonly makesNotePaths: boolean;
  };

/** A refusal says that one second is the least to wait. */
const refusalMs = 200;

type Spender = Holder & { readonly keyId: number };

export function addHolderRoutes(app: Shell, deps: HolderDeps): void {
  const { db, bootstrap } = deps;
  const readers = createCredentialMemory();
  const fewAtOnce = createFewAtOnce();
  const notePaths = deps.makesNotePaths ? createNotePaths(db) : undefined;

  app.get('/agent-edge/notes', async (c) => {
    const key = await identifyKey(deps, c);
    if (key.capability !== 'holder.read') {
      throw new PoolError('forbidden', 'this key does not reach notes; use a holder.read key');
    }
    const { chain = '', token = '', cursor } = c.req.query();
    const settings = assertServed(bootstrap, chain);
    const tokenSettings = Object.hasOwn(settings.tokens, token)
      ? settings.tokens[token]
      : undefined;
    if (tokenSettings === undefined) {
      throw new PoolError('invalid-token', 'token must be a symbol configured for the chain');
    }
    const subject = await findSubject(db, key.address);
    if (subject === undefined || findAccountFamily(key.address) !== 'evm') {
      return c.json({ notes: [] });
    }
    // The holder may have seen a note on chain already: its change, after a receipt.
    await deps.refreshIndex(chain);
    return c.json(
      await listServedNotes(db, {
        chain,
        tokenSymbol: token,
        tokenAddress: tokenSettings.address,
        encryptionPublicKey: subject.encryption_public_key,
        cursor,
      }),
    );
  });

  app.get('/agent-edge/batches', async (c) => {
    try {
      return await fewAtOnce(() => readBatches(c));
    } catch (error) {
      if (errorCodeOf(error) === 'rate_limited') {
        // A caller that repeats a refused request without a pause would occupy the thread with refusals.
        await delay(refusalMs);
      }
      throw error;
    }
  });

  async function readBatches(c: ShellContext): Promise<() => Response> {
    const owner = await identifyReader({ ...deps, readers }, c);
    const { chain = '', from, pool } = c.req.query();
    const keeps = parsePool(pool, assertServed(bootstrap, chain)) ? immutable : revalidated;
    const { bytes, etag } = await deps.batchPages.read(chain, parseFrom(from));
    return () => {
      if (etag !== undefined && c.req.header('if-none-match') === etag) {
        return c.body(null, 304, { etag, 'cache-control': keeps });
      }
      deps.limits.batches.take(owner, Math.ceil(bytes.length / batchCost.bytes));
      const headers = { 'content-type': 'application/json' };
      const kept = etag === undefined ? {} : { etag, 'cache-control': keeps };
      return c.body(bytes, 200, { ...headers, ...kept });
    };
  }

  app.post('/agent-edge/note-paths', async (c) => {
    const { capability } = await identifyKey(deps, c);
    if (capability === 'disburse') {
      throw new PoolError('forbidden', 'a disburse key does not reach notes; use a holder’s key');
    }
    const request = await readJson(c, edgeRoutes.findNotePaths.body);
    assertServed(bootstrap, request.chain);
    if (notePaths === undefined) {
      throw new PoolError(
        'note_paths_disabled',
        'this platform makes no note paths; read /agent-edge/batches and make them yourself',
      );
    }
    return c.json(await notePaths.find(request));
  });

  app.post('/agent-edge/spends', async (c) => {
    const holder = await identifySpender(c);
    const row = await submit(c, deps, edgeRoutes.postSpend.body, {
      ...{ kind: 'spend', owner: holder.address, credential: holder.keyId },
      who: { apiKey: holder.keyId },
      accept: (key, request, beforeWork) =>
        acceptSpend({ ...deps, beforeWork }, holder, key, request),
    });
    return answerSpend(c, row);
  });

  app.get('/agent-edge/spends/:key', async (c) => {
    const holder = await identifySpender(c);
    const row = await readFresh(c, deps, (key) => findOwnSpend(holder, key));
    if (row === undefined) {
      throw new PoolError(
        'spend_not_found',
        'there is no spend of that key that this API key may see',
      );
    }
    return answerSpend(c, row);
  });

  async function identifySpender(c: ShellContext): Promise<Spender> {
    const { address, capability, keyId } = await identifyKey(deps, c);
    if (capability !== 'holder.transfer' && capability !== 'holder.send') {
      throw new PoolError(
        'forbidden',
        'this key does not reach spends; use a holder.transfer or a holder.send key',
      );
    }
    assertSpends(address);
    return { address, capability, keyId };
  }

  /** Of the kind that the key may post. */
  async function findOwnSpend(holder: Holder, key: string): Promise<SubmissionRow | undefined> {
    const row = await findSubmission(db, holder.address, key);
    const isTransfer = row !== undefined && parseSpend(row).spend.withdrawAmount === '0';
    return isTransfer === (holder.capability === 'holder.transfer') ? row : undefined;
  }
}

/** @throws PoolError `forbidden` (403) */
function assertSpends(address: string): void {
  if (findAccountFamily(address) !== 'evm') {
    throw new PoolError(
      'forbidden',
      'this wallet signs on ed25519, and no pool on Solana or Stellar exists here: it can be enrolled, and cannot be paid or spend',
    );
  }
}

function answerSpend(c: ShellContext, row: SubmissionRow): Response {
  return c.json(describeSpend(row), isUnfinished(row) ? 202 : 200);
}

/** A full page of a pool is the same for everybody and for ever, and public on chain: a cache in front may serve it without asking. */
const immutable = 'public, max-age=31536000, immutable';
/** A chain's name may stand for another pool tomorrow: a cache must ask. */
const revalidated = 'public, no-cache';

/** Whether the request names the chain's pool. @throws PoolError `invalid_request` (400) for another one */
function parsePool(pool: string | undefined, settings: EvmChainSettings): boolean {
  if (pool !== undefined && pool.toLowerCase() !== settings.pool.toLowerCase()) {
    throw new PoolError(
      'invalid_request',
      'pool: this chain has another pool here; compare chains.json with /agent-edge/bootstrap',
    );
  }
  return pool !== undefined;
}

function parseFrom(from: string | undefined): number {
  if (from !== undefined && !/^(?:0|[1-9][0-9]{0,8})$/.test(from)) {
    throw new PoolError('invalid_request', 'from: pass `next` of the page before, unchanged');
  }
  return Number(from ?? 0);
}
