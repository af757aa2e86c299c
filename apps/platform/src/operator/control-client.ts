/**
 * The operator's way to a running platform: the listener that `control.json` names. A killed platform leaves that
 * file behind, and its port may belong to another process by now. So whoever listens there has to prove first that it
 * wrote the file: it is sent nothing but a random challenge, and nothing it answers is believed.
 *
 * @module
 */
import { createHmac, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isLoopbackHost, PoolError, peerCode } from '@pool/core';
import * as v from 'valibot';
import { isSameHash } from '../accounts/credential.ts';

export const controlFileName = 'control.json';

const controlFileSchema = v.object({
  url: v.pipe(v.string(), v.check(isLoopbackUrl)),
  token: v.string(),
  /** Of the process that wrote the file. For people; the token is what identifies it. */
  pid: v.optional(v.number()),
});

export type ControlFile = v.InferOutput<typeof controlFileSchema>;

export type ControlCall = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
) => Promise<unknown>;

/** What became of the file of a data directory. */
export type ControlConnection =
  | { readonly kind: 'running'; readonly call: ControlCall }
  /** There is none, or nobody listens where it leads. */
  | { readonly kind: 'none' }
  /** Somebody listens there, and is not who wrote the file. */
  | { readonly kind: 'stranger' };

const proofTimeoutMs = 2_000;
const longestProof = 256;

/** @param challenge - hex, made by whoever asks */
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
    call: (method, path, body) => callControl(file, method, path, body),
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

/** @returns what whoever listens there answers, cut off; undefined: nobody listens */
async function askForProof(url: string): Promise<string | undefined> {
  let response: Response;
  try {
    response = await fetch(url, {
      redirect: 'error',
      signal: AbortSignal.timeout(proofTimeoutMs),
    });
  } catch (error) {
    // A connection that was refused: nobody is there. Anything else was somebody's answer.
    const cause = error instanceof Error ? error.cause : undefined;
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    return code === 'ECONNREFUSED' ? undefined : '';
  }
  try {
    return await readShort(response);
  } catch {
    return '';
  }
}

async function readShort({ body }: Response): Promise<string> {
  const reader = (body as ReadableStream<Uint8Array> | null)?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let isDone = reader === undefined; !isDone && text.length <= longestProof; ) {
    const read = await reader?.read();
    isDone = read?.done ?? true;
    text += decoder.decode(read?.value, { stream: true });
  }
  await reader?.cancel();
  return text;
}

async function callControl(
  { url, token }: ControlFile,
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
    throw new PoolError(peerCode(code), message, { status: response.status });
  }
  return answer;
}
