/**
 * An HTTP server with limits that reads each request in one way only and ends cleanly.
 *
 * @module
 */

export { createAnswerHeaders, defaultRetryAfterSeconds } from './answer-headers.ts';
export { readHostName } from './host-name.ts';
export {
  type Connection,
  type HttpLimits,
  type HttpServer,
  type HttpServerOptions,
  serveHttp,
} from './http-server.ts';
export { describePeer } from './peer.ts';
