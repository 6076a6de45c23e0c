// A plain tool loop with langfuse for JavaScript: its OpenAI wrapper, and observe for the turn and the tools.
import { observeOpenAI } from '@langfuse/openai';
import { LangfuseSpanProcessor } from '@langfuse/otel';
import { observe, propagateAttributes } from '@langfuse/tracing';
import { NodeSDK } from '@opentelemetry/sdk-node';
import OpenAI from 'openai';
import * as desk from './desk.mjs';
import { answer, conversation } from './loops.mjs';

const processor = new LangfuseSpanProcessor({
  publicKey: 'pk-lf-none',
  secretKey: 'sk-lf-none',
  baseUrl: process.env.RECORDER_SINK_URL,
});
const sdk = new NodeSDK({ spanProcessors: [processor] });
sdk.start();
await desk.ending(async () => {
  const talk = conversation(observeOpenAI(new OpenAI()));
  const runTool = (name, args) => observe(async (each) => desk.run(name, each), { name, asType: 'tool' })(args);
  const turn = observe((user) => answer(talk, user, runTool), { name: 'desk clerk', asType: 'agent' });
  await propagateAttributes({ sessionId: desk.session() }, async () => {
    for (const user of desk.users) await turn(user);
  });
});
await sdk.shutdown();
