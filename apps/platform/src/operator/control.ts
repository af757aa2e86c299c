/**
 * How operator commands reach a running platform: a listener on loopback whose address and token stand in
 * a file only the operator can read (mode 0600 in the data directory). The database itself is locked while
 * the platform runs.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { labelSchema, PoolError, parseEvmAddress, Secret } from '@pool/core';
import * as v from 'valibot';
import { type CredentialMint, hashCredential, isSameHash } from '../accounts/credential.ts';
import { createEdgeToken, listEdgeTokens, revokeEdgeToken } from '../accounts/edge-tokens.ts';
import { getEmployerOfAddress } from '../accounts/employers.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import { createShell } from '../http/app-shell.ts';
import { listen } from '../http/listen.ts';
import { readBearer, readJson, unauthorized } from '../http/read-request.ts';
import { resumeIndexer } from '../indexer/indexer.ts';
import type { Log } from '../log.ts';

export type ControlDeps = {
  readonly db: PlatformDatabase;
  readonly credentials: CredentialMint;
  readonly log: Log;
  readonly nowMs: () => number;
};

const createRequestSchema = v.strictObject({
  address: v.pipe(v.string(), v.maxLength(64)),
  name: labelSchema,
  /** Of a contract wallet: the chain it is on. */
  contractChainId: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
});

const resumeRequestSchema = v.strictObject({ chain: v.pipe(v.string(), v.maxLength(64)) });

const controlFileSchema = v.strictObject({ url: v.string(), token: v.string() });

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
  await writeFile(path, JSON.stringify({ url: listening.url, token: token.reveal() }), {
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

const controlFileName = 'control.json';

/** The routes of the control listener: edge tokens, and the lifting of an indexer's halt. */
export function createControlApp({ db, credentials, log, nowMs }: ControlDeps, token: Secret) {
  const app = createShell({ log, allowedHosts: [], allowedOrigins: [], maxBodyBytes: 16 * 1024 });
  const expected = hashCredential(token.reveal());
  app.use(async (c, next) => {
    if (!isSameHash(hashCredential(readBearer(c)), expected)) {
      throw unauthorized();
    }
    await next();
  });
  app.post('/edge-tokens', async (c) => {
    const { address, name, contractChainId } = await readJson(c, createRequestSchema);
    const holder = { address: parseEvmAddress(address), contractChainId };
    const employer = await getEmployerOfAddress(db, holder);
    const created = await createEdgeToken(db, credentials, employer, name, nowMs());
    return c.json({ ...created, token: created.token.reveal() });
  });
  app.get('/edge-tokens', async (c) => c.json({ edgeTokens: await listEdgeTokens(db) }));
  app.delete('/edge-tokens/:id', async (c) => {
    const id = /^[1-9][0-9]{0,8}$/.exec(c.req.param('id'))?.[0];
    await revokeEdgeToken(db, Number(id ?? 0), nowMs());
    return c.json({ revoked: true });
  });
  app.post('/indexer/resume', async (c) => {
    const { chain } = await readJson(c, resumeRequestSchema);
    const reason = await resumeIndexer(db, chain);
    return c.json({ resumed: reason !== undefined, ...(reason === undefined ? {} : { reason }) });
  });
  return app;
}

export type ControlCall = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
) => Promise<unknown>;

/** A way to call the running platform of a data directory; undefined when none runs there. */
export async function connectControl(directory: string): Promise<ControlCall | undefined> {
  let content: string;
  try {
    content = await readFile(join(directory, controlFileName), 'utf8');
  } catch {
    return undefined;
  }
  const { url, token } = v.parse(controlFileSchema, JSON.parse(content));
  const call: ControlCall = (method, path, body) => callControl(url, token, method, path, body);
  try {
    await call('GET', '/edge-tokens');
    return call;
  } catch (error) {
    if (error instanceof PoolError) {
      throw error;
    }
    // A file left by a killed platform: nobody listens there.
    return undefined;
  }
}

async function callControl(
  url: string,
  token: string,
  method: string,
  path: string,
  body: unknown,
): Promise<unknown> {
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'error',
    signal: AbortSignal.timeout(10_000),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return await readControlAnswer(response);
}

/** @throws PoolError with the answer's own code */
export async function readControlAnswer(response: Response): Promise<unknown> {
  const answer: unknown = await response.json();
  if (!response.ok) {
    const { code, message } = v.parse(v.object({ code: v.string(), message: v.string() }), answer);
    throw new PoolError(code, message, { status: response.status });
  }
  return answer;
}
