/** @pool/http-server: the HTTP server below the routes. */
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
