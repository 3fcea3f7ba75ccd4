/**
 * OpenTelemetry for runs: spans and metrics with the names of the GenAI conventions (semantic conventions 1.41, status
 * development), and names of our own under `stint.` for what those lack. Nothing is recorded unless this module is used.
 *
 * - `invoke_agent`: one run, by `trace(runEngine(...))`
 * - `chat`: one request to a provider, by `hooks`; each retry is a request of its own, with a span of its own
 * - `execute_tool`: one call that ran, by `tools(registry)`
 */
import type { ProviderHooks } from '@stint/provider-hooks';
import { Recorder, type TelemetryOptions } from './otel-recorder.js';
import { requestHooks } from './otel-requests.js';
import { type RunName, traceRun } from './otel-run.js';
import { traceTools } from './otel-tools.js';
import type { EngineEvent, EngineTools } from './types.js';

export type { RunName, TelemetryOptions };

export interface Telemetry {
  /** An observing hook set, for `composeHooks(guard, [telemetry.hooks])`. */
  readonly hooks: ProviderHooks;
  /** The same events, within a span of the run; requests and tools of the run are its children. */
  trace(events: AsyncIterable<EngineEvent>, name?: RunName): AsyncIterableIterator<EngineEvent>;
  /** The same tools, each call that runs in a span that is the active one while it runs. */
  tools(tools: EngineTools): EngineTools;
}

/** Sets telemetry up. Creates spans and instruments by the given tracer and meter, and touches no global. */
export function createTelemetry(options: TelemetryOptions = {}): Telemetry {
  const recorder = new Recorder(options);
  return {
    hooks: requestHooks(recorder),
    trace: (events, name = {}) => traceRun(recorder, events, name),
    tools: (tools) => traceTools(recorder, tools),
  };
}
