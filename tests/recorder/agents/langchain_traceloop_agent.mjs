// LangChain for JavaScript: an agent with tools, instrumented by Traceloop's SDK.
import { createRequire } from 'node:module';
import * as desk from './desk.mjs';
const require = createRequire(import.meta.url);
const traceloop = require('@traceloop/node-server-sdk');
traceloop.initialize({
  appName: 'library-desk',
  apiKey: 'not-a-key',
  baseUrl: process.env.RECORDER_SINK_URL,
  instrumentModules: { langchain: { callbackManagerModule: require('@langchain/core/callbacks/manager') } },
  silenceInitializationMessage: true,
});
const { ChatOpenAI } = require('@langchain/openai');
const { createAgent, tool } = require('langchain');
await desk.ending(async () => {
  const tools = desk.definitions.map(({ name, description, parameters }) =>
    tool((args) => JSON.stringify(desk.run(name, args)), { name, description, schema: parameters }),
  );
  const agent = createAgent({ name: 'desk_clerk', model: new ChatOpenAI({ model: desk.model }), tools, systemPrompt: desk.system() });
  const session = desk.session();
  let messages = [];
  for (const user of desk.users) {
    await traceloop.withAssociationProperties({ session_id: session }, async () => {
      messages = (await agent.invoke({ messages: [...messages, { role: 'user', content: user }] })).messages;
    });
  }
});
await traceloop.forceFlush();
process.exit(0);
