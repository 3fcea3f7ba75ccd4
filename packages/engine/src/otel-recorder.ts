import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  context,
  type Context,
  type Counter,
  diag,
  type Histogram,
  INVALID_SPAN_CONTEXT,
  type Meter,
  metrics,
  type Span,
  type SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import type { FrozenRequest, TurnResponse, Usage } from '@stint/provider-hooks';
import { inputTokensOf } from './otel-attributes.js';

export interface TelemetryOptions {
  /** @default the global one, `trace.getTracer('@stint/engine')` */
  readonly tracer?: Tracer;
  /** @default the global one, `metrics.getMeter('@stint/engine')` */
  readonly meter?: Meter;
  /** Records prompts, answers, arguments and results of tools. They may hold anything a person or a file says. @default false */
  readonly recordContent?: boolean;
  /** What an answer cost in millionths of a dollar; null if it has no price. Recorded as `stint.cost.micros`. @default no cost */
  readonly costMicros?: (request: FrozenRequest, response: TurnResponse) => number | null;
}

/** The context of the run that is at work: a parent even where no context manager is registered. */
export const currentRun = new AsyncLocalStorage<Context>();

/** The parent of what is begun now. */
export function parentOf(): Context {
  return currentRun.getStore() ?? context.active();
}

/** Spans and instruments of one set-up. */
export class Recorder {
  readonly tracer: Tracer;
  readonly recordsContent: boolean;
  readonly costMicros: TelemetryOptions['costMicros'];
  readonly #tokens: Histogram;
  readonly #duration: Histogram;
  readonly #cost: Counter;

  constructor(options: TelemetryOptions) {
    const meter = options.meter ?? metrics.getMeter('@stint/engine');
    this.tracer = options.tracer ?? trace.getTracer('@stint/engine');
    this.recordsContent = options.recordContent ?? false;
    this.costMicros = options.costMicros;
    this.#tokens = meter.createHistogram('gen_ai.client.token.usage', {
      description: 'Number of input and output tokens used.',
      unit: '{token}',
      advice: { explicitBucketBoundaries: Array.from({ length: 14 }, (_, power) => 4 ** power) },
    });
    this.#duration = meter.createHistogram('gen_ai.client.operation.duration', {
      description: 'GenAI operation duration.',
      unit: 's',
      advice: { explicitBucketBoundaries: Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power) },
    });
    this.#cost = meter.createCounter('stint.cost.micros', {
      description: 'Cost of answers with a known price, in millionths of a dollar.',
    });
  }

  /** Begins a span. Where none can be made the answer is one that records nothing. */
  startSpan(name: string, kind: SpanKind, attributes: () => Attributes, parent: Context): Span {
    const begun = quietly(() => this.tracer.startSpan(name, { kind, attributes: attributes() }, parent));
    return begun ?? trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
  }

  addTokens(usage: Usage | null, attributes: Attributes): void {
    if (usage === null) return;
    this.#tokens.record(inputTokensOf(usage), { ...attributes, 'gen_ai.token.type': 'input' });
    this.#tokens.record(usage.outputTokens, { ...attributes, 'gen_ai.token.type': 'output' });
  }

  addDuration(sinceMs: number, attributes: Attributes): void {
    this.#duration.record((performance.now() - sinceMs) / 1000, attributes);
  }

  addCost(micros: number, attributes: Attributes): void {
    this.#cost.add(micros, attributes);
  }
}

/** Telemetry decides nothing: what it throws is told to OpenTelemetry's own log, and the answer is undefined. */
export function quietly<T>(record: () => T): T | undefined {
  try {
    return record();
  } catch (error) {
    diag.error('@stint/engine could not record', error);
    return undefined;
  }
}

/** Marks a span as failed, by a code of few values. */
export function setError(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR, message: type });
}
