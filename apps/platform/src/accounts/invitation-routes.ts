/**
 * `/api/employers/invitations`: an employer invites the wallets that may enrol (decision 6).
 *
 * @module
 */
import { platformRoutes } from '@pool/api';
import type { Shell } from '@pool/http-server';
import { readJson } from '@pool/http-server';
import type { AdmissionDeps } from '../employers/admission.ts';
import {
  cancelInvitation,
  inviteWallets,
  listInvitations,
  readInvitationQuota,
} from '../employers/invitations.ts';
import { type CallerDeps, identifyEmployer } from './identify-caller.ts';

const path = '/api/employers/invitations';

export function addInvitationRoutes(app: Shell, deps: CallerDeps & AdmissionDeps): void {
  const { db, nowMs, admission } = deps;

  app.post(path, async (c) => {
    const employer = await identifyEmployer(deps, c);
    const { addresses } = await readJson(c, platformRoutes.invite.body);
    const quota = await inviteWallets(db, admission, employer, addresses, nowMs());
    return c.json({ success: true, ...quota });
  });

  app.get(path, async (c) => {
    const employer = await identifyEmployer(deps, c);
    const quota = await readInvitationQuota(db, admission, employer, nowMs());
    const invitations = await listInvitations(db, employer, nowMs());
    return c.json({ success: true, ...quota, invitations });
  });

  app.delete(`${path}/:address`, async (c) => {
    const employer = await identifyEmployer(deps, c);
    await cancelInvitation(db, employer, c.req.param('address'));
    return c.json({ success: true });
  });
}
