import { type FaultName, startSimulator, type Simulator } from '@stint/simulator';
import { type FreshStore, freshSqlite } from '@stint/storage/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cappedFetch, refusalReasonOf } from './fetch.js';
import { createLedger, type Ledger } from './ledger.js';

const answer = `Ten times ${Math.floor(Math.random() * 90)}, ${'and so on '.repeat(20)}`;
let simulator: Simulator;
let store: FreshStore<object>;
let ledger: Ledger;
let faults: (FaultName | null)[];

beforeEach(async () => {
  faults = [];
  simulator = await startSimulator({ scenario: () => ({ text: answer }), faults: () => faults.shift() });
  store = freshSqlite();
  ledger = createLedger(await store.open());
  await ledger.migrate();
  await ledger.createAccount({ id: 'app', limits: { maxTokens: 100_000 } });
});

afterEach(async () => {
  await simulator.close();
  await store.remove();
});

const shapes = {
  'chat/completions': {
    messages: [{ role: 'user', content: 'How many?' }],
    max_completion_tokens: 300,
    stream_options: { include_usage: true },
  },
  responses: { input: 'How many?', max_output_tokens: 300 },
  messages: { messages: [{ role: 'user', content: 'How many?' }], max_tokens: 300 },
} as const;

function post(path: keyof typeof shapes, stream: boolean): [string, RequestInit] {
  const body = JSON.stringify({ model: 'any', stream, ...shapes[path] });
  return [`${simulator.url}/${path}`, { method: 'POST', body, headers: { 'content-type': 'application/json' } }];
}

/** Ids and times in an answer differ from request to request. */
const steady = (text: string): string =>
  text
    .replaceAll(/"(id|created|created_at|item_id)":("[^"]*"|\d+)/gu, '')
    .replaceAll(/(msg|resp|chatcmpl)[-_]\w+/gu, '');

for (const path of Object.keys(shapes) as (keyof typeof shapes)[]) {
  it.each([false, true])(`passes every byte of /${path} through and settles from it (stream: %s)`, async (stream) => {
    const capped = cappedFetch(ledger, { account: 'app' });
    const response = await capped(...post(path, stream));
    const text = await response.text();
    const plain = await fetch(...post(path, stream));
    expect(response.status).toBe(200);
    expect(steady(text)).toBe(steady(await plain.text()));
    const { usage, held } = await ledger.snapshotAccount('app');
    expect(usage).toMatchObject({ requests: 1, open: 0, unknown: 0, unmeasured: 0 });
    expect(usage.tokens).toBeGreaterThan(20);
    expect(usage.tokens).toBeLessThan(300);
    expect(held.tokens).toBe(0);
  });
}

it('sends nothing that does not fit, has no model, or is no request to a model', async () => {
  const capped = cappedFetch(ledger, { account: 'app' });
  const [url, init] = post('messages', false);
  const large = JSON.stringify({ model: 'any', ...shapes.messages, max_tokens: 100_001 });
  const refused = await capped(url, { ...init, body: large }).catch((error: unknown) => error);
  expect(refusalReasonOf(refused)?.code).toBe('tokens_exhausted');
  await expect(capped(url, { ...init, body: '{}' })).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(capped(url, { ...init, body: 'no json' })).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(capped(`${simulator.url}/embeddings`, init)).rejects.toMatchObject({ code: 'invalid_input' });
  expect(simulator.requests()).toHaveLength(0);
});

it.each([
  ['rate_limit', 0, 0],
  ['bad_request', 0, 0],
  ['server_error_before_bytes', 1, 0],
  ['reset_after_read', 1, 0],
  ['stream_cut', 1, 0],
  ['stream_end_without_stop', 1, 0],
  ['no_usage', 0, 1],
  ['zero_usage', 0, 1],
] as const)('books %s: %i unknown, %i unmeasured', async (fault, unknown, unmeasured) => {
  faults = [fault];
  const capped = cappedFetch(ledger, { account: 'app' });
  await capped(...post('chat/completions', true))
    .then((response) => response.text())
    .catch(() => 'broken');
  const { usage } = await ledger.snapshotAccount('app');
  expect(usage).toMatchObject({ requests: 1, open: 0, unknown, unmeasured });
  expect(usage.tokens > 300).toBe(unknown + unmeasured > 0);
});

it('books a stream that the caller stops reading as unknown, with the usage so far', async () => {
  await simulator.close();
  const pauseUntil = [{ afterPieces: 1, gate: 'never' }];
  simulator = await startSimulator({ scenario: () => ({ text: answer, pauseUntil }) });
  const capped = cappedFetch(ledger, { account: 'app' });
  const response = await capped(...post('messages', true));
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  await reader.cancel();
  expect((await ledger.snapshotAccount('app')).usage).toMatchObject({ requests: 1, open: 0, unknown: 1 });
});

it('releases a request that found nobody to connect to, and holds none for a signal that is aborted', async () => {
  const capped = cappedFetch(ledger, { account: 'app' });
  const [url, init] = post('messages', false);
  await expect(capped(url, { ...init, signal: AbortSignal.abort() })).rejects.toThrow();
  await simulator.close();
  await expect(capped(url, init)).rejects.toThrow();
  expect((await ledger.snapshotAccount('app')).usage).toMatchObject({ requests: 1, tokens: 0, open: 0 });
  simulator = await startSimulator();
});

it('case L31: holds a request that continues an answer with what that answer took', async () => {
  const capped = cappedFetch(ledger, { account: 'app' });
  const [url, init] = post('responses', false);
  const long = { model: 'any', input: 'Why? '.repeat(2_000), max_output_tokens: 300 };
  const first = (await (await capped(url, { ...init, body: JSON.stringify(long) })).json()) as { id: string };
  const { tokens } = (await ledger.snapshotAccount('app')).usage;
  const estimateOf = async (previous: object): Promise<number> => {
    const body = JSON.stringify({ model: 'any', input: 'And?', max_output_tokens: 300, ...previous });
    const before = (await ledger.exportEntries('app')).length;
    await (await capped(url, { ...init, body })).text();
    const line = (await ledger.exportEntries('app', before))[0];
    return (await ledger.readRequest(line?.request ?? ''))?.estimate.tokens ?? 0;
  };
  const bare = await estimateOf({});
  expect(await estimateOf({ previous_response_id: first.id })).toBeGreaterThanOrEqual(bare + tokens);
  expect(await estimateOf({ previous_response_id: 'of another process' })).toBeLessThan(bare + 100);
});

it('case L31: holds a request of a conversation with what its last answer took', async () => {
  const usage = { input_tokens: 5_000, output_tokens: 20, total_tokens: 5_020, input_tokens_details: {} };
  const answers = async () => Response.json({ id: 'resp_1', model: 'any', usage });
  const capped = cappedFetch(ledger, { account: 'app', fetch: answers });
  const body = JSON.stringify({ model: 'any', input: 'And?', max_output_tokens: 300, conversation: { id: 'conv_1' } });
  const heldBy = async () => {
    const before = (await ledger.exportEntries('app')).length;
    await capped('https://x.test/v1/responses', { method: 'POST', body });
    const line = (await ledger.exportEntries('app', before))[0];
    return (await ledger.readRequest(line?.request ?? ''))?.estimate.tokens ?? 0;
  };
  const first = await heldBy();
  expect(await heldBy()).toBeGreaterThanOrEqual(first + 5_020);
});

it.each(['generateContent', 'streamGenerateContent'])("settles Google's %s from its answer", async (method) => {
  const usageMetadata = { promptTokenCount: 30, candidatesTokenCount: 12, thoughtsTokenCount: 8, totalTokenCount: 50 };
  const last = { candidates: [{ finishReason: 'STOP' }], usageMetadata, modelVersion: 'gemini-x', responseId: 'r' };
  const events = [{ candidates: [{ content: {} }], usageMetadata: { promptTokenCount: 30 } }, last];
  const stream = new Response(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  });
  const capped = cappedFetch(ledger, {
    account: 'app',
    fetch: async () => (method === 'generateContent' ? Response.json(last) : stream),
  });
  const body = JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }], generationConfig: { maxOutputTokens: 90 } });
  await (await capped(`https://x.test/v1beta/models/gemini-x:${method}`, { method: 'POST', body })).text();
  const { usage } = await ledger.snapshotAccount('app');
  expect(usage).toMatchObject({ requests: 1, tokens: 50, open: 0, unknown: 0, unmeasured: 0 });
});

it('sends nothing whose output has no length that is a number, or several answers without one', async () => {
  const capped = cappedFetch(ledger, { account: 'app' });
  const [url, init] = post('chat/completions', false);
  for (const wrong of [{ max_tokens: '5' }, { max_tokens: 1.5 }, { max_completion_tokens: -1 }, { n: '2' }, { n: 3 }]) {
    const body = JSON.stringify({ model: 'any', messages: [], ...wrong });
    await expect(capped(url, { ...init, body }), JSON.stringify(wrong)).rejects.toMatchObject({
      code: 'invalid_input',
    });
  }
  const both = JSON.stringify({ model: 'any', messages: [], max_tokens: 10, max_completion_tokens: 50_001, n: 2 });
  const refused = await capped(url, { ...init, body: both }).catch((error: unknown) => error);
  expect(refusalReasonOf(refused)?.code).toBe('tokens_exhausted');
  expect(simulator.requests()).toHaveLength(0);
});

it('counts an image by its rule and not by its bytes, and a tool that the provider runs by its fee', async () => {
  await ledger.createAccount({ id: 'money', limits: { maxCostMicros: 200_000 } });
  const capped = cappedFetch(ledger, { account: 'money', provider: 'simulated' });
  const [url, init] = post('messages', false);
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(2_000_000) } };
  const ask = { model: 'any', max_tokens: 10, messages: [{ role: 'user', content: [image] }] };
  await (await capped(url, { ...init, body: JSON.stringify(ask) })).text();
  const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 50 };
  const refused = await capped(url, { ...init, body: JSON.stringify({ ...ask, tools: [search] }) }).catch(
    (error: unknown) => error,
  );
  expect(refusalReasonOf(refused)?.code).toBe('cost_exhausted');
});
