/**
 * `/api/employers/invitations`, `/api/employers/invitation-links` and `/api/invitations/…` (docs/decisions/0006): how employers invite
 * wallets, and people who have none yet.
 *
 * @module
 */
import { type Bootstrap, platformRoutes } from '@pool/api';
import type { Shell } from '@pool/http-server';
import { readJson } from '@pool/http-server';
import * as v from 'valibot';
import type { AdmissionConfig } from '../employers/admission.ts';
import {
  acceptInvitation,
  createInvitationLinks,
  listInvitationLinks,
  openInvitation,
  revokeInvitationLink,
} from '../employers/invitation-links.ts';
import {
  cancelInvitation,
  inviteWallets,
  listInvitations,
  readInvitationQuota,
} from '../employers/invitations.ts';
import { type CallerDeps, identifyEmployer, identifyHolder } from './identify-caller.ts';

export type InvitationDeps = CallerDeps & {
  readonly admission: AdmissionConfig;
  /** What the holder of a link is told of the deployment. */
  readonly deployment: Pick<Bootstrap, 'chain' | 'chains'>;
};

const invitationsPath = '/api/employers/invitations';
const linksPath = '/api/employers/invitation-links';

export function addInvitationRoutes(app: Shell, deps: InvitationDeps): void {
  const { db, admission, credentials, nowMs, deployment } = deps;

  app.post(invitationsPath, async (c) => {
    const employer = await identifyEmployer(deps, c);
    const { addresses } = await readJson(c, platformRoutes.invite.body);
    const quota = await inviteWallets(db, admission, employer, addresses, nowMs());
    return c.json({ success: true, ...quota });
  });

  app.get(invitationsPath, async (c) => {
    const employer = await identifyEmployer(deps, c);
    const quota = await readInvitationQuota(db, admission, employer, nowMs());
    const invitations = await listInvitations(db, employer, nowMs());
    return c.json({ success: true, ...quota, invitations });
  });

  app.delete(`${invitationsPath}/:address`, async (c) => {
    const employer = await identifyEmployer(deps, c);
    await cancelInvitation(db, employer, c.req.param('address'));
    return c.json({ success: true });
  });

  app.post(linksPath, async (c) => {
    const employer = await identifyEmployer(deps, c);
    const asked = await readJson(c, platformRoutes.createInvitationLinks.body);
    const made = await createInvitationLinks(db, admission, credentials, employer, asked, nowMs());
    const links = made.links.map(({ code, ...link }) => ({ ...link, code: code.reveal() }));
    return c.json({ success: true, ...made.quota, links }, 201);
  });

  app.get(linksPath, async (c) => {
    const employer = await identifyEmployer(deps, c);
    const quota = await readInvitationQuota(db, admission, employer, nowMs());
    const links = await listInvitationLinks(db, employer, nowMs());
    return c.json({ success: true, ...quota, links });
  });

  app.delete(`${linksPath}/:reference`, async (c) => {
    const employer = await identifyEmployer(deps, c);
    await revokeInvitationLink(db, employer, readReference(c.req.param('reference')), nowMs());
    return c.json({ success: true });
  });

  app.post('/api/invitations/open', async (c) => {
    await deps.limits.address.take(c.get('callerAddress'));
    const { code } = await readJson(c, platformRoutes.openInvitation.body);
    return c.json({ success: true, ...(await openInvitation(deps, code)), ...deployment });
  });

  app.post('/api/invitations/accept', async (c) => {
    const { address } = await identifyHolder(deps, c);
    const { code } = await readJson(c, platformRoutes.acceptInvitation.body);
    const found = await acceptInvitation(deps, address, code);
    return c.json({ success: true, ...found, ...deployment });
  });
}

/** The reference that the path names. Empty, which no link has: it is none, and a database refuses a NUL. */
function readReference(text: string): string {
  return v.is(platformRoutes.revokeInvitationLink.params.reference, text) ? text : '';
}
