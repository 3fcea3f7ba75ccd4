import {
  deepFreeze,
  type CallSettings,
  type ModelCall,
  type PromptMessage,
  type ToolDefinition,
  wellFormed,
} from '@stint/provider-hooks';
import { continueNote } from './open-answer.js';
import type { RunState } from './run-state.js';

/** The next request, with these words about the budget at its end, fixed: what a consumer of events does afterwards does not change it. */
export function buildRequest(run: RunState, retryOf: string | null, budgetText: string | null): ModelCall {
  const { options, history } = run;
  endWithUser(run);
  return {
    // Joined by `concat`, which copies at once: a long history is copied for each request.
    prompt: Object.freeze(systemOf(run).concat(history.messages, budgetMessage(budgetText))),
    tools: toolsOf(run),
    settings: settingsOf(run),
    signal: run.signal,
    stream: options.stream ?? true,
    facts: {
      turnNumber: run.turnNumber,
      inputIds: [...run.boundInputs],
      entries: [...history.pending],
      ...(retryOf === null ? {} : { retryOf }),
      ...(run.budget === null ? {} : { budget: run.budget }),
    },
  };
}

/** A request that ends with words of the model would be taken as their beginning. */
function endWithUser(run: RunState): void {
  if (run.history.messages.at(-1)?.role === 'assistant') run.addNote(continueNote);
}

/** The same frozen object in every request of a run. */
function systemOf(run: RunState): readonly PromptMessage[] {
  const { system } = run.options;
  if (system === undefined || system.trim() === '') return [];
  run.systemMessage ??= Object.freeze({ role: 'system', content: wellFormed(system) });
  return [run.systemMessage];
}

/** The same frozen list as in the last request while the tools are the same, so that it is looked at once. */
function toolsOf(run: RunState): readonly ToolDefinition[] {
  const told = run.options.tools?.definitions() ?? [];
  const last = run.toldTools;
  if (last && last.told.length === told.length && told.every((tool, index) => tool === last.told[index]))
    return last.tools;
  const tools = deepFreeze(
    told.map(
      ({ name, description, inputSchema }): ToolDefinition => ({ type: 'function', name, description, inputSchema }),
    ),
  );
  run.toldTools = { told, tools };
  return tools;
}

function settingsOf(run: RunState): CallSettings {
  const { settings = noSettings, output } = run.options;
  if (!output) return deepFreeze(settings);
  const { schema, name } = output;
  const responseFormat = { type: 'json' as const, ...(schema ? { schema } : {}), ...(name ? { name } : {}) };
  return deepFreeze({ ...settings, responseFormat });
}

const noSettings: CallSettings = Object.freeze({});

function budgetMessage(text: string | null): readonly PromptMessage[] {
  if (text === null || text.trim() === '') return [];
  return [{ role: 'user', content: [{ type: 'text', text: wellFormed(text) }] }];
}
