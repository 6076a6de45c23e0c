// Tool loops over OpenAI's SDK for JavaScript, as one writes them without a framework: see loops.py.
import * as desk from './desk.mjs';

/** Answer the user: ask the model and run its calls, until it calls no more. */
export async function answer(conversation, user, runTool) {
  conversation.say(user);
  for (;;) {
    const { text, calls } = await conversation.ask();
    if (!calls.length) return text;
    for (const call of calls) conversation.tell(call, await outcome(call, runTool));
  }
}

async function outcome({ id, name, args }, runTool) {
  if (!desk.definitions.some((tool) => tool.name === name)) return `Error: there is no tool called ${name}.`;
  try {
    return JSON.stringify(await runTool(name, JSON.parse(args), id));
  } catch (error) {
    return `Error: ${error.message}`;
  }
}

/** Chat completions. */
export class Chat {
  constructor(client) {
    this.client = client;
    this.messages = [{ role: 'system', content: desk.system() }];
    this.tools = desk.definitions.map((tool) => ({ type: 'function', function: tool }));
  }
  say(text) {
    this.messages.push({ role: 'user', content: text });
  }
  async ask() {
    const request = { model: desk.model, messages: this.messages, tools: this.tools };
    const message = desk.mode.has('stream') ? await this.read(request) : (await this.client.chat.completions.create(request)).choices[0].message;
    this.messages.push(message);
    const calls = (message.tool_calls ?? []).map((call) => ({ id: call.id, name: call.function.name, args: call.function.arguments }));
    return { text: message.content, calls };
  }
  async read(request) {
    const message = { role: 'assistant', content: null };
    for await (const chunk of await this.client.chat.completions.create({ ...request, stream: true })) {
      const delta = chunk.choices[0]?.delta ?? {};
      if (delta.content) message.content = (message.content ?? '') + delta.content;
      for (const piece of delta.tool_calls ?? []) {
        message.tool_calls ??= [];
        const call = (message.tool_calls[piece.index] ??= { id: piece.id, type: 'function', function: { name: piece.function.name, arguments: '' } });
        call.function.arguments += piece.function.arguments ?? '';
      }
    }
    return message;
  }
  tell(call, text) {
    this.messages.push({ role: 'tool', tool_call_id: call.id, content: text });
  }
}

/** Responses. */
export class Responses {
  constructor(client) {
    this.client = client;
    this.instructions = desk.system();
    this.items = [];
    this.tools = desk.definitions.map((tool) => ({ type: 'function', strict: true, ...tool }));
  }
  say(text) {
    this.items.push({ role: 'user', content: text });
  }
  async ask() {
    const response = await this.client.responses.create({ model: desk.model, instructions: this.instructions, input: this.items, tools: this.tools });
    this.items.push(...response.output);
    const calls = response.output.filter((item) => item.type === 'function_call');
    return { text: response.output_text, calls: calls.map((call) => ({ id: call.call_id, name: call.name, args: call.arguments })) };
  }
  tell(call, text) {
    this.items.push({ type: 'function_call_output', call_id: call.id, output: text });
  }
}

export const conversation = (client) => (desk.mode.has('responses') ? new Responses(client) : new Chat(client));
