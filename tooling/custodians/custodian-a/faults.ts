/**
 * Faults of single requests: an answer that is lost after the work was done, late, wrong or missing.
 *
 * @module
 */
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import * as v from 'valibot';
import { createErrorBody } from './errors.ts';

export const faultSchema = v.strictObject({
  /** Which requests: both are compared when they are given. `path` is a regular expression. */
  method: v.optional(v.string()),
  path: v.optional(v.string()),
  /** How many requests it meets. */
  times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
  /** Requests to let through first. */
  skip: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 0),
  kind: v.picklist([
    'error-before',
    'error-after',
    'drop-before',
    'drop-after',
    'delay',
    'hang-before',
    'hang-after',
    'redirect',
    'redirect-after',
    'oversized',
    'not-json',
  ]),
  /** Of `error-before` and `error-after`. */
  status: v.optional(v.pipe(v.number(), v.integer(), v.minValue(400), v.maxValue(599)), 500),
  /** Of `delay`: milliseconds of real time, before the work. */
  ms: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(600_000)), 100),
});

/** The part of a server's bindings that faults need: the connection of the request. */
export type Connection = {
  readonly incoming?: {
    readonly socket: { destroy(): unknown; once(event: 'close', done: () => void): unknown };
  };
};

export type FaultInput = v.InferInput<typeof faultSchema>;
type Fault = { times: number; skip: number } & Omit<
  v.InferOutput<typeof faultSchema>,
  'times' | 'skip'
>;

export type Faults = {
  add(fault: FaultInput): void;
  clear(): void;
  /** The faults that still wait for a request. */
  pending(): number;
  /** Answers one request with the fault that meets it, or with `work` alone. */
  around(
    request: { readonly method: string; readonly path: string },
    env: Connection | undefined,
    work: () => Promise<Response>,
  ): Promise<Response>;
};

/** More than the 1 MiB that a client reads. */
const oversizedBytes = 2 * 1024 * 1024;

export function createFaults(): Faults {
  const faults: Fault[] = [];

  function take(request: { readonly method: string; readonly path: string }): Fault | undefined {
    const fault = faults.find(
      ({ method, path }) =>
        (method === undefined || method === request.method) &&
        (path === undefined || new RegExp(path).test(request.path)),
    );
    if (fault === undefined) {
      return undefined;
    }
    if (fault.skip > 0) {
      fault.skip -= 1;
      return undefined;
    }
    fault.times -= 1;
    if (fault.times === 0) {
      faults.splice(faults.indexOf(fault), 1);
    }
    return fault;
  }

  return {
    add(input) {
      const fault = v.parse(faultSchema, input);
      faults.push({ ...fault });
    },
    clear() {
      faults.length = 0;
    },
    pending: () => faults.length,
    async around(request, env, work) {
      const fault = take(request);
      switch (fault?.kind) {
        case undefined:
          return work();
        case 'delay':
          await new Promise((resolve) => setTimeout(resolve, fault.ms));
          return work();
        case 'error-before':
          return answerError(fault.status);
        case 'error-after':
          await work();
          return answerError(fault.status);
        case 'drop-before':
          return drop(env);
        case 'drop-after':
          await work();
          return drop(env);
        case 'hang-before':
          return hang(env);
        case 'hang-after':
          await work();
          return hang(env);
        case 'redirect':
          return redirect();
        case 'redirect-after':
          await work();
          return redirect();
        case 'oversized':
          await work();
          return Response.json({ items: [], filler: 'x'.repeat(oversizedBytes) });
        case 'not-json':
          await work();
          return new Response('<html><body>Bad gateway</body></html>', {
            headers: { 'content-type': 'text/html' },
          });
      }
    },
  };
}

function answerError(status: number): Response {
  return Response.json(createErrorBody(status, 'Internal Server Error'), { status });
}

function redirect(): Response {
  return new Response(null, { status: 302, headers: { location: '/elsewhere' } });
}

function drop(env: Connection | undefined): Response {
  if (env?.incoming === undefined) {
    throw new Error('only a real connection can be dropped: serve the simulator over HTTP');
  }
  env.incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
}

/** Answers nothing until the client goes away. */
async function hang(env: Connection | undefined): Promise<Response> {
  const socket = env?.incoming?.socket;
  if (socket === undefined) {
    throw new Error('only a real connection can hang: serve the simulator over HTTP');
  }
  await new Promise((resolve) =>
    socket.once('close', () => {
      resolve(undefined);
    }),
  );
  return RESPONSE_ALREADY_SENT;
}
