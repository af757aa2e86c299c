/**
 * Spans of requests and jobs. Without an SDK ({@link startTracing}) they cost nothing and go nowhere.
 *
 * A span has methods, routes, statuses, codes and stages. It has no amount, address, name, key or path: those would tell the collector who
 * is paid.
 *
 * @module
 */
import {
  type Context,
  context,
  createNoopMeter,
  type MeterProvider,
  ProxyTracerProvider,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  TraceFlags,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { deriveTraceId, errorCodeOf } from '@pool/core';

const getter: TextMapGetter<Headers> = {
  keys: (headers) => [...headers.keys()],
  get: (headers, name) => headers.get(name) ?? undefined,
};

/** What a request became. `route` is the pattern, for example `/api/disburse/:key`: the path may name a payment. */
export type Answered = {
  readonly route: string;
  readonly status: number;
  readonly code?: string | undefined;
};

/** A request that is served, as a part of its caller's trace. */
export async function traceRequest(
  request: { readonly method: string; readonly headers: Headers },
  serve: () => Promise<Answered>,
): Promise<void> {
  const parent = propagation.extract(ROOT_CONTEXT, request.headers, getter);
  await run(request.method, SpanKind.SERVER, parent, async (span) => {
    const { route, status, code } = await serve();
    span.updateName(`${request.method} ${route}`);
    span.setAttributes({
      'http.request.method': request.method,
      'http.route': route,
      'http.response.status_code': status,
      ...(code === undefined ? {} : { 'error.type': code }),
    });
    if (status >= 500) {
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
  });
}

/**
 * A call of another service: its work becomes a part of this trace. A custodian is told nothing of it.
 *
 * @param service - for example `platform`
 * @param call - takes the headers that continue the trace there
 */
export async function traceCall<T extends { readonly status: number }>(
  service: string,
  method: string,
  call: (headers: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  return await run(`${method} ${service}`, SpanKind.CLIENT, context.active(), async (span) => {
    const headers: Record<string, string> = {};
    if (service !== 'custodian') {
      propagation.inject(context.active(), headers);
    }
    const answer = await call(headers);
    span.setAttributes({
      'http.request.method': method,
      'http.response.status_code': answer.status,
    });
    return answer;
  });
}

/**
 * Work on a job. All work on one job, before and after a restart and at every service, is one trace: its id is the job's `trace` of the
 * logs, after 16 zeros.
 *
 * @param key - the Idempotency-Key. It cannot be derived from the trace
 * @param work - may add events, for example the stages
 */
export async function traceJob<T>(
  key: string,
  name: string,
  work: (addEvent: (name: string) => void) => Promise<T>,
): Promise<T> {
  const spanId = deriveTraceId(key);
  const parent = trace.setSpanContext(ROOT_CONTEXT, {
    traceId: spanId.padStart(32, '0'),
    spanId,
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });
  return await run(name, SpanKind.INTERNAL, parent, (span) =>
    work((event) => {
      span.addEvent(event);
    }),
  );
}

/** Work that a queue brought, as a part of the trace of who sent it; see {@link createSilentTelemetry}. */
export async function traceTask<T>(name: string, work: () => Promise<T>): Promise<T> {
  return await run(name, SpanKind.CONSUMER, context.active(), work);
}

/**
 * For a library that carries the trace through a queue. It carries it, and makes no spans and counts nothing of its own: those would name
 * queues and tasks and quote errors.
 */
export function createSilentTelemetry(): {
  readonly tracerProvider: TracerProvider;
  readonly meterProvider: MeterProvider;
} {
  return {
    tracerProvider: new ProxyTracerProvider(),
    meterProvider: { getMeter: () => createNoopMeter() },
  };
}

async function run<T>(
  name: string,
  kind: SpanKind,
  parent: Context,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  // Asked for each time: one that is made before the SDK starts can stay without it.
  const tracer = trace.getTracer('@pool/tracing');
  return await tracer.startActiveSpan(name, { kind }, parent, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      // The code only: a message may name a person or an amount.
      span.setAttribute('error.type', errorCodeOf(error) ?? 'unexpected');
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}
