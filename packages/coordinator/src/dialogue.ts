import { type HistoryEntry, type PromptMessage, wellFormed } from '@stint/provider-hooks';
import { coordinatorSystemPrompt, refusalMessage } from './coordinator-prompt.js';

/** The next request of a Coordinator turn. */
export interface NextRequest {
  readonly messages: readonly PromptMessage[];
  /** What no request of this turn carried yet, to be journaled with it. */
  readonly fresh: readonly HistoryEntry[];
  readonly turnNumber: number;
}

/** The conversation of one Coordinator turn: the snapshot, then each refused answer with the reason. */
export interface Dialogue {
  next(): NextRequest;
  /** `isStored`: the answer is in this turn's journal already, with the provider turn that gave it. */
  refuse(answer: { readonly text: string; readonly isStored: boolean }, reason: string): void;
}

/** @param turnId makes the keys of the entries unique in the journal */
export function createDialogue(turnId: string, snapshot: string): Dialogue {
  const messages: PromptMessage[] = [{ role: 'system', content: coordinatorSystemPrompt }];
  let fresh: HistoryEntry[] = [];
  let turnNumber = 0;
  const say = (said: PromptMessage, kind: HistoryEntry['kind'] | null): void => {
    const message = wellFormed(said);
    messages.push(message);
    if (kind !== null) fresh.push({ key: `${turnId}:${messages.length}`, kind, message });
  };
  say(userMessage(snapshot), 'input');
  return {
    next() {
      const carried = fresh;
      fresh = [];
      turnNumber += 1;
      return { messages: [...messages], fresh: carried, turnNumber };
    },
    refuse({ text, isStored }, reason) {
      // Some providers refuse a conversation in which somebody said nothing.
      if (text.trim() !== '') say({ role: 'assistant', content: [{ type: 'text', text }] }, isStored ? null : 'note');
      say(userMessage(refusalMessage(reason)), 'input');
    },
  };
}

function userMessage(text: string): PromptMessage {
  return { role: 'user', content: [{ type: 'text', text }] };
}
