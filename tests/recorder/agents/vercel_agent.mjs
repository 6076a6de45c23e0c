// The Vercel AI SDK, versions 5 to 7. DESK_MODE names, joined by hyphens: stream (streamText), agent (ToolLoopAgent),
// delegate (an agent as a tool), legacy (version 7 with version 6's spans), responses, anthropic, noinputs, nooutputs,
// openinference (spans translated by its processor).
import { createOpenAI } from '@ai-sdk/openai';
import * as ai from 'ai';
import * as desk from './desk.mjs';
import { exporter, recorded, start } from './telemetry.mjs';

const settingsOfSdk = {};
if (desk.mode.has('openinference')) {
  const { OpenInferenceBatchSpanProcessor } = await import('@arizeai/openinference-vercel');
  settingsOfSdk.spanProcessors = [new OpenInferenceBatchSpanProcessor({ exporter })];
  settingsOfSdk.traceExporter = undefined;
}
const sdk = start(settingsOfSdk);
const seven = 'registerTelemetry' in ai;
if (seven) {
  const { LegacyOpenTelemetry, OpenTelemetry } = await import('@ai-sdk/otel');
  ai.registerTelemetry(desk.mode.has('legacy') ? new LegacyOpenTelemetry() : new OpenTelemetry());
}

async function model() {
  if (desk.mode.has('anthropic')) {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ baseURL: `${process.env.ANTHROPIC_BASE_URL}/v1` })(desk.model);
  }
  const openai = createOpenAI();
  return desk.mode.has('responses') ? openai.responses(desk.model) : openai.chat(desk.model);
}

const tools = Object.fromEntries(
  desk.definitions.map(({ name, description, parameters }) => [
    name,
    ai.tool({ description, inputSchema: ai.jsonSchema(parameters), execute: (args) => desk.run(name, args) }),
  ]),
);
const telemetry = {
  isEnabled: true,
  functionId: 'desk-clerk',
  recordInputs: !desk.mode.has('noinputs'),
  recordOutputs: !desk.mode.has('nooutputs'),
};

function settings(session) {
  const told = session && !seven ? { ...telemetry, metadata: { sessionId: session } } : telemetry;
  const stop = seven ? ai.isStepCount ?? ai.stepCountIs : ai.stepCountIs;
  return {
    stopWhen: stop(6),
    maxRetries: 0,
    ...(seven ? { telemetry: told } : { experimental_telemetry: told }),
  };
}

async function agent(session) {
  const common = { model: await model(), ...settings(session) };
  if (!desk.mode.has('delegate')) {
    return new ai.ToolLoopAgent({ ...common, instructions: desk.system(), tools });
  }
  const expert = new ai.ToolLoopAgent({ ...common, instructions: desk.system(), tools });
  const ask = ai.tool({
    description: 'Ask the catalogue desk.',
    inputSchema: ai.jsonSchema({ type: 'object', properties: { question: { type: 'string' } }, required: ['question'] }),
    execute: async ({ question }) => (await expert.generate({ prompt: question })).text,
  });
  return new ai.ToolLoopAgent({ ...common, instructions: 'Ask whoever knows.', tools: { ask_catalogue: ask } });
}

await recorded(sdk, async () => {
  const session = seven ? undefined : desk.session();
  const clerk = desk.mode.has('agent') || desk.mode.has('delegate') ? await agent(session) : undefined;
  const instructions = clerk ? undefined : desk.system();
  const messages = [];
  for (const user of desk.users) {
    messages.push({ role: 'user', content: user });
    const common = clerk
      ? { messages }
      : { model: await model(), ...settings(session), [seven ? 'instructions' : 'system']: instructions, tools, messages };
    if (desk.mode.has('stream')) {
      const result = clerk ? await clerk.stream(common) : ai.streamText(common);
      await result.consumeStream();
      messages.push(...(await result.response).messages);
    } else {
      const result = clerk ? await clerk.generate(common) : await ai.generateText(common);
      messages.push(...result.response.messages);
    }
  }
});
