/**
 * What a test may see and do besides the provider's API. {@link createControlRoutes} serves the same over HTTP under `/__control`.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import * as v from 'valibot';
import type { ApiRecord } from './api.ts';
import type { Authenticator } from './authenticate.ts';
import { type Callback, type ParsedConfig, parseCallback } from './config.ts';
import type { Fault, FaultInput, Faults } from './faults.ts';
import type { CallbackRecord, HandlerAnswer, HandlerClient } from './handler-client.ts';
import type { Pauses } from './pauses.ts';
import type { Processor, Violation } from './processor.ts';
import type { Store } from './store.ts';
import type { Transaction } from './transaction.ts';

export type Control = {
  /** Arms a fault. @throws Error for an unknown one */
  fault(fault: FaultInput): void;
  faults(): readonly Fault[];
  clearFaults(): void;
  /** Requests to the API, oldest first, with those that were refused. */
  requests(): readonly ApiRecord[];
  /** Posts to the callback handler, oldest first. */
  callbacks(): readonly CallbackRecord[];
  /** What the handler did against the documentation. */
  violations(): readonly Violation[];
  transactions(): readonly Transaction[];
  /** Forces a status. A final one ends the transaction. @throws Error for an unknown id */
  setStatus(id: string, status: string, subStatus?: string): void;
  /** Installs another handler. undefined: the co-signer approves and signs by itself. */
  setCallback(callback: Callback | undefined): void;
  /** Divides the interval between retries. */
  setTimeScale(scale: number): void;
  /** Ends every pause now. @returns how many there were */
  skipPauses(): number;
  /** Callbacks that wait for their retry, and receipts that are waited for. */
  pendingPauses(): number;
  /** Posts the bytes of an earlier callback again. */
  replayCallback(index: number): Promise<HandlerAnswer>;
  /** Posts any claims, signed by the co-signer, for example a payload that no transaction has. */
  sendCallback(payload: Readonly<Record<string, unknown>>): Promise<HandlerAnswer>;
  /** Asks the handler to approve a change of the workspace. */
  sendConfigChange(type: string, extraInfo: object): Promise<HandlerAnswer>;
  /** Forgets transactions, records, faults, nonces and idempotent answers. Configuration and handler stay. */
  reset(): void;
};

export function createControl(deps: {
  readonly config: ParsedConfig;
  readonly store: Store;
  readonly faults: Faults;
  readonly pauses: Pauses;
  readonly handler: HandlerClient;
  readonly processor: Processor;
  readonly authenticator: Authenticator;
  readonly requests: ApiRecord[];
}): Control {
  const { config, store, faults, pauses, handler, processor, authenticator, requests } = deps;
  return {
    fault: (fault) => faults.arm(fault),
    faults: () => faults.list(),
    clearFaults: () => faults.clear(),
    requests: () => requests,
    callbacks: () => handler.records(),
    violations: () => processor.violations(),
    transactions: () => store.list(),
    setStatus(id, status, subStatus = '') {
      const transaction = store.find(id);
      if (transaction === undefined) {
        throw new Error(`no transaction has the id ${id}`);
      }
      store.change(transaction, { status, subStatus });
    },
    setCallback: (callback) => handler.setCallback(callback),
    setTimeScale: (scale) => pauses.setScale(scale),
    skipPauses: () => pauses.skip(),
    pendingPauses: () => pauses.pending(),
    replayCallback: async (index) => await handler.replay(index),
    sendCallback: async (payload) =>
      await handler.post({
        path: '/v2/tx_sign_request',
        stage: undefined,
        payload,
        effect: undefined,
      }),
    async sendConfigChange(type, extraInfo) {
      const signerId = config.cosigner.signerId;
      const answer = await handler.post({
        path: '/v2/config_change_sign_request',
        stage: undefined,
        payload: { requestId: randomUUID(), type, extraInfo, signerId },
        effect: faults.takeCallback(),
      });
      if (answer.action === 'IGNORE' || answer.action === 'NONE') {
        const problem = answer.action === 'NONE' ? answer.problem : 'IGNORE to a config change';
        processor.addViolation({ transactionId: undefined, stage: undefined, problem });
      }
      return answer;
    },
    reset() {
      // Work that is under way ends, or it would bring its transaction back.
      for (const transaction of store.list()) {
        store.change(transaction, { status: 'CANCELLED', subStatus: '' });
      }
      pauses.skip();
      store.clear();
      faults.clear();
      handler.reset();
      processor.reset();
      authenticator.reset();
      requests.length = 0;
    },
  };
}

const statusSchema = v.object({ status: v.string(), subStatus: v.optional(v.string()) });
const scaleSchema = v.object({ scale: v.pipe(v.number(), v.gtValue(0)) });
const replaySchema = v.object({ index: v.pipe(v.number(), v.integer()) });
const claimsSchema = v.record(v.string(), v.unknown());
const changeSchema = v.object({ type: v.string(), extraInfo: v.record(v.string(), v.unknown()) });

export function createControlRoutes(control: Control): Hono {
  const app = new Hono();
  app.get('/faults', (context) => context.json(control.faults()));
  app.post('/faults', async (context) => {
    control.fault(await context.req.json());
    return context.json({ armed: control.faults().length });
  });
  app.delete('/faults', (context) => {
    control.clearFaults();
    return context.json({ done: true });
  });
  app.get('/requests', (context) => context.json(control.requests()));
  app.get('/callbacks', (context) => context.json(control.callbacks()));
  app.get('/violations', (context) => context.json(control.violations()));
  app.get('/transactions', (context) => context.json(control.transactions()));
  app.get('/pauses', (context) => context.json({ pending: control.pendingPauses() }));
  app.post('/pauses/skip', (context) => context.json({ skipped: control.skipPauses() }));
  app.post('/transactions/:id/status', async (context) => {
    const { status, subStatus } = v.parse(statusSchema, await context.req.json());
    control.setStatus(context.req.param('id'), status, subStatus);
    return context.json({ status });
  });
  app.put('/callback', async (context) => {
    control.setCallback(parseCallback(await context.req.json()));
    return context.json({ done: true });
  });
  app.put('/time-scale', async (context) => {
    control.setTimeScale(v.parse(scaleSchema, await context.req.json()).scale);
    return context.json({ done: true });
  });
  app.post('/callbacks/replay', async (context) => {
    const { index } = v.parse(replaySchema, await context.req.json());
    return context.json(await control.replayCallback(index));
  });
  app.post('/callbacks', async (context) =>
    context.json(await control.sendCallback(v.parse(claimsSchema, await context.req.json()))),
  );
  app.post('/config-changes', async (context) => {
    const { type, extraInfo } = v.parse(changeSchema, await context.req.json());
    return context.json(await control.sendConfigChange(type, extraInfo));
  });
  app.post('/reset', (context) => {
    control.reset();
    return context.json({ done: true });
  });
  app.onError((error, context) => context.json({ message: error.message }, 400));
  return app;
}
