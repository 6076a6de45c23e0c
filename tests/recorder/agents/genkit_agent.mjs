// Genkit for JavaScript: a flow that generates with tools, its own spans.
import { openAI } from '@genkit-ai/compat-oai/openai';
import { genkit } from 'genkit';
import { enableTelemetry } from 'genkit/tracing';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import * as desk from './desk.mjs';

process.env.GENKIT_ENV = 'prod';
const processor = new BatchSpanProcessor(new OTLPTraceExporter());
enableTelemetry({ spanProcessors: [processor] });
const ai = genkit({ plugins: [openAI({ apiKey: 'not-a-key', baseURL: process.env.OPENAI_BASE_URL })] });
const tools = desk.definitions.map(({ name, description, parameters }) =>
  ai.defineTool({ name, description, inputJsonSchema: parameters }, async (args) => desk.run(name, args)),
);
const clerk = ai.defineFlow('desk_clerk', async (messages) => {
  const response = await ai.generate({
    model: openAI.model(desk.model),
    system: desk.system(),
    messages,
    tools,
    maxTurns: 6,
  });
  return { text: response.text, messages: response.messages };
});
await desk.ending(async () => {
  let messages = [];
  for (const user of desk.users) {
    messages.push({ role: 'user', content: [{ text: user }] });
    messages = (await clerk(messages)).messages.filter((each) => each.role !== 'system');
  }
});
await processor.forceFlush();
process.exit(0);
