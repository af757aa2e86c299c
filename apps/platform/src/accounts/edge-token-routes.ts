/**
 * `/api/employers/edge-tokens`: an employer makes, lists and revokes the edge tokens of its own agents (docs/decisions/0006).
 *
 * @module
 */
import { platformRoutes } from '@pool/api';
import type { Shell } from '@pool/http-server';
import { readJson } from '@pool/http-server';
import type { AdmissionDeps } from '../employers/admission.ts';
import { revokeCredential } from './credential-rows.ts';
import { type EdgeTokenMetadata, listEdgeTokens } from './edge-tokens.ts';
import { type CallerDeps, identifyEmployer, readRowId } from './identify-caller.ts';
import { createOwnEdgeToken } from './own-edge-tokens.ts';

const path = '/api/employers/edge-tokens';

export function addEdgeTokenRoutes(app: Shell, deps: CallerDeps & AdmissionDeps): void {
  const { db, credentials, admission, nowMs } = deps;

  app.post(path, async (c) => {
    const employer = await identifyEmployer(deps, c);
    const { name } = await readJson(c, platformRoutes.mintEdgeToken.body);
    const made = await createOwnEdgeToken(db, credentials, admission, employer, name, nowMs());
    const { employerId, token } = made;
    return c.json(
      { success: true, ...describeToken(made), employerId, token: token.reveal() },
      201,
    );
  });

  app.get(path, async (c) => {
    const employer = await identifyEmployer(deps, c);
    const edgeTokens = await listEdgeTokens(db, employer);
    return c.json({ success: true, edgeTokens: edgeTokens.map(describeToken) });
  });

  app.delete(`${path}/:id`, async (c) => {
    const employer = await identifyEmployer(deps, c);
    await revokeCredential(db, 'edge_tokens', readRowId(c), nowMs(), employer);
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
