// Mastra: an agent with tools; its own tracing, sent by its OTLP exporter. DESK_MODE: stream, delegate (an agent that has
// another one).
import { createOpenAI } from '@ai-sdk/openai';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { Observability } from '@mastra/observability';
import { OtelExporter } from '@mastra/otel-exporter';
import * as desk from './desk.mjs';

const openai = createOpenAI();
const model = openai.chat(desk.model);
const tools = Object.fromEntries(
  desk.definitions.map(({ name, description, parameters }) => [
    name,
    createTool({ id: name, description, inputSchema: parameters, execute: async (args) => desk.run(name, args) }),
  ]),
);
const exporter = new OtelExporter({
  provider: { custom: { endpoint: `${process.env.RECORDER_SINK_URL}/v1/traces`, protocol: 'http/protobuf' } },
});
const expert = desk.mode.has('delegate')
  ? new Agent({ id: 'catalogue', name: 'catalogue', description: 'Knows the catalogue.', instructions: desk.system(), model, tools })
  : undefined;
const clerk = new Agent({
  id: 'desk-clerk',
  name: 'desk clerk',
  model,
  instructions: expert ? 'Ask whoever knows.' : desk.system(),
  ...(expert ? { agents: { catalogue: expert } } : { tools }),
});
const mastra = new Mastra({
  agents: { clerk },
  logger: false,
  observability: new Observability({ configs: { otel: { serviceName: 'library-desk', exporters: [exporter] } } }),
});

await desk.ending(async () => {
  const agent = mastra.getAgent('clerk');
  const sessionId = desk.session();
  const messages = [];
  for (const user of desk.users) {
    messages.push({ role: 'user', content: user });
    const options = { maxSteps: 6, tracingOptions: { metadata: { sessionId } } };
    if (desk.mode.has('stream')) {
      const result = await agent.stream(messages, options);
      await result.consumeStream();
      messages.push(...(await result.response).messages);
    } else {
      const result = await agent.generate(messages, options);
      messages.push(...result.response.messages);
    }
  }
});
await mastra.observability.shutdown();
await exporter.shutdown();
process.exit(0);
