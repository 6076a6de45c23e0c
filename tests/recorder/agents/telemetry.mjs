// OpenTelemetry as an application sets it up: batches over OTLP/HTTP, as JSON if OTEL_EXPORTER_OTLP_PROTOCOL says so.
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtoExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { NodeSDK } from '@opentelemetry/sdk-node';
import * as desk from './desk.mjs';

const json = process.env.OTEL_EXPORTER_OTLP_PROTOCOL === 'http/json';
export const exporter = json ? new JsonExporter() : new ProtoExporter();

/** Start an SDK; `more` are further settings of it. */
export function start(more = {}) {
  const sdk = new NodeSDK({ traceExporter: exporter, ...more });
  sdk.start();
  return sdk;
}

/** Run a block with an SDK, and see that everything is sent. */
export async function recorded(sdk, body) {
  await desk.ending(body);
  await sdk.shutdown();
}
