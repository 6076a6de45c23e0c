// OpenAI's Agents SDK for JavaScript, instrumented by OpenInference. DESK_MODE: stream, chat (chat completions), handoff,
// delegate (an agent as a tool).
import { OpenAIAgentsInstrumentation } from '@arizeai/openinference-instrumentation-openai-agents';
import * as agents from '@openai/agents';
import * as desk from './desk.mjs';
import { recorded, start } from './telemetry.mjs';

const sdk = start();
new OpenAIAgentsInstrumentation().manuallyInstrument(agents);
agents.setOpenAIAPI(desk.mode.has('chat') ? 'chat_completions' : 'responses');

const tools = desk.definitions.map(({ name, description, parameters }) =>
  agents.tool({ name, description, parameters, execute: (args) => desk.run(name, args) }),
);

function clerk() {
  const expert = () => new agents.Agent({ name: 'catalogue desk', model: desk.model, instructions: desk.system(), tools });
  if (desk.mode.has('handoff')) {
    return agents.Agent.create({ name: 'front desk', model: desk.model, instructions: 'Pass the guest on.', handoffs: [expert()] });
  }
  if (desk.mode.has('delegate')) {
    const ask = expert().asTool({ toolName: 'ask_catalogue', toolDescription: 'Ask the catalogue desk.' });
    return new agents.Agent({ name: 'front desk', model: desk.model, instructions: 'Ask whoever knows.', tools: [ask] });
  }
  return expert();
}

await recorded(sdk, async () => {
  const agent = clerk();
  const groupId = desk.session();
  let history = [];
  for (const user of desk.users) {
    history.push({ role: 'user', content: user });
    await agents.withTrace('library desk', async () => {
      const result = await agents.run(agent, history, { maxTurns: 6, stream: desk.mode.has('stream') });
      if (desk.mode.has('stream')) await result.completed;
      history = result.history;
    }, { groupId });
  }
  await agents.getGlobalTraceProvider().forceFlush();
});
