// A plain tool loop with OpenInference for JavaScript; the spans of the turn and the tools come from its helpers.
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai';
import { setSession, traceAgent, traceTool } from '@arizeai/openinference-core';
import { context } from '@opentelemetry/api';
import OpenAI from 'openai';
import * as desk from './desk.mjs';
import { answer, conversation } from './loops.mjs';
import { recorded, start } from './telemetry.mjs';

const sdk = start();
const instrumentation = new OpenAIInstrumentation();
instrumentation.manuallyInstrument(OpenAI);

await recorded(sdk, async () => {
  const talk = conversation(new OpenAI());
  const runTool = (name, args) => traceTool((each) => desk.run(name, each), { name })(args);
  const turn = traceAgent((user) => answer(talk, user, runTool), { name: 'desk clerk' });
  if (desk.mode.has('bare')) {
    for (const user of desk.users) await answer(talk, user, (name, args) => desk.run(name, args));
    return;
  }
  const within = setSession(context.active(), { sessionId: desk.session() });
  for (const user of desk.users) await context.with(within, () => turn(user));
});
