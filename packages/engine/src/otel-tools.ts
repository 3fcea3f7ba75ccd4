import { type Attributes, context, SpanKind, trace } from '@opentelemetry/api';
import type { ToolResult } from '@stint/tools';
import { currentRun, parentOf, type Recorder, setError } from './otel-recorder.js';
import type { EngineTools } from './types.js';

/** Tools each call of which runs in a span. */
export function traceTools(recorder: Recorder, tools: EngineTools): EngineTools {
  return {
    definitions: () => tools.definitions(),
    async prepare(name, input) {
      const prepared = await tools.prepare(name, input);
      if ('refused' in prepared) return prepared;
      const { call } = prepared;
      return {
        call: {
          ...call,
          run: (given) => runTraced(recorder, { name, input: call.input, id: given.toolCallId }, () => call.run(given)),
        },
      };
    },
  };
}

interface ToolCall {
  readonly name: string;
  readonly input: unknown;
  readonly id: string | undefined;
}

async function runTraced(recorder: Recorder, call: ToolCall, run: () => Promise<ToolResult>): Promise<ToolResult> {
  const common: Attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': call.name };
  const attributes: Attributes = {
    ...common,
    'gen_ai.tool.type': 'function',
    ...(call.id === undefined ? {} : { 'gen_ai.tool.call.id': call.id }),
    ...(recorder.recordsContent ? { 'gen_ai.tool.call.arguments': JSON.stringify(call.input) ?? 'null' } : {}),
  };
  const parent = parentOf();
  const span = recorder.tracer.startSpan(`execute_tool ${call.name}`, { kind: SpanKind.INTERNAL, attributes }, parent);
  const startedMs = performance.now();
  const own = trace.setSpan(parent, span);
  const result = await currentRun.run(own, () => context.with(own, run));
  if (recorder.recordsContent) span.setAttribute('gen_ai.tool.call.result', result.output);
  if (!result.ok) setError(span, result.code ?? 'failed');
  recorder.addDuration(startedMs, { ...common, ...(result.ok ? {} : { 'error.type': result.code ?? 'failed' }) });
  span.end();
  return result;
}
