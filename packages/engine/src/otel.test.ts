import { trace } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { composeHooks, hookModel, type ProviderHooks } from '@stint/provider-hooks';
import { openai } from '@stint/provider-hooks/openai';
import { type FaultName, lastResult, startSimulator, type Simulator } from '@stint/simulator';
import { createRegistry, defineTool } from '@stint/tools';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTelemetry, type TelemetryOptions } from './otel.js';
import { runEngine } from './run-engine.js';
import type { EngineOptions, RunEnd } from './types.js';

const secret = `secret ${Math.random()}`;
const spans = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
const measured = new InMemoryMetricExporter(AggregationTemporality.DELTA);
const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 });
const meterProvider = new MeterProvider({ readers: [reader] });
let faults: readonly (FaultName | null)[] = [];
let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({
    scenario: (request) =>
      lastResult(request, 'look') === null
        ? { text: `I look: ${secret}`, toolCalls: [{ name: 'look', input: { at: secret } }] }
        : { text: `seen ${secret}`, reasoning: 'hm' },
    faults: () => {
      const [next, ...rest] = faults;
      faults = rest;
      return next ?? null;
    },
  });
});
afterAll(async () => {
  await simulator.close();
  await Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()]);
});
beforeEach(async () => {
  spans.reset();
  await reader.forceFlush();
  measured.reset();
  faults = [];
});

const inner: string[] = [];
const look = defineTool({
  name: 'look',
  description: 'Looks',
  readOnly: true,
  inputSchema: { type: 'object' },
  execute: async () => {
    inner.push('ran');
    return `found ${secret}`;
  },
});
const guard: ProviderHooks = {
  prepare: async () => ({ id: crypto.randomUUID() }),
  start: async () => undefined,
  finish: async () => undefined,
  fail: async () => undefined,
};

async function run(
  options: TelemetryOptions = {},
  engine: Partial<EngineOptions> = {},
  hooks = guard,
): Promise<RunEnd> {
  const telemetry = createTelemetry({
    tracer: tracerProvider.getTracer('test'),
    meter: meterProvider.getMeter('test'),
    ...options,
  });
  const bare = openai({ baseURL: simulator.url, apiKey: 'made-up' })('m-1');
  const events = runEngine({
    model: hookModel(bare, composeHooks(hooks, [telemetry.hooks])),
    tools: telemetry.tools(createRegistry([look])),
    prompt: `go ${secret}`,
    system: `be ${secret}`,
    settings: { maxOutputTokens: 100, temperature: 0 },
    retry: { baseDelayMs: 0, maxDelayMs: 0 },
    ...engine,
  });
  let end: RunEnd | undefined;
  for await (const event of telemetry.trace(events, { agentName: 'looker', conversationId: 'thread-1' }))
    if (event.type === 'run-end') end = event;
  return end as RunEnd;
}

function named(name: string): readonly ReadableSpan[] {
  return spans.getFinishedSpans().filter((span) => span.name === name);
}

async function points(name: string): Promise<readonly { readonly attributes: object; readonly value: unknown }[]> {
  await reader.forceFlush();
  return measured
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .flatMap((scope) => scope.metrics)
    .filter(({ descriptor }) => descriptor.name === name)
    .flatMap(({ dataPoints }) => dataPoints as readonly { readonly attributes: object; readonly value: unknown }[]);
}

test('a run, its requests and its calls are spans with the names of the convention, requests and calls within the run', async () => {
  const end = await run({ costMicros: () => 7 });
  const [agent] = named('invoke_agent looker');
  const chats = named('chat m-1');
  const calls = named('execute_tool look');
  expect([chats.length, calls.length, spans.getFinishedSpans().length]).toEqual([2, 1, 4]);
  for (const span of [...chats, ...calls]) expect(span.parentSpanContext?.spanId).toBe(agent?.spanContext().spanId);
  expect(agent?.kind).toBe(0);
  expect(agent?.attributes).toMatchObject({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'looker',
    'gen_ai.conversation.id': 'thread-1',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'm-1',
    'gen_ai.usage.output_tokens': end.usage.outputTokens,
    'stint.run.reason': 'completed',
  });
  expect(chats.map((span) => span.kind)).toEqual([2, 2]);
  expect(chats[1]?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'm-1',
    'gen_ai.request.max_tokens': 100,
    'gen_ai.request.temperature': 0,
    'gen_ai.response.id': expect.stringMatching(/^sim_/),
    'gen_ai.response.model': 'm-1',
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.usage.input_tokens': expect.any(Number),
    'gen_ai.usage.reasoning.output_tokens': 1,
    'stint.turn.number': 2,
    'stint.cost.micros': 7,
  });
  expect(calls[0]?.attributes).toMatchObject({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'look',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': expect.stringMatching(/^call_/),
  });
});

test('tokens, durations and cost are measured by the conventional instruments', async () => {
  const end = await run({ costMicros: () => 7 });
  const tokens = await points('gen_ai.client.token.usage');
  const sum = (type: string): number =>
    tokens
      .filter(({ attributes }) => (attributes as Record<string, unknown>)['gen_ai.token.type'] === type)
      .reduce((total, { value }) => total + (value as { readonly sum: number }).sum, 0);
  expect([sum('input'), sum('output')]).toEqual([end.usage.inputTokens, end.usage.outputTokens]);
  const kinds = (await points('gen_ai.client.operation.duration')).map(
    ({ attributes }) => (attributes as Record<string, unknown>)['gen_ai.operation.name'],
  );
  expect(new Set(kinds)).toEqual(new Set(['chat', 'execute_tool']));
  expect(await points('stint.cost.micros')).toMatchObject([{ value: 14 }]);
});

test('what anybody said is recorded only if that is asked for', async () => {
  const told = (): string =>
    JSON.stringify(spans.getFinishedSpans().map(({ attributes, events }) => [attributes, events]));
  await run();
  expect(told()).not.toContain(secret);
  expect(told()).not.toMatch(/messages|instructions|arguments|result/);
  spans.reset();
  await run({ recordContent: true });
  const chat = named('chat m-1')[1]?.attributes ?? {};
  expect(JSON.parse(String(chat['gen_ai.system_instructions']))).toEqual([{ type: 'text', content: `be ${secret}` }]);
  const input = JSON.parse(String(chat['gen_ai.input.messages'])) as { role: string; parts: { type: string }[] }[];
  expect(input.map(({ role, parts }) => [role, ...parts.map((part) => part.type)])).toEqual([
    ['user', 'text'],
    ['assistant', 'text', 'tool_call'],
    ['tool', 'tool_call_response'],
  ]);
  expect(JSON.parse(String(chat['gen_ai.output.messages']))).toMatchObject([
    { role: 'assistant', finish_reason: 'stop', parts: [{ type: 'reasoning' }, { content: `seen ${secret}` }] },
  ]);
  expect(named('execute_tool look')[0]?.attributes).toMatchObject({
    'gen_ai.tool.call.arguments': JSON.stringify({ at: secret }),
    'gen_ai.tool.call.result': `found ${secret}`,
  });
});

test('each try is a span of its own; the failed one says why, and counts no tokens that nobody measured', async () => {
  faults = ['rate_limit', 'stream_cut'];
  await run();
  const chats = named('chat m-1');
  expect(chats.map((span) => span.attributes['error.type'])).toEqual([
    'rate_limited',
    'incomplete',
    undefined,
    undefined,
  ]);
  expect(chats[0]?.status.code).toBe(2);
  expect(chats[0]?.attributes).toMatchObject({ 'http.response.status_code': 429, 'stint.request.sent': true });
  expect(chats[0]?.attributes).not.toHaveProperty('gen_ai.usage.input_tokens');
  expect(chats[1]?.attributes['stint.turn.retry_of']).toEqual(expect.any(String));
});

test('a denied request and a run that is left early end their spans', async () => {
  const denying = { ...guard, start: () => Promise.reject(new Error('no budget')) };
  expect((await run({}, {}, denying)).reason).toBe('denied');
  expect(named('chat m-1')[0]?.attributes).toMatchObject({ 'error.type': 'denied', 'stint.request.sent': false });
  expect(named('invoke_agent looker')[0]?.attributes['error.type']).toBe('denied');
  spans.reset();
  const telemetry = createTelemetry({ tracer: tracerProvider.getTracer('test') });
  const bare = openai({ baseURL: simulator.url, apiKey: 'made-up' })('m-1');
  const model = hookModel(bare, composeHooks(guard, [telemetry.hooks]));
  for await (const event of telemetry.trace(runEngine({ model, prompt: 'go' }))) if (event.type === 'text-delta') break;
  expect(named('chat m-1')).toHaveLength(1);
  expect(named('invoke_agent')[0]?.attributes['error.type']).toBe('aborted');
});

test('without an SDK everything runs and nothing is recorded', async () => {
  const before = inner.length;
  expect(trace.getTracer('x').startSpan('y').isRecording()).toBe(false);
  const { tracer: _tracer, meter: _meter, ...none } = {} as TelemetryOptions;
  const telemetry = createTelemetry(none);
  const bare = openai({ baseURL: simulator.url, apiKey: 'made-up' })('m-1');
  const model = hookModel(bare, composeHooks(guard, [telemetry.hooks]));
  const reasons: string[] = [];
  const tools = telemetry.tools(createRegistry([look]));
  for await (const event of telemetry.trace(runEngine({ model, tools, prompt: 'go' })))
    if (event.type === 'run-end') reasons.push(event.reason);
  expect(reasons).toEqual(['completed']);
  expect(inner.length).toBe(before + 1);
  expect(spans.getFinishedSpans()).toEqual([]);
});
