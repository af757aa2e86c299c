/**
 * The simulator as a whole, and its listener.
 *
 * @module
 */
import { type HttpBindings, serve } from '@hono/node-server';
import { Hono } from 'hono';
import { type ApiRecord, createApi } from './api.ts';
import { createAuthenticator } from './authenticate.ts';
import { type CustodianBConfig, parseConfig } from './config.ts';
import { type Control, createControl, createControlRoutes } from './control.ts';
import { createFaults } from './faults.ts';
import { createHandlerClient } from './handler-client.ts';
import { createPauses } from './pauses.ts';
import { createProcessor } from './processor.ts';
import { createStore } from './store.ts';

export type CustodianB = {
  readonly control: Control;
  /** Listens on loopback and goes on with the transactions of the state file. @returns the URL, without a path */
  listen(): Promise<string>;
  /** Drops every connection and stops every pause. Safe to call twice. */
  close(): Promise<void>;
};

export type CustodianBOptions = {
  /** Milliseconds since 1970. Injectable for tests. */
  readonly nowMs?: () => number;
  /** Errors of the simulator itself. */
  readonly onError?: (error: unknown) => void;
};

/** @throws Error for a wrong configuration */
export function createCustodianB(
  input: CustodianBConfig,
  options: CustodianBOptions = {},
): CustodianB {
  const config = parseConfig(input);
  const { nowMs = Date.now, onError = () => undefined } = options;
  const store = createStore({ file: config.stateFile, nowMs });
  const faults = createFaults();
  const pauses = createPauses(config.timeScale);
  const handler = createHandlerClient(config, nowMs);
  const authenticator = createAuthenticator(config.apiUsers, () => Math.floor(nowMs() / 1_000));
  const processor = createProcessor({ config, store, faults, pauses, handler, onError });
  const requests: ApiRecord[] = [];
  const shared = { config, store, faults, handler, processor, authenticator, requests };
  const control = createControl({ ...shared, pauses });
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.route('/__control', createControlRoutes(control));
  app.route('/', createApi({ ...shared, nowMs, onError }));
  app.notFound((context) => context.json({ message: 'Not found', code: 1404 }, 404));

  let server: ReturnType<typeof serve> | undefined;
  return {
    control,
    async listen() {
      const port = await new Promise<number>((resolve, reject) => {
        server = serve(
          { fetch: app.fetch, hostname: '127.0.0.1', port: config.port },
          ({ port: bound }) => resolve(bound),
        );
        server.once('error', reject);
      });
      for (const transaction of store.list()) {
        processor.start(transaction);
      }
      return `http://127.0.0.1:${port}`;
    },
    async close() {
      processor.stop();
      pauses.stop();
      handler.stop();
      const closing = server;
      server = undefined;
      if (closing !== undefined) {
        await new Promise<void>((resolve) => {
          closing.close(() => resolve());
          if ('closeAllConnections' in closing) {
            closing.closeAllConnections();
          }
        });
      }
    },
  };
}
