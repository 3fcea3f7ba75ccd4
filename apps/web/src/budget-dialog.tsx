import type { WorkItemDetail } from '@stint/contracts';
import { type FormEvent, type ReactElement, useRef, useState } from 'react';
import { figure } from './figure.js';
import { formatCount, formatMoney } from './format.js';
import { useCommand } from './use-command.js';

/** Extends the budget, and resumes it if it stands. If someone else acted first, the dialog stays and shows what is true now. */
export function BudgetDialog({ item }: { readonly item: WorkItemDetail }): ReactElement | null {
  const dialog = useRef<HTMLDialogElement>(null);
  const stopped = item.control.stopReason !== null;
  const close = (): void => dialog.current?.close();
  if (item.control.status === 'closed') return null;
  return (
    <>
      <button
        type="button"
        className={`button wide${stopped ? ' primary' : ''}`}
        onClick={() => dialog.current?.showModal()}
      >
        {stopped ? 'Extend and resume…' : 'Extend the budget…'}
      </button>
      <dialog ref={dialog} className="dialog" aria-labelledby="budget-dialog-title">
        <h2 id="budget-dialog-title">Budget</h2>
        <p>{describe(item)}</p>
        <ExtendForm item={item} onDone={close} />
      </dialog>
    </>
  );
}

const describe = ({ control }: WorkItemDetail): string => {
  if (control.stopReason) return `Stopped: ${control.stopReason.message}`;
  const left = control.left.tokens === null ? 'no token limit' : `${formatCount(control.left.tokens)} tokens left`;
  return `${formatCount(control.charged.tokens)} tokens charged, ${left}.`;
};

/** An amount to add; nothing for a field that is empty or holds no figure above 0. */
function amount(text: string, factor = 1): number | undefined {
  const value = figure(text, factor);
  return value !== undefined && value > 0 ? value : undefined;
}

function ExtendForm({ item, onDone }: { readonly item: WorkItemDetail; readonly onDone: () => void }): ReactElement {
  const [tokens, setTokens] = useState('');
  const [requests, setRequests] = useState('');
  const [dollars, setDollars] = useState('');
  const { give, busy, problem } = useCommand();
  const { control } = item;
  const additions = {
    maxTokens: amount(tokens),
    maxRequests: amount(requests),
    maxCostMicros: amount(dollars, 1_000_000),
  };
  const given = Object.fromEntries(Object.entries(additions).filter(([, value]) => value !== undefined));
  const wrong = [tokens, requests, dollars].find((text) => Number.isNaN(figure(text) ?? 0));
  const extend = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (await give('extend_budget', { itemId: item.id, expectedBudgetRevision: control.revision, additions: given })) {
      setTokens('');
      setRequests('');
      setDollars('');
    }
  };
  const resume = async (): Promise<void> => {
    if (await give('resume_budget', { itemId: item.id, expectedBudgetRevision: control.revision })) onDone();
  };
  return (
    <form onSubmit={(event) => void extend(event)} className="stack">
      <Field
        label={`More tokens (limit ${limit(control.limits.maxTokens)})`}
        value={tokens}
        onChange={setTokens}
        off={control.limits.maxTokens === null}
      />
      <Field
        label={`More requests (limit ${limit(control.limits.maxRequests)})`}
        value={requests}
        onChange={setRequests}
        off={control.limits.maxRequests === null}
      />
      <Field
        label={`More dollars (limit ${control.limits.maxCostMicros === null ? 'none' : formatMoney(control.limits.maxCostMicros)})`}
        value={dollars}
        onChange={setDollars}
        off={control.limits.maxCostMicros === null}
      />
      {wrong !== undefined && <p className="problem">"{wrong}" is no figure; write 20000 or 0.50.</p>}
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <div className="commands">
        <button
          type="submit"
          className="button"
          disabled={busy || wrong !== undefined || Object.keys(given).length === 0}
        >
          {busy ? 'Extending…' : 'Extend'}
        </button>
        <button
          type="button"
          className="button primary"
          disabled={busy || control.stopReason === null}
          onClick={() => void resume()}
        >
          Resume
        </button>
        <button type="button" className="button" onClick={onDone}>
          Close
        </button>
      </div>
    </form>
  );
}

const limit = (value: number | null): string => (value === null ? 'none' : formatCount(value));

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** True where there is no limit to add to. */
  readonly off: boolean;
}

function Field({ label, value, onChange, off }: FieldProps): ReactElement {
  return (
    <label>
      {label}
      <input inputMode="decimal" value={value} disabled={off} onChange={(event) => onChange(event.target.value)} />
    </label>
  );
}
