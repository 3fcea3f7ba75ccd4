import { context, type ContextManager, createContextKey, diag, type Span, trace } from '@opentelemetry/api';
import { composeHooks, hookModel } from '@stint/provider-hooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTelemetry, type TelemetryOptions } from './otel.js';
import { runEngine } from './run-engine.js';
import { finish, registryOf, scriptedModel } from './scripted-model.test.helper.js';
import type { EngineEvent, EngineTools } from './types.js';

const told: string[] = [];
const listen = (_message: string, error: Error): void => void told.push(error.message);
beforeAll(() => {
  diag.setLogger({
    error: listen,
    warn: () => undefined,
    info: () => undefined,
    debug: () => undefined,
    verbose: () => undefined,
  } as never);
});
afterAll(() => diag.disable());

function fails(): never {
  throw new Error('the exporter broke');
}

/** Tracers each of which breaks at another moment. */
const tracers: Readonly<Record<string, () => unknown>> = {
  'at the start of a span': fails,
  'in what a span is told, and at its end': () =>
    new Proxy(trace.wrapSpanContext({ traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 }), {
      get: (span, name: keyof Span) => (name === 'spanContext' ? () => span.spanContext() : fails),
    }),
};

test.each(Object.entries(tracers))('a tracer that breaks %s stops neither run nor tool', async (_when, startSpan) => {
  const telemetry = createTelemetry({ tracer: { startSpan } as unknown as NonNullable<TelemetryOptions['tracer']> });
  const steps: string[] = [];
  const { model, requests } = scriptedModel((index) =>
    index === 0 ? { calls: [{ tool: 'write' }] } : { text: 'done' },
  );
  const tools = telemetry.tools(registryOf({ write: { execute: () => steps.push('ran') } }));
  const events: EngineEvent[] = [];
  const run = runEngine({
    model: hookModel(
      model,
      composeHooks(
        {
          prepare: async () => ({ id: 'x' }),
          start: async () => undefined,
          finish: async () => undefined,
          fail: async () => undefined,
        },
        [telemetry.hooks],
      ),
    ),
    tools,
    prompt: 'go',
    operationStart: async () => void steps.push('begins'),
    operationEnd: async (_call, { effect }) => void steps.push(effect),
  });
  for await (const event of telemetry.trace(run)) events.push(event);
  expect(events.at(-1)).toMatchObject({ type: 'run-end', reason: 'completed', text: 'done' });
  expect(steps).toEqual(['begins', 'ran', 'applied']);
  expect(requests).toHaveLength(2);
  expect(told).toContain('the exporter broke');
});

test('arguments that have no JSON do not keep a call from running', async () => {
  const span = trace.wrapSpanContext({ traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 });
  const telemetry = createTelemetry({ tracer: { startSpan: () => span } as never, recordContent: true });
  const whole = registryOf({ count: { execute: () => 'counted' } });
  const parsed: EngineTools = {
    definitions: () => whole.definitions(),
    async prepare(name, input) {
      const prepared = await whole.prepare(name, input);
      return 'call' in prepared ? { call: { ...prepared.call, input: { count: 10n } } } : prepared;
    },
  };
  const { model } = scriptedModel((index) => (index === 0 ? { calls: [{ tool: 'count' }] } : { text: 'done' }));
  const { events } = await finish({ model, tools: telemetry.tools(parsed) });
  expect(events.find((event) => event.type === 'tool-call-end')).toMatchObject({ ran: true, result: { ok: true } });
});

/** A context manager whose `with` breaks before or after it called what it was given. */
function brokenManager(when: 'before' | 'after'): ContextManager {
  const manager = {
    active: () => root,
    enable: () => manager,
    disable: () => manager,
    bind: <T>(_own: unknown, target: T): T => target,
    with: (_own: unknown, call: () => unknown): unknown => {
      if (when === 'after') call();
      return fails();
    },
  };
  return manager as unknown as ContextManager;
}
const root = context.active().setValue(createContextKey('root'), true);

test.each(['before', 'after'] as const)('a context manager that breaks %s a call lets it run, once', async (when) => {
  context.setGlobalContextManager(brokenManager(when));
  let ran = 0;
  const telemetry = createTelemetry();
  const { model } = scriptedModel((index) => (index === 0 ? { calls: [{ tool: 'write' }] } : { text: 'done' }));
  const tools = telemetry.tools(registryOf({ write: { execute: () => (ran += 1) } }));
  const { end } = await finish({ model, tools });
  context.disable();
  expect({ reason: end.reason, ran }).toEqual({ reason: 'completed', ran: 1 });
});
