/**
 * `/api/employers/edge-tokens`: an employer makes, lists and revokes the edge tokens of its own agents (docs/decisions/0006).
 *
 * @module
 */
import { mintEdgeTokenRequestSchema } from '@pool/api';
import { PoolError } from '@pool/core';
import type { Shell } from '@pool/http-server';
import { readJson } from '@pool/http-server';
import type { AdmissionDeps } from '../employers/admission.ts';
import { getEmployer } from '../employers/employers.ts';
import { type EdgeTokenMetadata, listEdgeTokens, revokeEdgeToken } from './edge-tokens.ts';
import { type CallerDeps, identifySession } from './identify-caller.ts';
import { createOwnEdgeToken } from './own-edge-tokens.ts';

const path = '/api/employers/edge-tokens';

export function addEdgeTokenRoutes(app: Shell, deps: CallerDeps & AdmissionDeps): void {
  const { db, credentials, admission, nowMs } = deps;

  app.post(path, async (c) => {
    const employer = await getEmployer(db, await identifySession(deps, c));
    const { name } = await readJson(c, mintEdgeTokenRequestSchema);
    const made = await createOwnEdgeToken(db, credentials, admission, employer, name, nowMs());
    const { employerId, token } = made;
    return c.json(
      { success: true, ...describeToken(made), employerId, token: token.reveal() },
      201,
    );
  });

  app.get(path, async (c) => {
    const employer = await getEmployer(db, await identifySession(deps, c));
    const edgeTokens = await listEdgeTokens(db, employer);
    return c.json({ success: true, edgeTokens: edgeTokens.map(describeToken) });
  });

  app.delete(`${path}/:id`, async (c) => {
    const employer = await getEmployer(db, await identifySession(deps, c));
    const id = /^[1-9][0-9]{0,8}$/.exec(c.req.param('id'))?.[0];
    if (id === undefined) {
      throw new PoolError('not_found', 'there is no such edge token');
    }
    await revokeEdgeToken(db, Number(id), nowMs(), employer);
    return c.json({ success: true });
  });
}

function describeToken({ id, prefix, name, createdAt, revokedAt, issuedBy }: EdgeTokenMetadata) {
  return {
    id,
    tokenPrefix: prefix,
    name,
    issuedBy,
    createdAt,
    ...(revokedAt === null ? {} : { revokedAt }),
  };
}
