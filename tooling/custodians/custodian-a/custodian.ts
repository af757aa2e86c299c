/**
 * Custodian A in one process: a function from request to answer, and its control.
 *
 * @module
 */
import { Hono } from 'hono';
import { createClock } from './clock.ts';
import { type CustodianAConfig, parseCustodianAConfig } from './config.ts';
import { type CustodianAControl, createControl, type ReceivedRequest } from './control.ts';
import { createControlRoutes } from './control-routes.ts';
import { createEngine } from './engine.ts';
import { ApiError, createErrorBody } from './errors.ts';
import { type Connection, createFaults } from './faults.ts';
import { createRoutes } from './routes.ts';
import { createSettings } from './settings.ts';
import { createStore } from './store.ts';
import { createUserActions } from './user-actions.ts';
import { createWebhooks } from './webhooks.ts';

export type CustodianA = {
  /** The bindings of a real connection let faults drop it. */
  fetch(request: Request, env?: Connection): Promise<Response>;
  readonly control: CustodianAControl;
};

const controlPath = '/__control';

/** Older requests are forgotten. */
const maxReceived = 10_000;

/** @throws Error that names every wrong field of the configuration */
export function createCustodianA(input: CustodianAConfig): CustodianA {
  const config = parseCustodianAConfig(input);
  const store = createStore(config);
  const settings = createSettings(config.settings);
  const clock = createClock(store.state.clockOffsetMs);
  const { state } = store;
  const webhooks = createWebhooks({
    state,
    settings,
    clock,
    headerPrefix: config.headerPrefix,
  });
  const engine = createEngine({ config, state, settings, clock, webhooks });
  const userActions = createUserActions({ clock, settings, origin: config.origin });
  const faults = createFaults();
  const received: ReceivedRequest[] = [];
  const control = createControl({
    config,
    store,
    settings,
    clock,
    engine,
    faults,
    userActions,
    webhooks,
    received,
  });

  const app = new Hono();
  app.route(
    '/',
    createRoutes({ config, state, settings, engine, userActions, now: () => clock.date() }),
  );
  if (config.control) {
    app.route(controlPath, createControlRoutes(control));
  }
  app.notFound((c) => c.json(createErrorBody(404, 'Not Found') as object, 404));
  app.onError((error, c) => {
    if (error instanceof ApiError) {
      const { status, message, details } = error;
      return c.json(createErrorBody(status, message, details) as object, status);
    }
    process.stderr.write(`${error.stack ?? error.message}\n`);
    return c.json(createErrorBody(500, 'Internal Server Error') as object, 500);
  });

  async function serveApi(request: Request, env: Connection): Promise<Response> {
    const url = new URL(request.url);
    const entry: ReceivedRequest = {
      method: request.method,
      path: `${url.pathname}${url.search}`,
      body: await request.clone().text(),
      userId: findUserId(request),
      status: undefined,
    };
    received.push(entry);
    if (received.length > maxReceived) {
      received.shift();
    }
    const work = async (): Promise<Response> => {
      engine.settle();
      const response = await app.fetch(request, env);
      // The state is durable before anybody hears of it, as with the real provider.
      store.save();
      return response;
    };
    const response = await faults.around({ method: entry.method, path: entry.path }, env, work);
    entry.status = response.status;
    return response;
  }

  function findUserId(request: Request): string | undefined {
    const header = request.headers.get('authorization');
    return config.accounts.find(({ token }) => header === `Bearer ${token}`)?.userId;
  }

  return {
    async fetch(request, env = {}) {
      const { pathname } = new URL(request.url);
      return pathname.startsWith(`${controlPath}/`)
        ? await app.fetch(request, env)
        : await serveApi(request, env);
    },
    control,
  };
}
