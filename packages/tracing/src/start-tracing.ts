/**
 * Starts the SDK of OpenTelemetry if the standard variables name a collector. The SDK is not installed with the services.
 *
 * @module
 */
import { PoolError } from '@pool/core';

const sdk =
  '@opentelemetry/sdk-trace-node @opentelemetry/exporter-trace-otlp-http @opentelemetry/resources';

/**
 * @param service - name of the service where OTEL_SERVICE_NAME is not set
 * @returns sends what is waiting, and stops; undefined where no collector is named or OTEL_SDK_DISABLED is `true`
 * @throws PoolError `invalid_configuration` if the SDK is not installed
 */
export async function startTracing(
  environment: Readonly<Record<string, string | undefined>>,
  service: string,
): Promise<(() => Promise<void>) | undefined> {
  const collector =
    environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? environment['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (collector === undefined || environment['OTEL_SDK_DISABLED'] === 'true') {
    return undefined;
  }
  const { BatchSpanProcessor, NodeTracerProvider, OTLPTraceExporter, resourceFromAttributes } =
    await loadSdk();
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': environment['OTEL_SERVICE_NAME'] ?? service,
    }),
    // It reads the collector's variables itself.
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  return async () => {
    // A collector that is away must not keep the process from ending.
    await provider.shutdown().catch(() => undefined);
  };
}

async function loadSdk() {
  try {
    return {
      ...(await import('@opentelemetry/sdk-trace-node')),
      ...(await import('@opentelemetry/exporter-trace-otlp-http')),
      ...(await import('@opentelemetry/resources')),
    };
  } catch (cause) {
    throw new PoolError(
      'invalid_configuration',
      `OTEL_EXPORTER_OTLP_ENDPOINT names a collector, and the SDK is not installed; run npm install ${sdk}, or unset the variable`,
      { cause },
    );
  }
}
