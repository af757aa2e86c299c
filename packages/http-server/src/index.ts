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
export { addApiPages } from './service/api-pages.ts';
export { hashCredential, isSameHash } from './service/credential-hash.ts';
export { addHealthRoutes } from './service/health-routes.ts';
export { type ListenConfig, listen } from './service/listen.ts';
export { createLog, createRedactedLog, describeFailure, type Log } from './service/log.ts';
export {
  addMetricsRoute,
  answerMetrics,
  createBuildMeasure,
  type Measure,
  type Sample,
} from './service/metrics.ts';

export { addPageFolder, createPageHeaders } from './service/page-folder.ts';
export { readBearer, readIdempotencyKey, readJson, unauthorized } from './service/read-request.ts';

export {
  type ChainWatch,
  type Check,
  createChainWatch,
  createDatabaseCheck,
  createReadiness,
  drain,
} from './service/readiness.ts';
export { startWorkerLoop } from './service/worker-loop.ts';
export { limitBody } from './shell/body-limit.ts';
export { readJsonBody } from './shell/json-body.ts';
export {
  createCallerLimiter,
  createRateLimiter,
  type RateLimiter,
  type RateLimiterOptions,
} from './shell/rate-limiter.ts';
export { createShell, type ShellOptions } from './shell/shell.ts';
export type { LogFields, Shell, ShellContext, ShellEnv, ShellLog } from './shell/shell-context.ts';
