// VoltAgent: an agent with tools, its own tracing. DESK_MODE: stream, delegate (an agent that has another one).
import { createOpenAI } from '@ai-sdk/openai';
import * as volt from '@voltagent/core';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { jsonSchema } from 'ai';
import * as desk from './desk.mjs';

const openai = createOpenAI();
const model = openai.chat(desk.model);
const processor = new BatchSpanProcessor(new OTLPTraceExporter());
const observability = volt.createVoltAgentObservability({ serviceName: 'library-desk', spanProcessors: [processor] });
const tools = desk.definitions.map(({ name, description, parameters }) =>
  volt.createTool({ name, description, parameters: jsonSchema(parameters), execute: async (args) => desk.run(name, args) }),
);
const expert = () => new volt.Agent({ name: 'catalogue', purpose: 'Knows the catalogue.', instructions: desk.system(), model, tools, observability });
const clerk = desk.mode.has('delegate')
  ? new volt.Agent({ name: 'front', instructions: 'Ask whoever knows.', model, subAgents: [expert()], observability })
  : expert();

await desk.ending(async () => {
  const conversationId = desk.session();
  const messages = [];
  for (const user of desk.users) {
    messages.push({ role: 'user', content: user });
    const options = { conversationId, userId: 'guest', maxSteps: 6 };
    if (desk.mode.has('stream')) {
      const result = await clerk.streamText(messages, options);
      for await (const _ of result.fullStream);
      messages.push({ role: 'assistant', content: await result.text });
    } else {
      const result = await clerk.generateText(messages, options);
      messages.push(...result.response.messages);
    }
  }
});
await processor.forceFlush();
process.exit(0);
