import {
  deepFreeze,
  type CallSettings,
  type ModelCall,
  type PromptMessage,
  type ToolDefinition,
} from '@stint/provider-hooks';
import { hookError } from './run-stop.js';
import type { RunState } from './run-state.js';

/** The next request, fixed: what a consumer of events does afterwards does not change it. */
export async function buildRequest(run: RunState, retryOf: string | null): Promise<ModelCall> {
  const { options, history } = run;
  endWithUser(run);
  return {
    prompt: [...systemOf(run), ...history.messages, ...(await budgetMessage(run))],
    tools: toolsOf(run),
    settings: deepFreeze(settingsOf(run)),
    signal: run.signal,
    stream: options.stream ?? true,
    facts: {
      turnNumber: run.turnNumber,
      inputIds: [...run.boundInputs],
      entries: [...history.pending],
      ...(retryOf === null ? {} : { retryOf }),
    },
  };
}

/** A request that ends with words of the model would be taken as their beginning. */
function endWithUser(run: RunState): void {
  if (run.history.messages.at(-1)?.role === 'assistant') run.addNote(continueNote);
}

export const continueNote =
  'Your answer was interrupted. Continue exactly where it ended, without repeating anything and without remarks about the interruption.';

const systemMessages = new WeakMap<RunState, readonly PromptMessage[]>();

/** The same frozen object in every request of a run. */
function systemOf(run: RunState): readonly PromptMessage[] {
  const { system } = run.options;
  const known = systemMessages.get(run);
  if (known) return known;
  const messages: readonly PromptMessage[] =
    system === undefined ? [] : [Object.freeze({ role: 'system', content: system })];
  systemMessages.set(run, messages);
  return messages;
}

function toolsOf(run: RunState): readonly ToolDefinition[] {
  return (run.options.tools?.definitions() ?? []).map(
    ({ name, description, inputSchema }): ToolDefinition => ({ type: 'function', name, description, inputSchema }),
  );
}

function settingsOf(run: RunState): CallSettings {
  const { settings = {}, output } = run.options;
  if (!output) return settings;
  const { schema, name } = output;
  return { ...settings, responseFormat: { type: 'json', ...(schema ? { schema } : {}), ...(name ? { name } : {}) } };
}

async function budgetMessage(run: RunState): Promise<readonly PromptMessage[]> {
  const { budgetText } = run.options;
  if (!budgetText) return [];
  try {
    const text = await budgetText();
    return text === null ? [] : [{ role: 'user', content: [{ type: 'text', text }] }];
  } catch (error) {
    throw hookError('budgetText', error);
  }
}
