/**
 * `/api/employers/…` (docs/decisions/0006; 0010): register, enrol, rotate, keys and edge tokens, and `verify-key` for agents.
 *
 * @module
 */
import { platformRoutes } from '@pool/api';
import type { Shell } from '@pool/http-server';
import { readJson } from '@pool/http-server';
import { apiKeyPrefix } from '../credentials/credential.ts';
import { getEmployer, registerEmployer } from '../employers/employers.ts';
import {
  type EnrolmentDeps,
  enrolHolder,
  findSubject,
  type Subject,
} from '../enrolment/enrolment.ts';
import { rotateEncryptionKey } from '../enrolment/key-rotation.ts';
import {
  type CredentialMetadata,
  createOwnEdgeToken,
  listCredentials,
  mintApiKey,
  revokeCredential,
  verifyApiKey,
} from './credentials.ts';
import {
  assertHolder,
  type CallerDeps,
  identifyAgent,
  identifyEmployer,
  identifyHolder,
  identifySession,
  readRowId,
} from './identify-caller.ts';

export type EmployerDeps = EnrolmentDeps &
  CallerDeps & {
    /** Called before a wallet is enrolled or gets another key. It may refuse by throwing. */
    readonly assertEnrols: () => void;
  };

const keysPath = '/api/employers/keys';
const edgeTokensPath = '/api/employers/edge-tokens';

export function addEmployerRoutes(app: Shell, deps: EmployerDeps): void {
  const { db, credentials, admission, nowMs } = deps;

  app.post('/api/employers/register', async (c) => {
    const session = await identifySession(deps, c);
    const { name } = await readJson(c, platformRoutes.register.body);
    const caller = c.get('callerAddress');
    const { employer, created } = await registerEmployer(db, session, name, nowMs(), caller);
    const { id: employerId, address } = employer;
    return c.json({ success: true, created, employerId, address });
  });

  app.post('/api/employers/holder/onboard', async (c) => {
    const holder = await identifyHolder(deps, c);
    const request = await readJson(c, platformRoutes.onboard.body);
    deps.assertEnrols();
    const { subject, created } = await enrolHolder(
      { ...deps, log: c.get('log') },
      holder,
      request,
      c.get('callerAddress'),
    );
    return c.json({ success: true, created, ...describeSubject(subject) });
  });

  app.post('/api/employers/holder/rotate-encryption-key', async (c) => {
    const holder = await identifyHolder(deps, c);
    const request = await readJson(c, platformRoutes.rotateEncryptionKey.body);
    deps.assertEnrols();
    const { subject, rotated } = await rotateEncryptionKey(deps, holder, request);
    return c.json({ success: true, rotated, ...describeSubject(subject) });
  });

  app.get('/api/employers/holder/enrollment', async (c) => {
    const { address } = await identifySession(deps, c);
    const subject = await findSubject(db, address);
    return c.json({
      success: true,
      ...(subject === undefined ? { readiness: 'not_enrolled' } : describeSubject(subject)),
    });
  });

  app.post(keysPath, async (c) => {
    const session = await identifySession(deps, c);
    const { capability, name } = await readJson(c, platformRoutes.mintKey.body);
    if (capability !== 'disburse') {
      assertHolder(session);
    }
    const employer = await getEmployer(db, session);
    const made = await mintApiKey(db, credentials, employer, capability, name, nowMs());
    return c.json({ success: true, ...describeKey(made), apiKey: made.secret.reveal() }, 201);
  });

  app.get(keysPath, async (c) => {
    const keys = await listCredentials(db, 'key', await identifyEmployer(deps, c));
    return c.json({ success: true, keys: keys.map(describeKey) });
  });

  app.post(edgeTokensPath, async (c) => {
    const employer = await identifyEmployer(deps, c);
    const { name } = await readJson(c, platformRoutes.mintEdgeToken.body);
    const made = await createOwnEdgeToken(db, credentials, admission, employer, name, nowMs());
    const { employerId, secret } = made;
    return c.json(
      { success: true, ...describeToken(made), employerId, token: secret.reveal() },
      201,
    );
  });

  app.get(edgeTokensPath, async (c) => {
    const edgeTokens = await listCredentials(db, 'edge token', await identifyEmployer(deps, c));
    return c.json({ success: true, edgeTokens: edgeTokens.map(describeToken) });
  });

  for (const [path, kind] of [
    [keysPath, 'key'],
    [edgeTokensPath, 'edge token'],
  ] as const) {
    app.delete(`${path}/:id`, async (c) => {
      const employer = await identifyEmployer(deps, c);
      await revokeCredential(db, kind, readRowId(c), nowMs(), employer);
      return c.json({ success: true });
    });
  }

  app.post('/api/employers/verify-key', async (c) => {
    const { id } = await identifyAgent(deps, c);
    const { apiKey } = await readJson(c, platformRoutes.verifyKey.body);
    // A guess that an agent forwards is recognised without a query.
    const isOurs = credentials.isOurs(apiKeyPrefix, apiKey);
    const key = isOurs ? await verifyApiKey(db, apiKey) : ({ valid: false } as const);
    // Whose the key of another employer is, and that it exists, is not this agent's business.
    return c.json(key.valid && key.employerId === id ? key : { valid: false });
  });
}

function describeSubject(subject: Subject) {
  return {
    walletPub: subject.wallet_pub,
    encryptionPublicKey: subject.encryption_public_key,
    readiness: subject.readiness,
    ...(subject.whitelisted_at === null
      ? {}
      : { eligibilityWhitelistedAt: subject.whitelisted_at }),
  };
}

function describeKey({ id, prefix, capability, name, createdAt, revokedAt }: CredentialMetadata) {
  const revoked = revokedAt === null ? {} : { revokedAt };
  return { id, keyPrefix: prefix, capability, name, createdAt, ...revoked };
}

function describeToken({ id, prefix, name, createdAt, revokedAt, issuedBy }: CredentialMetadata) {
  const revoked = revokedAt === null ? {} : { revokedAt };
  return { id, tokenPrefix: prefix, name, issuedBy, createdAt, ...revoked };
}
