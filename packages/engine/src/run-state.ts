import { randomUUID } from 'node:crypto';
import type { Budget, HistoryEntry, PromptMessage, ToolDefinition, Usage } from '@stint/provider-hooks';
import type { ToolDescription } from '@stint/tools';
import { History, roughTokens } from './history.js';
import { HookWaits } from './hook-waits.js';
import type { ResolvedOptions } from './options.js';
import { RepeatWatch } from './repeats.js';
import type { EngineEvent } from './types.js';

/** How steps tell what happens; see `EventChannel`. */
export interface Events {
  push(event: EngineEvent): Promise<void> | undefined;
  emit(event: EngineEvent): Promise<void>;
}

/** An answer that the loop has to act on. */
export interface AnsweredTurn {
  readonly entry: HistoryEntry;
  readonly finishReason: string;
  readonly text: string;
}

/** What a run remembers from step to step. One per run, changed by the steps alone. */
export class RunState {
  readonly history: History;
  readonly repeats: RepeatWatch;
  /** How functions of the caller are called. */
  readonly hooks: HookWaits;
  /** Number of the last turn that was begun. */
  turnNumber = 0;
  /** Turns begun by this run. */
  turns = 0;
  requests = 0;
  /** Ids of inputs that the next request carries: drained, and not acknowledged by an answer. */
  boundInputs: string[] = [];
  /** Every input id this run has shown to the model, or is about to. */
  readonly seenInputs = new Set<string>();
  /** Text of the answer so far, over continuations: see `openText`. */
  text = '';
  /** Continuations of the present answer. */
  continuations = 0;
  /** Corrections of the final answer that were asked for. */
  corrections = 0;
  usage: Usage = noUsage;
  unmeasuredTurns = 0;
  costMicros: number | null = null;
  /** As the caller last told it. */
  budget: Budget | null = null;
  output: unknown;
  /** What the last request said of system and tools. */
  systemMessage: PromptMessage | null = null;
  toldTools: { readonly told: readonly ToolDescription[]; readonly tools: readonly ToolDefinition[] } | null = null;
  #ownKeys: { readonly run: string; count: number } | null = null;

  constructor(
    readonly options: ResolvedOptions,
    readonly signal: AbortSignal,
    readonly events: Events,
  ) {
    const counts = options.countTokens ?? roughTokens;
    this.history = new History(options.contextTokens === undefined ? () => 0 : counts);
    this.hooks = new HookWaits(signal, options.limits.hookTimeoutMs);
    this.repeats = new RepeatWatch(options.limits.maxRepeats);
  }

  /** Says something to the model in the name of the loop. */
  addNote(text: string): void {
    this.history.add({
      key: this.newKey('note'),
      kind: 'note',
      message: { role: 'user', content: [{ type: 'text', text }] },
    });
  }

  /**
   * A key for an entry of the loop's own. A run that goes on after this one may begin the same turn again, and a journal stores
   * a key once: a part of it is of this run alone.
   */
  newKey(kind: 'note' | 'compaction'): string {
    this.#ownKeys ??= { run: randomUUID().slice(0, 13), count: 0 };
    this.#ownKeys.count += 1;
    return `${kind}:${this.turnNumber}:${this.#ownKeys.run}:${this.#ownKeys.count}`;
  }

  addCost(costMicros: number | null): void {
    if (costMicros !== null) this.costMicros = (this.costMicros ?? 0) + costMicros;
  }

  addUsage(usage: Usage | null): void {
    if (usage === null) this.unmeasuredTurns += 1;
    else this.usage = sumUsage(this.usage, usage);
  }
}

const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  totalTokens: 0,
};

function sumUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    ...sumOfTold(a, b),
  };
}

/** What only some providers tell is summed over those that do. */
function sumOfTold(a: Usage, b: Usage): Pick<Usage, 'cacheWrite1hTokens' | 'providerToolCalls'> {
  const hours = (a.cacheWrite1hTokens ?? 0) + (b.cacheWrite1hTokens ?? 0);
  const calls = new Map(Object.entries(a.providerToolCalls ?? {}));
  for (const [name, count] of Object.entries(b.providerToolCalls ?? {}))
    calls.set(name, (calls.get(name) ?? 0) + count);
  return {
    ...(hours > 0 ? { cacheWrite1hTokens: hours } : {}),
    ...(calls.size > 0 ? { providerToolCalls: Object.fromEntries(calls) } : {}),
  };
}
