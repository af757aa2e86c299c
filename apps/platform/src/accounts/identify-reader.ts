/**
 * Who may read `/agent-edge/batches`: an agent by its edge token, or a holder by one of its keys, whose wallet is admitted
 * (docs/decisions/0010). What they read is counted together for their owner, whatever number of credentials it has.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { ShellContext } from '@pool/http-server';
import { hashCredential } from '@pool/http-server';
import { apiKeyPrefix } from '../credentials/credential.ts';
import type { CredentialMemory } from '../credentials/credential-memory.ts';
import { batchCost } from '../http/rate-limit.ts';
import { type CallerDeps, identifyAgent, identifyKey } from './identify-caller.ts';
import { isKnownEmployer } from './own-edge-tokens.ts';

export type ReaderDeps = CallerDeps & {
  /** The owners of credentials that read before: their limit is taken before the database is asked. */
  readonly readers: CredentialMemory;
};

/**
 * @returns the owner, whose limit the bytes of the answer draw on
 * @throws PoolError `unauthorized` (401), `forbidden`, `edge_token_not_allowed` (403), `rate_limited` (429)
 */
export async function identifyReader(deps: ReaderDeps, c: ShellContext): Promise<string> {
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
