// LangChain for JavaScript: an agent with tools, instrumented by OpenInference.
import { setSession } from '@arizeai/openinference-core';
import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain';
import * as callbacks from '@langchain/core/callbacks/manager';
import { ChatOpenAI } from '@langchain/openai';
import { context } from '@opentelemetry/api';
import { createAgent, tool } from 'langchain';
import * as desk from './desk.mjs';
import { recorded, start } from './telemetry.mjs';

const sdk = start();
new LangChainInstrumentation().manuallyInstrument(callbacks);

await recorded(sdk, async () => {
  const tools = desk.definitions.map(({ name, description, parameters }) =>
    tool((args) => JSON.stringify(desk.run(name, args)), { name, description, schema: parameters }),
  );
  const model = new ChatOpenAI({ model: desk.model });
  const agent = createAgent({ name: 'desk_clerk', model, tools, systemPrompt: desk.system() });
  let messages = [];
  await context.with(setSession(context.active(), { sessionId: desk.session() }), async () => {
    for (const user of desk.users) {
      messages = (await agent.invoke({ messages: [...messages, { role: 'user', content: user }] })).messages;
    }
  });
});
