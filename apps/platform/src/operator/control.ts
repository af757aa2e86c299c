/**
 * How operator commands reach a running platform: a listener on loopback whose address and token are in
 * a file that only the operator can read (mode 0600 in the data directory). The database itself is locked while
 * the platform runs.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { labelSchema } from '@pool/api';
import {
  findAccountFamily,
  PoolError,
  parseAccountAddress,
  parseEvmAddress,
  Secret,
} from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { Shell } from '@pool/http-server';
import {
  createShell,
  describeFailure,
  hashCredential,
  isSameHash,
  type Log,
  listen,
  readBearer,
  readJson,
  unauthorized,
} from '@pool/http-server';
import type { GateClient } from '@pool/platform-client';
import { resumeIndexer } from '@pool/relayer';
import * as v from 'valibot';
import { createEdgeToken, listCredentials, revokeCredential } from '../accounts/credentials.ts';
import { listGateReaders, revokeGateReader, rotateGateReader } from '../accounts/gate-readers.ts';
import { readRowId } from '../accounts/identify-caller.ts';
import type { CredentialMint } from '../credentials/credential.ts';
import { getEmployerOfAddress } from '../employers/employers.ts';
import { type InvitationConfig, inviteWallets } from '../employers/invitations.ts';
import { type ControlFile, computeControlProof, controlFileName } from './control-client.ts';

// The operator's routes for the eligibility list (decision 6): the use of its tree, removal of wallets, the limit of
// an employer, and invitations. They need the running platform: its gate and its configuration.

export type EligibilityControl = {
  readonly gate: Pick<GateClient, 'capacity' | 'deleteWallet'> | undefined;
  readonly invitations: InvitationConfig;
};

type EligibilityControlDeps = {
  readonly db: PlatformDatabase;
  readonly nowMs: () => number;
  /** Undefined: no platform is running. */
  readonly eligibility: EligibilityControl | undefined;
};

const addressText = v.pipe(v.string(), v.maxLength(64));
const contractChainId = v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1)));
const limitRequestSchema = v.strictObject({
  address: addressText,
  contractChainId,
  /** Null: the limit of the configuration. */
  wallets: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000_000))),
});
const inviteRequestSchema = v.strictObject({
  address: addressText,
  contractChainId,
  wallets: v.pipe(v.array(addressText), v.minLength(1), v.maxLength(200)),
});
const removeRequestSchema = v.strictObject({ address: addressText });

// The gate answers once the root without the wallet is final; the operator's command waits ten seconds.
const removalWaitMs = 7_000;

function addEligibilityControl(app: Shell, deps: EligibilityControlDeps): void {
  const { db, nowMs } = deps;

  app.get('/eligibility/capacity', async (c) => c.json(await getGate(deps).capacity()));

  app.post('/eligibility/limit', async (c) => {
    const { address, contractChainId: chain, wallets } = await readJson(c, limitRequestSchema);
    const holder = { address: parseEvmAddress(address), contractChainId: chain };
    const employer = await getEmployerOfAddress(db, holder);
    await db
      .updateTable('employers')
      .set({ wallet_limit: wallets })
      .where('id', '=', employer.id)
      .execute();
    return c.json({ employerId: employer.id, walletLimit: wallets ?? 'default' });
  });

  app.post('/eligibility/invite', async (c) => {
    const { address, contractChainId: chain, wallets } = await readJson(c, inviteRequestSchema);
    const holder = { address: parseEvmAddress(address), contractChainId: chain };
    const employer = await getEmployerOfAddress(db, holder);
    const { invitations } = getRunning(deps);
    return c.json(await inviteWallets(db, invitations, employer, wallets, nowMs()));
  });

  app.post('/eligibility/remove', async (c) => {
    const { address: text } = await readJson(c, removeRequestSchema);
    const address = parseAccountAddress(text);
    const gate = getGate(deps);
    const walletId = await withdrawAdmission(db, address);
    const isListed = findAccountFamily(address) === 'evm';
    const atGate = isListed ? gate.deleteWallet(walletId) : Promise.resolve();
    const removal = atGate.then(async () => {
      // Only now: if the invitation were free before its leaf, the employer could take another leaf.
      await db
        .deleteFrom('invitations')
        .where('address', '=', address)
        .where('enrolled_at', 'is not', null)
        .execute();
      return 'removed' as const;
    });
    const pending = delay(removalWaitMs, 'pending' as const, { ref: false });
    return c.json({ address, state: await Promise.race([removal, pending]) });
  });
}

/**
 * Withdraws the right to a leaf, before the gate is called. Even if that call fails, the wallet is not fundable and
 * must be admitted again. Answers of gate writes in progress no longer count.
 * @returns the wallet's id at the gate
 */
async function withdrawAdmission(db: PlatformDatabase, address: string): Promise<string> {
  const subject = await db
    .updateTable('subjects')
    .set((eb) => ({
      claimed_at: null,
      admitted_at: null,
      readiness: 'eligibility_failed',
      whitelisted_at: null,
      gate_attempts: eb('gate_attempts', '+', 1),
      gate_answered: eb('gate_attempts', '+', 1),
    }))
    .where('address', '=', address)
    .returning('wallet_id')
    .executeTakeFirst();
  if (subject === undefined) {
    throw new PoolError('not_found', 'no wallet of this address is enrolled');
  }
  return subject.wallet_id;
}

function getRunning({ eligibility }: EligibilityControlDeps): EligibilityControl {
  if (eligibility === undefined) {
    throw new PoolError(
      'platform_not_running',
      'this command needs the running platform: start it, then run the command again',
    );
  }
  return eligibility;
}

function getGate(deps: EligibilityControlDeps) {
  const { gate } = getRunning(deps);
  if (gate === undefined) {
    throw new PoolError('no_gate', 'this platform has no pool-gate: set PLATFORM_GATE_URL');
  }
  return gate;
}

export type ControlDeps = {
  readonly db: PlatformDatabase;
  readonly credentials: CredentialMint;
  readonly log: Log;
  readonly nowMs: () => number;
  /** Set only for a running platform. */
  readonly eligibility?: EligibilityControl;
  /** Sends new states of readers to the gate soon. Resolves to whether it acknowledged. Absent: they are sent at the next start. */
  readonly tellGate?: (employerId: string) => Promise<boolean>;
};

const createRequestSchema = v.strictObject({
  address: v.pipe(v.string(), v.maxLength(64)),
  name: labelSchema,
  /** For a contract wallet: the chain of the contract. */
  contractChainId: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
});

const resumeRequestSchema = v.strictObject({ chain: v.pipe(v.string(), v.maxLength(64)) });

/** Starts the listener and writes the file. */
export async function startControl(
  directory: string,
  deps: ControlDeps,
): Promise<{ close(): Promise<void> }> {
  const token = new Secret(randomBytes(32).toString('base64url'));
  const app = createControlApp(deps, token);
  const listening = await listen(
    (request, from) => app.fetch(request, from),
    { host: '127.0.0.1', port: 0 },
    deps.log,
  );
  const path = join(directory, controlFileName);
  await rm(path, { force: true });
  const file: ControlFile = { url: listening.url, token: token.reveal(), pid: process.pid };
  await writeFile(path, JSON.stringify(file), {
    mode: 0o600,
    flag: 'wx',
  });
  return {
    async close() {
      await rm(path, { force: true });
      await listening.close();
    },
  };
}

/** The routes of the control listener: edge tokens, readers of the gate, the eligibility list, and lifting the halt of an indexer. */
export function createControlApp(deps: ControlDeps, token: Secret) {
  const { db, credentials, log, nowMs, tellGate } = deps;
  const app = createShell({
    log,
    allowedHosts: [],
    allowedOrigins: [],
    maxBodyBytes: 16 * 1024,
    describeFailure,
  });
  const expected = hashCredential(token.reveal());
  // Needs no token: a reader of the file learns here whether this process wrote it.
  app.get('/identity/:challenge{[0-9a-f]{64}}', (c) =>
    c.text(computeControlProof(token.reveal(), c.req.param('challenge'))),
  );
  app.use(async (c, next) => {
    if (!isSameHash(hashCredential(readBearer(c)), expected)) {
      throw unauthorized();
    }
    await next();
  });
  app.post('/edge-tokens', async (c) => {
    const { address, name, contractChainId } = await readJson(c, createRequestSchema);
    const holder = { address: parseAccountAddress(address), contractChainId };
    const employer = await getEmployerOfAddress(db, holder);
    const made = await createEdgeToken(db, credentials, employer, name, nowMs());
    const { capability: _, secret, ...token } = made;
    return c.json({ ...token, token: secret.reveal() });
  });
  app.get('/edge-tokens', async (c) => {
    const rows = await listCredentials(db, 'edge token');
    return c.json({ edgeTokens: rows.map(({ capability: _, ...token }) => token) });
  });
  app.delete('/edge-tokens/:id', async (c) => {
    await revokeCredential(db, 'edge token', readRowId(c), nowMs());
    return c.json({ revoked: true });
  });
  addEligibilityControl(app, { db, nowMs, eligibility: deps.eligibility });
  const tell = async (employerId: string): Promise<object> => ({
    gateKnows: (await tellGate?.(employerId)) ?? false,
  });
  app.get('/gate-readers', async (c) => c.json({ gateReaders: await listGateReaders(db) }));
  app.post('/gate-readers/:employerId/rotate', async (c) => {
    const employerId = c.req.param('employerId');
    await rotateGateReader(db, employerId, nowMs());
    return c.json({ rotated: true, ...(await tell(employerId)) });
  });
  app.delete('/gate-readers/:employerId', async (c) => {
    const employerId = c.req.param('employerId');
    await revokeGateReader(db, employerId, nowMs());
    return c.json({ revoked: true, ...(await tell(employerId)) });
  });
  app.post('/indexer/resume', async (c) => {
    const { chain } = await readJson(c, resumeRequestSchema);
    const reason = await resumeIndexer(db, chain);
    return c.json({ resumed: reason !== undefined, ...(reason === undefined ? {} : { reason }) });
  });
  return app;
}
