// A plain tool loop with Traceloop's SDK for JavaScript.
import { createRequire } from 'node:module';
import * as desk from './desk.mjs';

const require = createRequire(import.meta.url);
const traceloop = require('@traceloop/node-server-sdk');
const { OpenAI } = require('openai');
traceloop.initialize({
  appName: 'library-desk',
  apiKey: 'not-a-key',
  baseUrl: process.env.RECORDER_SINK_URL,
  instrumentModules: { openAI: OpenAI },
  silenceInitializationMessage: true,
  traceContent: !desk.mode.has('off'),
});
const { answer, conversation } = await import('./loops.mjs');

await desk.ending(async () => {
  const talk = conversation(new OpenAI());
  const runTool = (name, args) => traceloop.withTool({ name }, async (each) => desk.run(name, each), args);
  const visit = (user) =>
    traceloop.withWorkflow({ name: 'library_desk' }, () =>
      traceloop.withAgent({ name: 'desk_clerk' }, (each) => answer(talk, each, runTool), user),
    );
  const session = desk.session();
  for (const user of desk.users) await traceloop.withAssociationProperties({ session_id: session }, () => visit(user));
});
await traceloop.forceFlush();
process.exit(0);
