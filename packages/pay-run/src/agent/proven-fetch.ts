/**
 * A `fetch` for the agent on this machine. It sends nothing before whoever listens on the port has proved that it is the agent
 * (port-proof.ts), and sends the request on that same connection.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { Agent, type IncomingMessage, request as sendRequest } from 'node:http';
import { Readable } from 'node:stream';
import { PoolError, type Secret } from '@pool/core';
import { type Fetch, readText } from '@pool/http-client';
import * as v from 'valibot';
import { findListener } from './port-listener.ts';
import { describeEnd, isPortProof, portProofPath } from './port-proof.ts';

const proofSchema = v.object({ proof: v.string(), end: v.optional(v.string(), '') });

/** An agent answers at once. */
const proofMs = 30_000;
const maxProofBytes = 4_096;

/**
 * Waits for as long as the caller: Node's own `fetch` ends a request whose answer takes more than five minutes, and an agent syncs or
 * spends for longer. Each request has its own connection, because one that was kept may be closed when the next request is sent.
 *
 * @param readToken - the loopback token. Its own request is the first that sends a credential
 */
export function createProvenFetch(readToken: () => Secret): Fetch {
  return async (input, init) => {
    const url = new URL(input);
    const token = readToken();
    const connection = createOneConnection();
    try {
      await proveOwner(url, token, connection, init.signal ?? undefined);
      const answer = await send(
        url,
        // The connection ends with this answer.
        { ...init, headers: { ...(init.headers as Record<string, string>), connection: 'close' } },
        connection,
      );
      return createResponse(answer);
    } catch (error) {
      connection.destroy();
      throw error;
    }
  };
}

/** Connects once. A request that finds the connection closed fails, and does not reach whoever listens then. */
function createOneConnection(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const connect = agent.createConnection.bind(agent);
  let isUsed = false;
  agent.createConnection = (options, onEnd) => {
    if (isUsed) {
      onEnd?.(new Error('the connection ended'), undefined as never);
      return undefined;
    }
    isUsed = true;
    return connect(options, onEnd);
  };
  return agent;
}

/** @throws PoolError `agent_not_proven`; an error of the connection */
async function proveOwner(
  { origin }: URL,
  token: Secret,
  connection: Agent,
  signal: AbortSignal | undefined,
): Promise<void> {
  const limit = AbortSignal.timeout(proofMs);
  const challenge = randomBytes(32).toString('hex');
  const answer = await send(
    new URL(`${portProofPath}?challenge=${challenge}`, origin),
    { signal: signal === undefined ? limit : AbortSignal.any([limit, signal]) },
    connection,
  );
  const { remoteAddress, remotePort } = answer.socket;
  const end = describeEnd({ address: remoteAddress, port: remotePort });
  const text = await readText(readSome(answer));
  if (answer.statusCode === 503) {
    // An agent that stops.
    throw new Error('the agent takes no requests');
  }
  const given = readProof(text);
  if (given !== undefined && isPortProof(given.proof, token, challenge, end)) {
    return;
  }
  const isElsewhere = given !== undefined && isPortProof(given.proof, token, challenge, given.end);
  throw new PoolError('agent_not_proven', describe(origin, isElsewhere ? given.end : undefined), {
    status: 503,
  });
}

function describe(origin: string, genuineEnd: string | undefined): string {
  const sent = 'No credential was sent to it';
  if (genuineEnd !== undefined) {
    return `what listens at ${origin} only passes on to the agent, which it reaches at ${genuineEnd}. ${sent}. Run the command where the agent runs, and set DISBURSE_HOST and DISBURSE_PORT to the agent's own address`;
  }
  const found = findListener(Number(new URL(origin).port || 80));
  return `what listens at ${origin}${found === undefined ? '' : ` (${found})`} did not prove that it is the agent of this agent directory. ${sent}. Stop that program, or set DISBURSE_PORT and DISBURSE_HOME to those of the agent; restart an agent of an earlier version`;
}

function readProof(text: string): v.InferOutput<typeof proofSchema> | undefined {
  try {
    return v.parse(proofSchema, JSON.parse(text));
  } catch {
    return undefined;
  }
}

async function* readSome(answer: IncomingMessage): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxProofBytes) {
      return;
    }
    yield chunk;
  }
}

function send(
  url: URL,
  { signal, ...init }: RequestInit,
  connection: Agent,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = {
    method: init.method ?? 'GET',
    headers: init.headers as Record<string, string>,
    agent: connection,
    ...(signal ? { signal } : {}),
  };
  const sent = sendRequest(url, options, resolve);
  sent.on('error', (error) => reject(signal?.aborted === true ? signal.reason : error));
  sent.end(init.body);
  return promise;
}

function createResponse(answer: IncomingMessage): Response {
  const body = Readable.toWeb(answer) as ConstructorParameters<typeof Response>[0];
  const headers = answer.headers as Record<string, string>;
  try {
    return new Response(body, { status: answer.statusCode ?? 0, headers });
  } catch (error) {
    // A status that no agent sends, such as 204 or 999.
    answer.destroy();
    throw error;
  }
}
