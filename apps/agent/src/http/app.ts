/**
 * The agent's HTTP routes (README.md, "HTTP"): submit, validate or cancel a disbursement, read its job, readiness, liveness,
 * metrics. The routes of the holder are in holder-routes.ts.
 *
 * @module
 */
import { agentApi, type Capability, createApiPages } from '@pool/api';
import {
  type DisbursementJob,
  deriveTraceId,
  isPoolError,
  type JobState,
  PoolError,
  parseIdempotencyKey,
  type Secret,
} from '@pool/core';
import {
  addApiPages,
  createShell,
  limitBody,
  readJsonBody,
  type Shell,
  type ShellContext,
  type ShellEnv,
  type ShellLog,
} from '@pool/http-server';
import type { JobStore, StoredJob } from '@pool/idempotency';
import type { JobProgress, Readiness } from '@pool/operations';
import {
  type CancelDeps,
  type CheckedDisbursement,
  cancelJob,
  checkDisbursement,
  createJobView,
  createMalformedReport,
  createRecord,
  deserializeRecord,
  fingerprintRequest,
  refuseOtherRequest,
  serializeRecord,
  type ValidateDeps,
  validateDisbursement,
} from '@pool/operations';
import type { JobTrace } from '@pool/pay-run';
import { createJobTrace, createPortProof, portProofPath } from '@pool/pay-run';
import { createPace } from '@pool/wallet';
import type { Context, MiddlewareHandler } from 'hono';
import type { AgentFaultPoint } from '../config/config.ts';
import { answerReport } from './app-report.ts';
import { authenticate, type BearerDeps, credentialOf } from './bearer.ts';
import { addHolderRoutes, type HolderEnv, type HolderRoutesDeps } from './holder-routes.ts';
import { authenticateMetrics, metricsContentType } from './metrics.ts';
import { takesQuery } from './takes-query.ts';

export type AppDeps = {
  readonly version: string;
  readonly startedAtMs: number;
  readonly nowMs: () => number;
  readonly allowedHosts: readonly string[];
  readonly log: ShellLog;
  readonly store: JobStore;
  readonly bearer: BearerDeps;
  /**
   * The employer whose payments this agent accepts now.
   * @throws PoolError 503 `platform_unreachable` before bootstrap, `employer_mismatch` when it names another one
   */
  readonly acceptingEmployerId: () => string;
  /**
   * By the release policy, if there is one.
   * @throws PoolError 403 `release_policy_refused`
   */
  readonly assertMayPrepare: (checked: CheckedDisbursement, preparedBy: string) => void;
  /** Shows whether another agent has used a key. */
  readonly settlements: Parameters<typeof refuseOtherRequest>[2];
  /** The checks of `disburse`, and the further questions of a dry run. */
  readonly validation: ValidateDeps;
  readonly readiness: Readiness;
  readonly progress: JobProgress;
  /** Undefined: DISBURSE_METRICS_TOKEN is not set. */
  readonly metricsToken: Secret | undefined;
  /** The metrics in Prometheus' text format. */
  readonly renderMetrics: () => Promise<string>;
  /** The accelerator of this agent, for the trace. */
  readonly prover: JobTrace['prover'];
  /** Wakes the worker for a new job. */
  readonly wake: () => void;
  readonly cancel: CancelDeps['cancel'];
  readonly stopping: CancelDeps['stopping'];
  readonly onFaultPoint: (point: AgentFaultPoint) => Promise<void>;
  readonly holderNotes: HolderRoutesDeps['notes'];
  readonly holderHistory: HolderRoutesDeps['history'];
  readonly holderSpends: HolderRoutesDeps['spends'];
};

/** Holds 10,000 recipients with memos. */
const maxBodyBytes = 4 * 1024 * 1024;

type BearerContext = Context<ShellEnv & HolderEnv>;

export function createApp(deps: AppDeps): Shell {
  const { store, bearer } = deps;
  const app = createShell({
    log: deps.log,
    allowedHosts: deps.allowedHosts,
    hostMatch: 'name',
    hostsVariable: 'DISBURSE_ALLOWED_HOSTS',
    allowedOrigins: 'hosts',
    keepsRequestIds: true,
    challenge: 'Bearer',
    // The command line polls the state of a job.
    answeredLevel: 'debug',
  });
  const requireBearer = (capability: Capability): MiddlewareHandler<HolderEnv> => {
    return async (context, next) => {
      const authorization = context.req.header('authorization');
      const { signal } = context.req.raw;
      context.set('principal', await authenticate(authorization, capability, bearer, signal));
      await next();
    };
  };

  // No credential: the description is the same for every agent of this version.
  addApiPages(app, createApiPages({ '': agentApi }));

  app.get('/api/livez', takesQuery(), (context) =>
    context.json({
      ok: true,
      version: deps.version,
      uptimeSeconds: Math.floor((deps.nowMs() - deps.startedAtMs) / 1000),
    }),
  );

  // For this agent's own commands, which send no credential to a port before.
  app.get(portProofPath, takesQuery('challenge'), (context) => {
    const { localAddress: address, localPort: port } = context.env;
    const challenge = context.req.query('challenge') ?? '';
    return context.json(createPortProof(bearer.loopbackToken, challenge, { address, port }));
  });

  app.get('/api/readyz', takesQuery(), async (context) => {
    const report = await deps.readiness.read();
    return context.json(report, report.ok ? 200 : 503);
  });

  // The default path of Prometheus. The metrics token opens this route only, so the loopback token, which pays, stays on the machine.
  app.get('/metrics', async (context) => {
    const { metricsToken } = deps;
    const { loopbackToken } = bearer;
    authenticateMetrics(context.req.header('authorization'), { loopbackToken, metricsToken });
    return context.body(await deps.renderMetrics(), 200, { 'content-type': metricsContentType });
  });

  app.post('/api/disburse', requireBearer('disburse'), limitBody(maxBodyBytes), async (context) => {
    const key = parseIdempotencyKey(context.req.header('idempotency-key'));
    traceJob(context, key);
    const body = await readJsonBody(context, createPace());
    const scope = deps.acceptingEmployerId();

    const known = await store.get(scope, key);
    if (known !== undefined) {
      return answerReplay(known, await fingerprintRequest(body));
    }
    const checked = await checkDisbursement(body, deps.validation.checks);
    const fingerprint = checked.requestDigest;
    const preparedBy = credentialOf(context.get('principal'));
    deps.assertMayPrepare(checked, preparedBy);
    const requestId = context.get('requestId');
    await refuseOtherRequest(key, fingerprint, deps.settlements);
    await deps.onFaultPoint('claim.before-store');
    const claim = await store.claim({
      scope,
      key,
      fingerprint,
      state: 'accepted',
      payload: serializeRecord(createRecord(checked, scope, key, { requestId, preparedBy })),
      nowMs: deps.nowMs(),
    });
    await deps.onFaultPoint('claim.after-store');
    // Another request may have claimed the key while this one was checked.
    if (claim.outcome !== 'created') {
      return answerReplay(claim.job, fingerprint);
    }
    deps.wake();
    const log = context.get('log');
    log.info({ recipients: checked.recipients.length }, 'disbursement accepted');
    for (const { requestIndex } of checked.rotations) {
      log.warn({ requestIndex }, 'a recipient changed its encryption key since its last payment');
    }
    return context.json({ key, state: 'accepted', statusUrl: statusUrlOf(key) }, 202);

    function answerReplay(job: StoredJob, sent: string | undefined): Response {
      if (job.fingerprint !== sent) {
        throw new PoolError(
          'idempotency_conflict',
          'this Idempotency-Key was used with another body; send a new key for a new payment',
        );
      }
      const view = viewOf(job);
      const isTerminal = view.state === 'done' || view.state === 'failed';
      return context.json({ ...view, statusUrl: statusUrlOf(key) }, isTerminal ? 200 : 202);
    }
  });

  // 200 for every authenticated request: the report lists the problems.
  const reportTooLarge = (context: ShellContext, message: string): Response =>
    context.json(createMalformedReport(message));
  app.post(
    '/api/validate',
    requireBearer('disburse'),
    limitBody(maxBodyBytes, reportTooLarge),
    async (context) => {
      let body: unknown;
      try {
        body = await readJsonBody(context, createPace());
      } catch (error) {
        if (isPoolError(error) && error.code === 'invalid_request') {
          return context.json(createMalformedReport(error.message));
        }
        throw error;
      }
      const preparedBy = credentialOf(context.get('principal'));
      return answerReport(context, await validateDisbursement(body, deps.validation, preparedBy));
    },
  );

  app.get('/api/disburse/:key', requireBearer('disburse'), takesQuery(), async (context) => {
    return context.json(viewOf(await findJob(context)));
  });

  // Answered at the end of the job: a job that was cancelled can never be paid.
  app.delete('/api/disburse/:key', requireBearer('disburse'), async (context) => {
    const job = await findJob(context);
    context.get('log').info({}, 'cancellation asked for');
    const by = credentialOf(context.get('principal'));
    return context.json(viewOf(await cancelJob(job, deps, context.req.raw.signal, by)));
  });

  // For this agent's own command line: progress, seconds per stage, gas. Not part of the job object.
  app.get('/api/disburse/:key/trace', requireBearer('disburse'), takesQuery(), async (context) => {
    if (context.get('principal').kind !== 'loopback') {
      throw new PoolError('forbidden', 'this route takes the loopback token only');
    }
    const job = await findJob(context);
    return context.json(
      createJobTrace(
        deserializeRecord(job.payload),
        deps.progress.of(job.key),
        deps.prover,
        deps.nowMs(),
      ),
    );
  });

  addHolderRoutes(app, {
    notes: deps.holderNotes,
    history: deps.holderHistory,
    spends: deps.holderSpends,
    requireBearer,
    loopbackToken: bearer.loopbackToken,
  });

  async function findJob(context: BearerContext): Promise<StoredJob> {
    const key = context.req.param('key') ?? '';
    traceJob(context, key);
    const job = await store.get(bearer.employerId(), key);
    if (job === undefined) {
      throw new PoolError('not_found', 'this agent has never seen that key');
    }
    return job;
  }

  return app;
}

/** From here on, each log line of the request has the trace id of its job, from which the key cannot be derived. */
function traceJob(context: BearerContext, key: string): void {
  context.set('log', context.get('log').child({ trace: deriveTraceId(key) }));
}

function viewOf(job: StoredJob): DisbursementJob {
  return createJobView(parseState(job.state), deserializeRecord(job.payload));
}

function parseState(state: string): JobState {
  if (state === 'accepted' || state === 'submitted' || state === 'done' || state === 'failed') {
    return state;
  }
  throw new PoolError('job_unreadable', 'the job store holds an unknown state');
}

function statusUrlOf(key: string): string {
  return `/api/disburse/${encodeURIComponent(key)}`;
}
