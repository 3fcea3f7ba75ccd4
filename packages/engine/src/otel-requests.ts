import { type Attributes, type Span, SpanKind } from '@opentelemetry/api';
import type { FrozenRequest, ProviderHooks, TurnHandle } from '@stint/provider-hooks';
import { providerNameOf, requestAttributes, responseAttributes, usageAttributes } from './otel-attributes.js';
import { requestContent, responseContent } from './otel-content.js';
import { parentOf, type Recorder, setError } from './otel-recorder.js';

interface RequestHandle extends TurnHandle {
  readonly span: Span;
  readonly request: FrozenRequest;
  readonly startedMs: number;
}

/** A span and the measurements of each request. */
export function requestHooks(recorder: Recorder): ProviderHooks {
  const hooks: ProviderHooks<RequestHandle> = {
    role: 'observer',
    async prepare(request) {
      const attributes = { ...requestAttributes(request), ...(recorder.recordsContent ? requestContent(request) : {}) };
      const name = `chat ${request.modelId}`;
      const span = recorder.tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parentOf());
      return { id: span.spanContext().spanId || 'unsampled', span, request, startedMs: performance.now() };
    },
    async start({ span }) {
      span.addEvent('stint.request.sent');
    },
    async identified({ span }, responseId) {
      span.setAttribute('gen_ai.response.id', responseId);
    },
    async finish(handle, response) {
      const { span, request } = handle;
      span.setAttributes(responseAttributes(response));
      if (recorder.recordsContent) span.setAttributes(responseContent(response));
      const cost = recorder.costMicros?.(request, response) ?? null;
      const measured = { ...commonOf(request), 'gen_ai.response.model': response.model };
      if (cost !== null) {
        span.setAttribute('stint.cost.micros', cost);
        recorder.addCost(cost, measured);
      }
      recorder.addTokens(response.usage, measured);
      recorder.addDuration(handle.startedMs, measured);
      span.end();
    },
    async fail(handle, error, facts) {
      const { span, request } = handle;
      span.setAttributes({
        ...usageAttributes(facts.usage),
        'stint.request.sent': facts.sent,
        ...(facts.status === null ? {} : { 'http.response.status_code': facts.status }),
      });
      setError(span, error.code);
      recorder.addTokens(facts.usage, commonOf(request));
      recorder.addDuration(handle.startedMs, { ...commonOf(request), 'error.type': error.code });
      span.end();
    },
  };
  return hooks as unknown as ProviderHooks;
}

/** What all measurements of a request carry: few values each, so that series stay few. */
function commonOf(request: FrozenRequest): Attributes {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerNameOf(request.provider),
    'gen_ai.request.model': request.modelId,
  };
}
