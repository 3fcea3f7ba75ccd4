import { type Attributes, type Context, context, type Span, SpanKind, trace } from '@opentelemetry/api';
import type { ToolResult } from '@stint/tools';
import { currentRun, parentOf, quietly, type Recorder, setError } from './otel-recorder.js';
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
  const parent = parentOf();
  const span = recorder.startSpan(
    `execute_tool ${call.name}`,
    SpanKind.INTERNAL,
    () => attributesOf(recorder, call),
    parent,
  );
  const startedMs = performance.now();
  let result: ToolResult | null = null;
  try {
    result = await runWithin(trace.setSpan(parent, span), run);
    return result;
  } finally {
    quietly(() => record(recorder, { span, name: call.name, startedMs }, result));
    quietly(() => span.end());
  }
}

function attributesOf(recorder: Recorder, { name, id, input }: ToolCall): Attributes {
  return {
    ...commonOf(name),
    'gen_ai.tool.type': 'function',
    ...(id === undefined ? {} : { 'gen_ai.tool.call.id': id }),
    ...(recorder.recordsContent ? { 'gen_ai.tool.call.arguments': JSON.stringify(input) ?? 'null' } : {}),
  };
}

function commonOf(name: string): Attributes {
  return { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name };
}

/** A context manager that fails before the call began does not keep it from running. */
async function runWithin(own: Context, run: () => Promise<ToolResult>): Promise<ToolResult> {
  let running: Promise<ToolResult> | null = null;
  const begin = async (): Promise<ToolResult> => run(); // its own throw is not one of the context's
  quietly(() => {
    currentRun.run(own, () => void context.with(own, () => (running = begin())));
  });
  return await (running ?? begin());
}

interface Traced {
  readonly span: Span;
  readonly name: string;
  readonly startedMs: number;
}

/** Without a result the call has thrown. */
function record(recorder: Recorder, { span, name, startedMs }: Traced, result: ToolResult | null): void {
  const failure = result?.ok === true ? {} : { 'error.type': result?.code ?? 'failed' };
  recorder.addDuration(startedMs, { ...commonOf(name), ...failure });
  if (result === null || !result.ok) setError(span, result?.code ?? 'failed');
  if (recorder.recordsContent && result) span.setAttribute('gen_ai.tool.call.result', result.output);
}
