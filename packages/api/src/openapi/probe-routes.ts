/**
 * The routes for those who operate the platform and the gate: probes, and numbers for Prometheus.
 *
 * @module
 */
import * as v from 'valibot';
import { bearer, defineRoutes } from './route.ts';
import { foreign } from './route-errors.ts';
import { okSchema } from './shared-schemas.ts';

export const probeRoutes = defineRoutes({
  livez: {
    at: 'GET /livez',
    summary: 'Liveness of the process',
    answers: { 200: { description: 'The process is alive.', schema: okSchema } },
    errors: { 403: foreign },
  },

  readyz: {
    at: 'GET /readyz',
    summary: 'Readiness of the process',
    description:
      'The process is ready while its database answers and no other process has taken that over, the RPC of each chain answers, and no ' +
      'indexer has halted. From the start of a shutdown on it is not ready, while it still answers.',
    answers: { 200: { description: 'The process is ready.', schema: okSchema } },
    errors: {
      403: foreign,
      503: ['database_unavailable', 'chain_unreachable', 'notes_unavailable', 'stopping'],
    },
  },

  metrics: {
    at: 'GET /metrics',
    summary: 'Numbers for Prometheus',
    description: 'Names no address, amount or key. 404 where the operator has set no token.',
    auth: { scheme: 'metricsToken' },
    answers: {
      200: {
        description: 'The text format of Prometheus.',
        schema: v.string(),
        contentType: 'text/plain',
      },
    },
    errors: { 401: ['unauthorized'], 403: foreign, 404: ['not_found'] },
  },
});

/** Security scheme of `metrics`. */
export const metricsToken = bearer(
  'PLATFORM_METRICS_TOKEN or GATE_METRICS_TOKEN: opens this route and nothing else.',
);
