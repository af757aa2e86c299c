/**
 * The gate's routes: the agent posts manifests, the co-signer of custodian B asks, webhooks of custodian A wake the poller, and the
 * operator's monitoring reads health and metrics.
 *
 * @module
 */
import { type EvmAddress, PoolError, parseEvmAddress, type Secret } from '@pool/core';
import {
  answerMetrics,
  createShell,
  type HttpLimits,
  hashCredential,
  isSameHash,
  limitBody,
  type Measure,
  readJsonBody,
  type Shell,
  type ShellContext,
  type ShellLog,
} from '@pool/http-server';
import { readCustodianAEvent } from '@pool/signers';
import type { CallbackEndpoint } from '../custodian-b/callback-endpoint.ts';
import type { GateHealth, WalletStanding } from '../examine/doctor.ts';
import type { Intake } from '../judge/intake.ts';

/** 256 recipients with the longest evidence and memo are about 1.3 MiB. */
const maxManifestBytes = 2 * 1024 * 1024;
const maxCallbackBytes = 64 * 1024;
const maxEventBytes = 256 * 1024;

/** Callbacks that are answered at once. Whoever reaches the port can send them; one co-signer sends a few. */
const maxCallbacks = 64;

/** Of the gate's port. Everything that is sent to it is small, and comes from machines beside it. */
export const gateLimits = {
  headersMs: 5_000,
  requestMs: 20_000,
} as const satisfies Partial<HttpLimits>;

export type AppDeps = {
  readonly log: ShellLog;
  readonly allowedHosts: readonly string[];
  readonly intake: Intake;
  readonly readWallet: (address: EvmAddress) => WalletStanding;
  readonly manifestToken: Secret;
  readonly metricsToken: Secret | undefined;
  readonly health: () => GateHealth;
  readonly metrics: () => readonly Measure[];
  /** Of custodian A. */
  readonly webhooks?: {
    readonly secret: Secret;
    /** Name of the header with the signature. */
    readonly header: string;
    readonly wake: () => void;
  };
  /** Of custodian B. */
  readonly callbacks?: CallbackEndpoint;
  readonly nowMs: () => number;
};

export function createApp(deps: AppDeps): Shell {
  const app = createShell({
    log: deps.log,
    allowedHosts: deps.allowedHosts,
    hostMatch: 'name',
    hostsVariable: 'APPROVE_ALLOWED_HOSTS',
    allowedOrigins: [],
    challenge: 'Bearer realm="approve"',
  });

  app.post('/v1/manifests', limitBody(maxManifestBytes), async (c) => {
    requireBearer(c.req.header('authorization'), deps.manifestToken, 'manifest token');
    return c.json(await deps.intake.post(await readJsonBody(c), c.req.raw.signal));
  });
  app.get('/v1/manifests/:digest', (c) => {
    requireBearer(c.req.header('authorization'), deps.manifestToken, 'manifest token');
    return c.json(deps.intake.read(c.req.param('digest')));
  });
  // An agent asks before its first job whether this is the gate of its wallets.
  app.get('/v1/wallets/:address', (c) => {
    requireBearer(c.req.header('authorization'), deps.manifestToken, 'manifest token');
    return c.json(deps.readWallet(parseEvmAddress(c.req.param('address'))));
  });
  // Everybody may ask whether it votes. What is wrong names wallets and settings.
  app.get('/healthz', (c) => {
    const { ok, problems, doctor, ledger } = deps.health();
    const authorization = c.req.header('authorization');
    if (deps.metricsToken === undefined || authorization === undefined) {
      return c.json({ ok }, ok ? 200 : 503);
    }
    requireBearer(authorization, deps.metricsToken, 'metrics token');
    const { isRestored, openVotes, waiting } = ledger;
    const report = {
      ok,
      problems,
      doctor: doctor === undefined ? null : { ok: doctor.ok, checks: doctor.checks },
      ledger: { isRestored, openVotes, waiting },
    };
    return c.json(report, ok ? 200 : 503);
  });
  app.get('/metrics', async (c) => {
    if (deps.metricsToken === undefined) {
      throw new PoolError('not_found', 'metrics are off: APPROVE_METRICS_TOKEN is not set');
    }
    requireBearer(c.req.header('authorization'), deps.metricsToken, 'metrics token');
    return await answerMetrics(c, deps.metrics());
  });
  addWebhooks(app, deps);
  addCallbacks(app, deps);
  return app;
}

function addWebhooks(app: Shell, { webhooks, nowMs }: AppDeps): void {
  if (webhooks === undefined) {
    return;
  }
  app.post('/v1/webhooks/custodian-a', limitBody(maxEventBytes), async (c) => {
    const event = readCustodianAEvent({
      secret: webhooks.secret,
      rawBody: new Uint8Array(await c.req.arrayBuffer()),
      signature: c.req.header(webhooks.header),
      nowMs: nowMs(),
    });
    if (event === undefined) {
      throw new PoolError('unauthorized', 'the event is not signed by the custodian, or is old');
    }
    // A hint to look earlier, and nothing else.
    webhooks.wake();
    return c.json({ ok: true });
  });
}

function addCallbacks(app: Shell, { callbacks }: AppDeps): void {
  if (callbacks === undefined) {
    return;
  }
  let inProgress = 0;
  async function answer(
    c: ShellContext,
    read: (token: string) => Promise<string>,
  ): Promise<Response> {
    // A connection that sends its body slowly, or never, takes no place.
    const token = await c.req.text();
    // The co-signer asks again.
    if (inProgress >= maxCallbacks) {
      throw new PoolError('rate_limited', 'too many callbacks are answered at once; ask again');
    }
    inProgress += 1;
    try {
      return c.body(await read(token), 200, { 'content-type': 'text/plain' });
    } finally {
      inProgress -= 1;
    }
  }
  app.post('/v2/tx_sign_request', limitBody(maxCallbackBytes), (c) =>
    answer(c, callbacks.answerSignRequest),
  );
  app.post('/v2/config_change_sign_request', limitBody(maxCallbackBytes), (c) =>
    answer(c, callbacks.answerConfigChange),
  );
}

/** @throws PoolError 401 `unauthorized` */
function requireBearer(authorization: string | undefined, secret: Secret, what: string): void {
  const token = /^Bearer ([\x21-\x7e]{1,2048})$/i.exec(authorization ?? '')?.[1];
  if (token === undefined || !isSameHash(hashCredential(token), hashCredential(secret.reveal()))) {
    throw new PoolError('unauthorized', `send Authorization: Bearer with the ${what}`);
  }
}
