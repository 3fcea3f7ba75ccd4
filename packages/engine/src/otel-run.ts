import { type Attributes, type Span, SpanKind, trace } from '@opentelemetry/api';
import { providerNameOf, usageAttributes } from './otel-attributes.js';
import { currentRun, parentOf, quietly, type Recorder, setError } from './otel-recorder.js';
import type { EngineEvent, RunEnd } from './types.js';

/** What a run is called on its span. */
export interface RunName {
  readonly agentName?: string;
  /** Id of the conversation that the run belongs to: a work item, a thread. */
  readonly conversationId?: string;
}

/** The events of a run, within its span. */
export async function* traceRun(
  recorder: Recorder,
  events: AsyncIterable<EngineEvent>,
  { agentName, conversationId }: RunName,
): AsyncGenerator<EngineEvent, undefined> {
  const attributes: Attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    ...(agentName === undefined ? {} : { 'gen_ai.agent.name': agentName }),
    ...(conversationId === undefined ? {} : { 'gen_ai.conversation.id': conversationId }),
  };
  const name = agentName === undefined ? 'invoke_agent' : `invoke_agent ${agentName}`;
  const span = recorder.startSpan(name, SpanKind.INTERNAL, () => attributes, parentOf());
  const own = trace.setSpan(parentOf(), span);
  const iterator = events[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      // The loop starts with the first event that is asked for, and so runs in this context.
      const { value, done } = await currentRun.run(own, () => iterator.next());
      if (done === true) break;
      quietly(() => describe(span, value));
      isOver ||= value.type === 'run-end';
      yield value;
    }
  } finally {
    if (!isOver) {
      await iterator.return?.();
      quietly(() => setError(span, 'aborted'));
    }
    quietly(() => span.end());
  }
}

function describe(span: Span, event: EngineEvent): void {
  if (event.type === 'turn-start') span.setAttributes(modelAttributes(event.model));
  if (event.type === 'run-end') endRun(span, event);
}

function modelAttributes(model: string): Attributes {
  const at = model.indexOf(':');
  return { 'gen_ai.provider.name': providerNameOf(model.slice(0, at)), 'gen_ai.request.model': model.slice(at + 1) };
}

function endRun(span: Span, end: RunEnd): void {
  span.setAttributes({
    ...(end.requests > 0 ? usageAttributes(end.usage) : {}),
    'stint.run.reason': end.reason,
    'stint.run.requests': end.requests,
    'stint.run.unmeasured_turns': end.unmeasuredTurns,
  });
  if (end.error !== null) setError(span, end.error.code);
}
