// @ts-check
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { hookModel } from '@stint/provider-hooks';
import { openaiCompatible } from '@stint/provider-hooks/openai-compatible';
import { streamText } from 'ai';
import { runEngine } from '../dist/index.js';
import { judged, microseconds, sideBySide } from './measure.mjs';

const chunks = 20_000;
const body = Buffer.from(
  Array.from(
    { length: chunks },
    (_, index) =>
      `data: ${JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, delta: { content: `w${index} ` } }] })}\n\n`,
  ).join('') +
    `data: ${JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 5, completion_tokens: chunks, total_tokens: chunks + 5 } })}\n\ndata: [DONE]\n\n`,
);

/** Answers from memory, in pieces as a socket gives them. */
async function memoryFetch() {
  let offset = 0;
  const stream = new ReadableStream({
    pull(controller) {
      if (offset >= body.length) return controller.close();
      controller.enqueue(new Uint8Array(body.subarray(offset, offset + 16_384)));
      offset += 16_384;
    },
  });
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
}

const settings = {
  name: 'memory',
  baseURL: 'http://localhost/v1',
  apiKey: 'made-up',
  includeUsage: true,
  fetch: /** @type {typeof fetch} */ (/** @type {unknown} */ (memoryFetch)),
};
const hooks = {
  prepare: async () => ({ id: crypto.randomUUID() }),
  start: async () => undefined,
  finish: async () => undefined,
  fail: async () => undefined,
};

async function throughEngine() {
  const model = hookModel(openaiCompatible(settings).chatModel('m'), hooks);
  let seen = 0;
  for await (const event of runEngine({ model, prompt: 'go' })) if (event.type === 'text-delta') seen += 1;
  if (seen !== chunks) throw new Error(`${seen} of ${chunks} chunks`);
}

async function direct() {
  const model = createOpenAICompatible(settings).chatModel('m');
  const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'go' }] }] });
  const reader = stream.getReader();
  while (!(await reader.read()).done);
}

async function throughStreamText() {
  const { textStream } = streamText({
    model: createOpenAICompatible(settings).chatModel('m'),
    prompt: 'go',
    maxRetries: 0,
  });
  for await (const _text of textStream);
}

/** @param {() => Promise<void>} work */
const perSecond = (work) => async () => chunks / ((await microseconds(work)) / 1e6);

/** @param {number} rounds */
export async function streamRows(rounds) {
  const doStream = await sideBySide(rounds, perSecond(throughEngine), perSecond(direct));
  const peer = await sideBySide(rounds, perSecond(throughEngine), perSecond(throughStreamText));
  return [
    judged("streamed chunks, against the provider's doStream", '1/s', doStream, '>= 0.9'),
    judged('streamed chunks, against streamText', '1/s', peer, '>= 3'),
  ];
}
