/**
 * Connects operator commands to a running platform, through the listener that `control.json` names. A killed platform
 * leaves that file behind, and its port may belong to another process by now. So the listener must first prove that it
 * wrote the file: until then it receives only a random challenge, and its answers are not trusted.
 *
 * @module
 */
import { createHmac, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isLoopbackHost, PoolError, peerCode } from '@pool/core';
import { type Fetch, fetchBounded, readJson, readText } from '@pool/http-client';
import { isSameHash } from '@pool/http-server';
import * as v from 'valibot';

export const controlFileName = 'control.json';

const controlFileSchema = v.object({
  url: v.pipe(v.string(), v.check(isLoopbackUrl)),
  token: v.string(),
  /** Of the process that wrote the file. Informative only: the token identifies the process. */
  pid: v.optional(v.number()),
});

export type ControlFile = v.InferOutput<typeof controlFileSchema>;

export type ControlCall = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
) => Promise<unknown>;

/** The state of the file of a data directory. */
export type ControlConnection =
  | { readonly kind: 'running'; readonly call: ControlCall }
  /** There is no file, or no process listens at its address. */
  | { readonly kind: 'none' }
  /** A process listens there, and it did not write the file. */
  | { readonly kind: 'stranger' };

const proofTimeoutMs = 2_000;
const longestProof = 256;

/** @param challenge - hex, made by the caller */
export function computeControlProof(token: string, challenge: string): string {
  return createHmac('sha256', token).update(`pool/control/v1 ${challenge}`).digest('hex');
}

export async function connectControl(directory: string): Promise<ControlConnection> {
  const file = await readControlFile(directory);
  if (file === undefined) {
    return { kind: 'none' };
  }
  const challenge = randomBytes(32).toString('hex');
  const answer = await askForProof(`${file.url}/identity/${challenge}`);
  if (answer === undefined) {
    return { kind: 'none' };
  }
  if (!isSameHash(answer, computeControlProof(file.token, challenge))) {
    return { kind: 'stranger' };
  }
  return {
    kind: 'running',
    call: (...call) => callControl(file, call),
  };
}

async function readControlFile(directory: string): Promise<ControlFile | undefined> {
  try {
    const content = await readFile(join(directory, controlFileName), 'utf8');
    return v.parse(controlFileSchema, JSON.parse(content));
  } catch {
    return undefined;
  }
}

function isLoopbackUrl(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'http:' && isLoopbackHost(url.hostname) && url.pathname === '/';
}

/** @returns the listener's answer, which is no proof if it is long; undefined: no process listens */
async function askForProof(url: string): Promise<string | undefined> {
  try {
    const request = { url: new URL(url), service: 'platform', init: {} } as const;
    const limits = { timeoutMs: proofTimeoutMs, maxBytes: longestProof };
    return (await fetchBounded({ ...request, ...limits }, readText)).body;
  } catch (error) {
    // A refused connection: no process listens. Any other error comes from a listener.
    const failure =
      error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
    const cause = failure?.cause;
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    return code === 'ECONNREFUSED' ? undefined : '';
  }
}

/**
 * @param send - default: the global `fetch`
 * @throws PoolError with the answer's own code; `platform_unreachable`, `platform_invalid_response`
 */
export async function callControl(
  { url, token }: Pick<ControlFile, 'url' | 'token'>,
  [method, path, body]: Parameters<ControlCall>,
  send: Fetch = fetch,
): Promise<unknown> {
  const request = {
    fetch: send,
    url: new URL(`${url}${path}`),
    service: 'platform',
    timeoutMs: 10_000,
    maxBytes: 4 * 1024 * 1024,
    init: {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    },
  } as const;
  const { status, body: answer } = await fetchBounded(request, readJson);
  if (status >= 200 && status <= 299) {
    return answer;
  }
  const { code, message } = v.parse(v.object({ code: v.string(), message: v.string() }), answer);
  throw new PoolError(peerCode(code), message, { status });
}
