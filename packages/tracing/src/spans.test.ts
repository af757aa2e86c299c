/** What spans have, and what they must not have. The SDK here is OpenTelemetry's own, as an operator runs it. */
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { deriveTraceId, PoolError } from '@pool/core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { traceCall, traceJob, traceRequest } from './spans.ts';
import { startTracing } from './start-tracing.ts';

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
beforeAll(() => {
  provider.register();
});
beforeEach(() => {
  exporter.reset();
});
afterAll(async () => {
  await provider.shutdown();
});

const key = 'salaries of June, Ada 4,200.00';
const traceId = deriveTraceId(key).padStart(32, '0');

/** One job that asks the platform, which serves the request: through the headers only. */
async function payOnce(): Promise<void> {
  await traceJob(key, 'disbursement', async (addEvent) => {
    addEvent('proving');
    await traceCall('platform', 'POST', async (headers) => {
      const request = { method: 'POST', headers: new Headers(headers) };
      await traceRequest(request, async () => ({
        route: '/agent-edge/settlements/:key',
        status: 202,
      }));
      return { status: 202 };
    });
  });
}

it('makes one trace of a job across services, and of the same job after a restart', async () => {
  await payOnce();
  await payOnce();
  await provider.forceFlush();
  const spans = exporter.getFinishedSpans();
  expect(spans.map(({ name }) => name).slice(0, 3)).toEqual([
    'POST /agent-edge/settlements/:key',
    'POST platform',
    'disbursement',
  ]);
  expect(new Set(spans.map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]));
  const [served, called, job] = spans;
  expect(served?.parentSpanContext?.spanId).toBe(called?.spanContext().spanId);
  expect(called?.parentSpanContext?.spanId).toBe(job?.spanContext().spanId);
  expect(job?.events.map(({ name }) => name)).toEqual(['proving']);
});

it('tells a custodian nothing of the trace', async () => {
  await traceJob(key, 'disbursement', async () => {
    await traceCall('custodian', 'GET', async (headers) => {
      expect(headers).toEqual({});
      return { status: 200 };
    });
  });
  expect.assertions(1);
});

it('has no key, name, amount, address or message, also of failures', async () => {
  const secret = '0x8EF31ED37e5320931Bf85677De447824a66c9991';
  const refusal = new PoolError('insufficient_balance', `Ada at ${secret} gets 4,200.00`);
  const failing = traceJob(key, 'disbursement', async () => {
    await traceCall('platform', 'GET', async () => {
      throw refusal;
    });
  });
  await expect(failing).rejects.toBe(refusal);
  await payOnce();
  await provider.forceFlush();
  const told = exporter
    .getFinishedSpans()
    .map(({ name, attributes, events, status }) =>
      JSON.stringify({ name, attributes, events, status }),
    )
    .join('\n');
  expect(told).toContain('insufficient_balance');
  for (const hidden of ['Ada', '4,200', secret, 'June']) {
    expect(told).not.toContain(hidden);
  }
});

it('starts only where a collector is named', async () => {
  expect(await startTracing({}, 'pool-agent')).toBeUndefined();
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_SDK_DISABLED: 'true',
  };
  expect(await startTracing(environment, 'pool-agent')).toBeUndefined();
});
