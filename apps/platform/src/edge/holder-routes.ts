/**
 * `/agent-edge/…` (ARCHITECTURE.md): what holders read, with keys of their own.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { Shell } from '@pool/http-server';
import { findSubject } from '../accounts/enrolment.ts';
import { type CallerDeps, identifyKey, identifyReader } from '../accounts/identify-caller.ts';
import { assertServed, type BootstrapSettings } from './bootstrap.ts';
import { listServedBatches } from './served-batches.ts';
import { listServedNotes } from './served-notes.ts';

export type HolderDeps = CallerDeps & { readonly bootstrap: Pick<BootstrapSettings, 'chains'> };

export function addHolderRoutes(app: Shell, deps: HolderDeps): void {
  const { db, bootstrap } = deps;

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
    if (subject === undefined) {
      return c.json({ notes: [] });
    }
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
    await identifyReader(deps, c);
    const { chain = '', from } = c.req.query();
    assertServed(bootstrap, chain);
    return c.json(await listServedBatches(db, chain, parseFrom(from)));
  });
}

function parseFrom(from: string | undefined): number {
  if (from !== undefined && !/^(?:0|[1-9][0-9]{0,8})$/.test(from)) {
    throw new PoolError('invalid_request', 'from: pass `next` of the page before, unchanged');
  }
  return Number(from ?? 0);
}
