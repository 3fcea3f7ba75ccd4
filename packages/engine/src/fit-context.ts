import type { HistoryEntry } from '@stint/provider-hooks';
import type { ToolDescription } from '@stint/tools';
import { EngineError, isEngineError } from './errors.js';
import { roughTokens } from './history.js';
import { openAnswer } from './open-answer.js';
import { hookError } from './run-stop.js';
import type { RunState } from './run-state.js';
import type { Compaction, CompactRequest } from './types.js';

/** Compactions in a row that may free nothing before the run is stopped. */
const maxUselessCompactions = 2;

/**
 * Makes the history fit the model's context, by the caller's `compact`. Each overflow has its own attempts; two that
 * free nothing end them. Throws `context_exceeded`, with the sizes, before anything is sent.
 */
export async function fitContext(run: RunState, contextTokens: number): Promise<void> {
  const roomTokens = contextTokens - (run.options.settings?.maxOutputTokens ?? 0) - besideTokens(run);
  let useless = 0;
  while (run.history.tokens > roomTokens) {
    const before = run.history.tokens;
    if (useless === maxUselessCompactions || !(await compact(run, roomTokens))) refuse(before, roomTokens, useless);
    if (run.history.tokens >= before) useless += 1;
  }
}

/** What each request carries beside the history: system text and the tools. */
function besideTokens(run: RunState): number {
  const { system, tools, countTokens = roughTokens } = run.options;
  const told = tools?.definitions() ?? [];
  const texts = [...(system === undefined ? [] : [system]), ...(told.length === 0 ? [] : [toolsJson(told)])];
  return texts.reduce((sum, content) => sum + countTokens({ role: 'system', content }), 0);
}

/** JSON of tools, made once for each list that a registry gives again and again. */
const jsonOfTools = new WeakMap<object, string>();

function toolsJson(told: readonly ToolDescription[]): string {
  return told
    .map((tool) => {
      const json = jsonOfTools.get(tool) ?? JSON.stringify(tool);
      jsonOfTools.set(tool, json);
      return json;
    })
    .join();
}

/** Shortens the history once; false if there is no way to. */
export async function compact(run: RunState, roomTokens: number): Promise<boolean> {
  const { options, history } = run;
  if (!options.compact) return false;
  const { entries, tokens: inputTokens } = history;
  const request = { entries, inputTokens, contextTokens: roomTokens, budget: run.budget };
  const compaction = await askCompact(run, request);
  if (compaction === null) return false;
  const { summary, keep } = checked(compaction);
  history.add({
    key: run.newKey('compaction'),
    kind: 'compaction',
    message: { role: 'user', content: [{ type: 'text', text: summary }] },
    keep: keepWhole(run, keep),
  });
  return true;
}

/** Its signal also aborts when its time is up: what it asked a model for is not wanted any more. */
async function askCompact(run: RunState, request: CompactRequest): Promise<Compaction | null> {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(run.signal.reason);
  run.signal.addEventListener('abort', onAbort, { once: true });
  const ask = (): Promise<Compaction | null> =>
    run.options.compact?.(request, controller.signal) ?? Promise.resolve(null);
  try {
    return await run.hooks.ask('compact', ask, run.options.limits.compactTimeoutMs);
  } catch (error) {
    if (isEngineError(error)) controller.abort(error);
    throw error;
  } finally {
    run.signal.removeEventListener('abort', onAbort);
  }
}

/** What was answered, or the error that names what is wrong with it: a summary that says nothing would lose what it stands for. */
function checked({ summary, keep }: Compaction): Required<Compaction> {
  if (typeof summary !== 'string' || summary.trim() === '')
    throw hookError('compact', new TypeError('its summary is blank; answer null to give up.'));
  return { summary, keep: Number.isFinite(keep) ? Math.max(0, Math.trunc(keep)) : 0 };
}

/**
 * How many entries to keep, at least as many as wanted: what no answer has taken up yet (a prompt, what was typed since), an
 * answer that is being continued, and no result without its call.
 */
function keepWhole(run: RunState, wanted: number): number {
  const { entries } = run.history;
  let from = Math.min(Math.max(0, entries.length - wanted), firstUnanswered(run));
  while (from > 0 && entries[from]?.kind === 'tool-result') from -= 1;
  return entries.length - from;
}

/** Place of the first entry that the next answer is to take up or to continue; the number of entries if there is none. */
function firstUnanswered({ history: { entries }, boundInputs }: RunState): number {
  const [begun] = openAnswer(entries);
  const answeredTo = entries.findLastIndex(({ kind }) => kind === 'response');
  const isOpen = ({ kind, inputId }: HistoryEntry, index: number): boolean =>
    kind === 'input' && (index > answeredTo || (inputId !== undefined && boundInputs.includes(inputId)));
  const first = entries.findIndex((entry, index) => entry === begun || isOpen(entry, index));
  return first === -1 ? entries.length : first;
}

function refuse(tokens: number, roomTokens: number, useless: number): never {
  const tried = useless > 0 ? ` ${useless} compactions freed nothing.` : '';
  throw new EngineError(
    'context_exceeded',
    `The history has about ${tokens} tokens and ${Math.max(0, roomTokens)} fit beside the system text, the tools and the answer.${tried} Nothing was sent. Shorten the history or use a model with a larger context.`,
  );
}
