// A plain tool loop with OpenTelemetry's instrumentation for JavaScript: a span per request, content in log records.
import { createRequire } from 'node:module';
import { OpenAIInstrumentation } from '@opentelemetry/instrumentation-openai';
import * as desk from './desk.mjs';
import { answer, conversation } from './loops.mjs';
import { recorded, start } from './telemetry.mjs';

const sdk = start({ instrumentations: [new OpenAIInstrumentation({ captureMessageContent: !desk.mode.has('off') })] });
const OpenAI = createRequire(import.meta.url)('openai');

await recorded(sdk, async () => {
  const talk = conversation(new OpenAI());
  for (const user of desk.users) await answer(talk, user, (name, args) => desk.run(name, args));
});
