/**
 * Traces of requests and jobs across the services, for OpenTelemetry.
 *
 * @module
 */
export { createSilentTelemetry, traceCall, traceJob, traceRequest, traceTask } from './spans.ts';
export { startTracing } from './start-tracing.ts';
