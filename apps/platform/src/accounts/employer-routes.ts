/**
 * `/api/employers/…` (docs/decisions/0010): register, enrol, rotate, keys, and `verify-key` for agents.
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
import { listApiKeys, mintApiKey, verifyApiKey } from './api-keys.ts';
import { revokeCredential } from './credential-rows.ts';
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

export function addEmployerRoutes(app: Shell, deps: EmployerDeps): void {
  const { db, nowMs } = deps;

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

  app.post('/api/employers/keys', async (c) => {
    const session = await identifySession(deps, c);
    const { capability, name } = await readJson(c, platformRoutes.mintKey.body);
    if (capability !== 'disburse') {
      assertHolder(session);
    }
    const employer = await getEmployer(db, session);
    const minted = await mintApiKey(db, deps.credentials, employer, capability, name, nowMs());
    return c.json({ success: true, ...minted }, 201);
  });

  app.get('/api/employers/keys', async (c) => {
    const employer = await identifyEmployer(deps, c);
    return c.json({ success: true, keys: await listApiKeys(db, employer) });
  });

  app.delete('/api/employers/keys/:id', async (c) => {
    const employer = await identifyEmployer(deps, c);
    await revokeCredential(db, 'api_keys', readRowId(c), nowMs(), employer);
    return c.json({ success: true });
  });

  app.post('/api/employers/verify-key', async (c) => {
    const { id } = await identifyAgent(deps, c);
    const { apiKey } = await readJson(c, platformRoutes.verifyKey.body);
    // A guess that an agent forwards is recognised without a query.
    const isOurs = deps.credentials.isOurs(apiKeyPrefix, apiKey);
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
