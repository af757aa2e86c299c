/**
 * Traces of requests and jobs across the services, for OpenTelemetry.
 *
 * @module
 */
export { traceCall, traceJob, traceRequest } from './spans.ts';
export { startTracing } from './start-tracing.ts';
