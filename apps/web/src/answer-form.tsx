import { CONTRACT_LIMITS } from '@stint/contracts';
import type { FormEvent, ReactElement } from 'react';
import { useDraft } from './draft.js';
import { sentAs } from './sent-as.js';
import { useCommand } from './use-command.js';

interface AnswerFormProps {
  readonly itemId: string;
  readonly questionId: string;
  readonly actionId: string | null;
}

/** Answers one question; what was typed stays until the agent has it. */
export function AnswerForm({ itemId, questionId, actionId }: AnswerFormProps): ReactElement {
  const [text, keep] = useDraft(`answer:${questionId}`);
  const [sent, keepSent] = useDraft(`answer:${questionId}:sent`);
  const { give, busy, problem } = useCommand();
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const { id: clientMessageId, kept } = sentAs(sent, text, () => crypto.randomUUID());
    keepSent(kept);
    if (!(await give('answer_question', { itemId, questionId, actionId, text, clientMessageId }))) return;
    keepSent('');
    keep('');
  };
  return (
    <form onSubmit={(event) => void send(event)}>
      <textarea
        aria-label="Your answer"
        value={text}
        maxLength={CONTRACT_LIMITS.maxMessageBytes}
        rows={3}
        onChange={(event) => keep(event.target.value)}
      />
      <button type="submit" className="button primary" disabled={busy || text.trim() === ''}>
        {busy ? 'Sending…' : 'Answer'}
      </button>
      {problem && (
        <span className="problem" role="alert">
          {problem}
        </span>
      )}
    </form>
  );
}
