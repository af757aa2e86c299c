/**
 * The HTTP server below the routes, with limits, which reads each request in one way only and ends cleanly; and the shell
 * around the routes: names, request ids, errors, bodies and rate limits.
 *
 * @module
 */

export {
  type Connection,
  type HttpLimits,
  type HttpServer,
  type HttpServerOptions,
  serveHttp,
} from './http-server.ts';
export { limitBody } from './shell/body-limit.ts';
export { readJsonBody } from './shell/json-body.ts';
export { createCallerLimiter, createRateLimiter, type RateLimiter } from './shell/rate-limiter.ts';
export { createShell, type ShellOptions } from './shell/shell.ts';
export type { LogFields, Shell, ShellContext, ShellEnv, ShellLog } from './shell/shell-context.ts';
