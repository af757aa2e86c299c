/**
 * The HTTP server below the routes: limits in time and number, refusal of requests that can be read in two ways, and a
 * shutdown that answers the requests in progress.
 *
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server';
import { formatAuthority, withoutBrackets } from './host-name.ts';
import {
  answerRefusal,
  createRefusalResponse,
  endWithRefusal,
  findRefusal,
  findRefusalOfFailure,
  type OnRefused,
  type Refusal,
  readTarget,
  refusals,
} from './http-refusal.ts';
import { createPeerCount, describePeer } from './peer.ts';

// Reads and drops the body of a request that was refused before its body was read.

/** How much is read, and for how long. */
type ForgetLimits = { readonly maxBytes: number; readonly maxMs: number };

/**
 * Reads the rest of a body and drops it. The system resets a connection that is closed with unread bytes, and a reset
 * discards an answer that the client has not read yet: the client would see a broken connection instead of the reason.
 *
 * @returns when the body ends, when it exceeds a limit, or when the client disconnects
 */
function forgetBody(request: IncomingMessage, limits: ForgetLimits): Promise<void> {
  return new Promise((resolve) => {
    if (request.complete || request.destroyed) {
      resolve();
      return;
    }
    let bytes = 0;
    const timer = setTimeout(finish, limits.maxMs);
    function count(chunk: Uint8Array): void {
      bytes += chunk.length;
      if (bytes > limits.maxBytes) {
        request.pause();
        finish();
      }
    }
    function finish(): void {
      clearTimeout(timer);
      request.off('data', count);
      request.off('end', finish);
      request.off('close', finish);
      resolve();
    }
    // This listener stays: an error after the end must not be unhandled.
    request.on('error', finish);
    request.on('end', finish);
    request.on('close', finish);
    request.on('data', count);
    request.resume();
  });
}

export type HttpLimits = {
  /** From the first byte, or from connecting, to the end of the headers. */
  readonly headersMs: number;
  /** To the end of the body. The time of an answer is not limited, because a spend takes minutes. */
  readonly requestMs: number;
  /** An open connection between two requests. Longer than proxies keep theirs, so that no proxy sends into a closed connection. */
  readonly keepAliveMs: number;
  /** Interval at which Node checks the times above. */
  readonly checkMs: number;
  /** Request line and headers together. */
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  readonly maxConnections: number;
  /** Of one peer: an IPv4 address, or an IPv6 /64. 0: no cap. Behind a proxy, all connections come from the proxy. */
  readonly maxConnectionsPerPeer: number;
  readonly maxRequestsPerConnection: number;
  /** Requests of one connection that wait for the answer to an earlier request. */
  readonly maxPipelined: number;
  /** How much of the body of a refused request is still read, so that the client receives the answer. */
  readonly unreadBytes: number;
  readonly unreadMs: number;
  /** How long requests in progress may take once the server stops. */
  readonly graceMs: number;
};

const httpLimits: HttpLimits = {
  headersMs: 10_000,
  requestMs: 60_000,
  keepAliveMs: 75_000,
  checkMs: 1_000,
  maxHeaderBytes: 16 * 1024,
  maxHeaders: 100,
  maxConnections: 512,
  maxConnectionsPerPeer: 0,
  maxRequestsPerConnection: 1_000,
  maxPipelined: 16,
  unreadBytes: 8 * 1024 * 1024,
  unreadMs: 500,
  graceMs: 10_000,
};

export type HttpServer = {
  readonly url: string;
  /** Answers as before, and closes each connection with its answer, so that no client sends into one that {@link HttpServer.close} closes. */
  drain(): void;
  /** Accepts no new requests, answers those in progress within the grace, and closes every connection. */
  close(): Promise<void>;
};

export type HttpServerOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly onRefused: OnRefused;
  readonly limits?: Partial<HttpLimits>;
};

type Turn = { readonly request: IncomingMessage; readonly response: ServerResponse };

/** What an app can read of the connection of a request. */
export type Connection = {
  readonly remoteAddress?: string;
  /** The server's own end. */
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
};

/**
 * Serves an app until it is closed.
 *
 * @example
 * const server = await serveHttp((request) => new Response('hello'), { host: '127.0.0.1', port: 0, onRefused: () => {} });
 * await server.close();
 *
 * @throws the system's error where the address cannot be listened on
 */
export function serveHttp(
  fetch: (request: Request, connection: Connection) => Response | Promise<Response>,
  options: HttpServerOptions,
): Promise<HttpServer> {
  const { onRefused } = options;
  const limits = { ...httpLimits, ...options.limits };
  const forgetRest = (request: IncomingMessage): Promise<void> =>
    forgetBody(request, { maxBytes: limits.unreadBytes, maxMs: limits.unreadMs });
  async function answer(request: Request, { incoming, outgoing }: HttpBindings): Promise<Response> {
    const { remoteAddress, localAddress, localPort } = incoming.socket;
    const own = { localAddress, localPort };
    const response = await fetch(
      request,
      remoteAddress === undefined ? own : { remoteAddress, ...own },
    );
    await forgetRest(incoming);
    // The rest of the body would be read as the next request.
    if (!incoming.complete) {
      outgoing.setHeader('connection', 'close');
    }
    return response;
  }
  const listener = getRequestListener((request, env) => answer(request, env as HttpBindings), {
    errorHandler: (error) =>
      createRefusalResponse(
        error instanceof RequestError ? refusals.unreadable : refusals.unexpected,
        onRefused,
      ),
  });
  // One request per connection at a time, so a client has at most as many requests in progress as connections.
  const turns = new Map<Duplex, Turn[]>();
  const taken = new WeakMap<Duplex, number>();
  const peers = createPeerCount(limits.maxConnectionsPerPeer);
  let connections = 0;
  let isDraining = false;
  let isStopping = false;

  const server = createServer(
    {
      // A missing Host is refused below, as `{code, message}` like every other refusal.
      requireHostHeader: false,
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.checkMs,
    },
    (request, response) => enqueue({ request, response }),
  );
  server.maxConnections = limits.maxConnections;
  server.on('checkExpectation', (_request, response) =>
    answerRefusal(response, refusals.noExpectation, onRefused),
  );
  server.on('connection', (socket) => {
    const peer = describePeer(socket.remoteAddress ?? '');
    if (!peers.enter(peer)) {
      socket.destroy();
      return;
    }
    connections += 1;
    // The last place was taken: whoever has no request in progress gives theirs to the next one.
    if (connections >= limits.maxConnections) {
      server.closeIdleConnections();
    }
    socket.once('close', () => {
      connections -= 1;
      peers.leave(peer);
      turns.delete(socket);
    });
  });
  server.on('connect', (_request, socket) => endWith(refusals.noTunnel, socket));
  server.on('clientError', (error, socket) => endWith(findRefusalOfFailure(error), socket));

  function enqueue(turn: Turn): void {
    const { socket } = turn.request;
    const count = (taken.get(socket) ?? 0) + 1;
    taken.set(socket, count);
    if (isDraining || count >= limits.maxRequestsPerConnection) {
      turn.response.setHeader('connection', 'close');
    }
    const queue = turns.get(socket) ?? [];
    turns.set(socket, queue);
    if (queue.push(turn) > limits.maxPipelined) {
      socket.destroy();
    }
    if (queue.length === 1) {
      run(turn);
    }
  }

  function run({ request, response }: Turn): void {
    response.once('close', () => endTurn(request.socket));
    const refusal = isStopping ? refusals.stopping : findRefusal(request, limits.maxHeaders);
    const target = readTarget(request.url, request.headers.host ?? '');
    const answered =
      refusal !== undefined || target === undefined
        ? refuse({ request, response }, refusal ?? refusals.unreadable)
        : listener(Object.assign(request, { url: target }), response);
    answered.catch(() => request.socket.destroy());
  }

  async function refuse({ request, response }: Turn, refusal: Refusal): Promise<void> {
    await forgetRest(request);
    answerRefusal(response, refusal, onRefused);
  }

  function endTurn(socket: Socket): void {
    const queue = turns.get(socket) ?? [];
    queue.shift();
    const [next] = queue;
    // An answer that closed the connection drops the requests that wait behind it: the client could not read their answers.
    if (next !== undefined && socket.writable) {
      run(next);
      return;
    }
    turns.delete(socket);
    endIfDone();
  }

  /** Answers bytes that are not a request, and closes. The client must not take this for the answer to an earlier request. */
  function endWith(refusal: Refusal | undefined, socket: Duplex): void {
    const queue = turns.get(socket) ?? [];
    const isLastWhole = queue.at(-1)?.request.complete === true;
    const lastWhole = queue.at(isLastWhole ? -1 : -2);
    if (!isLastWhole && queue.length > 1) {
      queue.pop();
    }
    if (lastWhole !== undefined) {
      lastWhole.response.once('close', () => socket.destroy());
    } else if (refusal === undefined || queue[0]?.response.headersSent === true) {
      socket.destroy();
    } else if (!socket.writableEnded) {
      endWithRefusal(socket, refusal, onRefused);
    }
  }

  function endIfDone(): void {
    if (isStopping && turns.size === 0) {
      server.closeAllConnections();
    }
  }

  function close(): Promise<void> {
    isStopping = true;
    return new Promise((resolve) => {
      const timer = setTimeout(() => server.closeAllConnections(), limits.graceMs);
      server.close(() => {
        clearTimeout(timer);
        resolve();
      });
      for (const { response } of [...turns.values()].flat()) {
        if (!response.headersSent) {
          response.setHeader('connection', 'close');
        }
      }
      endIfDone();
    });
  }

  function drain(): void {
    isDraining = true;
  }

  return listen(server, options).then((url) => ({ url, drain, close }));
}

function listen(server: Server, { host, port }: HttpServerOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, withoutBrackets(host), () => {
      // From here on, an error means one connection that could not be accepted. It must not end the process.
      server.off('error', reject);
      server.on('error', () => undefined);
      const address = server.address();
      const actualPort = typeof address === 'object' && address !== null ? address.port : port;
      resolve(`http://${formatAuthority(host, actualPort)}`);
    });
  });
}
