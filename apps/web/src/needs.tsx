import type { Need, WorkItemDetail } from '@stint/contracts';
import type { ReactElement } from 'react';
import { AnswerForm } from './answer-form.js';
import { RichText } from './rich-text.js';
import { useCommand } from './use-command.js';

/** Everything the item waits for a person to do, each with what frees it. */
export function Needs({ item }: { readonly item: WorkItemDetail }): ReactElement | null {
  if (item.needs.length === 0) return null;
  return (
    <section className="card card-need" aria-labelledby="needs-title">
      <h2 id="needs-title">Needs you</h2>
      {item.needs.map((need) => (
        <div
          key={`${need.kind}:${need.questionId ?? need.turnId ?? need.operationId ?? need.actionId ?? ''}`}
          className="need"
          data-need={need.kind}
        >
          <RichText text={need.text} />
          <Remedy item={item} need={need} />
          {need.command && (
            <p className="quiet">
              or in a terminal: <code>{need.command}</code>
            </p>
          )}
        </div>
      ))}
    </section>
  );
}

function Remedy({ item, need }: { readonly item: WorkItemDetail; readonly need: Need }): ReactElement | null {
  if (need.questionId !== null)
    return <AnswerForm itemId={item.id} questionId={need.questionId} actionId={need.actionId} />;
  if (need.operationId !== null) return <ResolveOperation itemId={item.id} operationId={need.operationId} />;
  if (need.turnId !== null) return <ResolveTurn itemId={item.id} turnId={need.turnId} />;
  const action = item.actions.find(({ id }) => id === need.actionId);
  return action ? <Retry itemId={item.id} actionId={action.id} generation={action.generation} /> : null;
}

interface Choice {
  readonly label: string;
  readonly choose: () => Promise<unknown>;
}

function Choices({
  choices,
  busy,
  problem,
}: {
  readonly choices: readonly Choice[];
  readonly busy: boolean;
  readonly problem: string | null;
}): ReactElement {
  return (
    <div className="commands">
      {choices.map(({ label, choose }) => (
        <button key={label} type="button" className="button" disabled={busy} onClick={() => void choose()}>
          {label}
        </button>
      ))}
      {problem && (
        <span className="problem" role="alert">
          {problem}
        </span>
      )}
    </div>
  );
}

function ResolveOperation({
  itemId,
  operationId,
}: {
  readonly itemId: string;
  readonly operationId: string;
}): ReactElement {
  const { give, busy, problem } = useCommand();
  const resolve = (effect: 'applied' | 'no_effect') => () => give('resolve_operation', { itemId, operationId, effect });
  const choices = [
    { label: 'It took effect', choose: resolve('applied') },
    { label: 'It changed nothing', choose: resolve('no_effect') },
  ];
  return <Choices choices={choices} busy={busy} problem={problem} />;
}

function ResolveTurn({ itemId, turnId }: { readonly itemId: string; readonly turnId: string }): ReactElement {
  const { give, busy, problem } = useCommand();
  const choices = [
    { label: 'Send it again', choose: () => give('resolve_turn', { itemId, turnId, resolution: { kind: 'retry' } }) },
    {
      label: 'The bill does not have it',
      choose: () => give('resolve_turn', { itemId, turnId, resolution: { kind: 'not_billed' } }),
    },
  ];
  return <Choices choices={choices} busy={busy} problem={problem} />;
}

function Retry({
  itemId,
  actionId,
  generation,
}: {
  readonly itemId: string;
  readonly actionId: string;
  readonly generation: number;
}): ReactElement {
  const { give, busy, problem } = useCommand();
  const choices = [
    { label: 'Try again', choose: () => give('retry_action', { itemId, actionId, expectedGeneration: generation }) },
  ];
  return <Choices choices={choices} busy={busy} problem={problem} />;
}
