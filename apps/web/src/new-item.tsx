import { CONTRACT_LIMITS, type Settings } from '@stint/contracts';
import { type FormEvent, type ReactElement, useEffect, useState } from 'react';
import { DirectoryPicker } from './directory-picker.js';
import { useDraft } from './draft.js';
import { budgetInWords, type ItemForm, inputOf, problemsOf } from './item-form.js';
import { navigate } from './router.js';
import { sentAs } from './sent-as.js';
import { useCommand } from './use-command.js';
import { usePageStore } from './use-page.js';

/** Hands over new work: goal, criteria, directory, budget. Nothing typed is lost by a reload or a refusal. */
export function NewItem(): ReactElement {
  const settings = useSettings();
  const [goal, keepGoal] = useDraft('new:goal');
  const [criteria, keepCriteria] = useDraft('new:criteria');
  const [workDir, keepWorkDir] = useDraft('new:workDir');
  const [model, keepModel] = useDraft('new:model');
  const [tokens, keepTokens] = useDraft('new:tokens');
  const [requests, keepRequests] = useDraft('new:requests');
  const [dollars, keepDollars] = useDraft('new:dollars');
  const [delivery, keepDelivery] = useDraft('new:delivery');
  const [sent, keepSent] = useDraft('new:sent');
  const { give, busy, problem } = useCommand();

  const form: ItemForm = { goal, criteria, workDir, model, tokens, requests, dollars, delivery };
  const problems = problemsOf(form);
  const create = async (start: boolean): Promise<void> => {
    const { id, kept } = sentAs(sent, form, () => crypto.randomUUID());
    keepSent(kept);
    const itemId = await give('create', inputOf(form, id, start));
    if (itemId === null) return;
    keepSent('');
    for (const keep of [keepGoal, keepCriteria, keepWorkDir, keepTokens, keepRequests, keepDollars, keepDelivery])
      keep('');
    navigate({ page: 'item', itemId, action: null });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void create(true);
  };

  return (
    <form className="card stack narrow" onSubmit={submit}>
      <h1>New work item</h1>
      <label>
        Goal
        <textarea
          value={goal}
          rows={4}
          maxLength={CONTRACT_LIMITS.maxGoalBytes}
          required
          onChange={(event) => keepGoal(event.target.value)}
        />
      </label>
      <label>
        Acceptance criteria, one a line
        <textarea
          value={criteria}
          rows={3}
          placeholder="node --test passes"
          onChange={(event) => keepCriteria(event.target.value)}
        />
      </label>
      <DirectoryPicker value={workDir} onChange={keepWorkDir} />
      <label>
        Deliver
        <select value={delivery} onChange={(event) => keepDelivery(event.target.value)}>
          <option value="">
            {workDir ? 'changed files in the directory (preselected)' : 'an answer in text (preselected)'}
          </option>
          <option value="response">an answer in text</option>
          <option value="workspace_files">changed files in the directory</option>
        </select>
      </label>
      <ModelChoice settings={settings} value={model} onChange={keepModel} />
      <fieldset>
        <legend>Budget: the work stops before it would pass any of these</legend>
        <BudgetField
          label="Tokens"
          value={tokens}
          placeholder={settings?.defaultLimits.maxTokens}
          onChange={keepTokens}
        />
        <BudgetField
          label="Requests"
          value={requests}
          placeholder={settings?.defaultLimits.maxRequests}
          onChange={keepRequests}
        />
        <BudgetField label="Dollars" value={dollars} placeholder={null} onChange={keepDollars} />
        <p className="quiet">{budgetInWords(form, settings)}</p>
      </fieldset>
      {problems.map((text) => (
        <p key={text} className="problem">
          {text}
        </p>
      ))}
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <div className="commands">
        <button type="submit" className="button primary" disabled={busy || problems.length > 0 || goal.trim() === ''}>
          {busy ? 'Handing over…' : 'Start'}
        </button>
        <button
          type="button"
          className="button"
          disabled={busy || problems.length > 0 || goal.trim() === ''}
          onClick={() => void create(false)}
        >
          Keep as a draft
        </button>
      </div>
    </form>
  );
}

function useSettings(): Settings | null {
  const store = usePageStore();
  const [settings, setSettings] = useState<Settings | null>(null);
  useEffect(() => {
    let shown = true;
    store.ask('get_settings', {}).then(
      (answer) => shown && setSettings(answer),
      (error: unknown) => console.error('settings could not be read', error),
    );
    return () => {
      shown = false;
    };
  }, [store]);
  return settings;
}

interface ModelChoiceProps {
  readonly settings: Settings | null;
  readonly value: string;
  readonly onChange: (model: string) => void;
}

function ModelChoice({ settings, value, onChange }: ModelChoiceProps): ReactElement {
  return (
    <label>
      Model
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{settings?.defaultModel ? `the default (${settings.defaultModel})` : 'choose one'}</option>
        {settings?.models.map((model) => (
          <option key={model.id} value={model.id} disabled={!model.available}>
            {model.id}
            {model.missingKey && ` (${model.missingKey} is missing)`}
          </option>
        ))}
      </select>
    </label>
  );
}

interface BudgetFieldProps {
  readonly label: string;
  readonly value: string;
  readonly placeholder: number | null | undefined;
  readonly onChange: (text: string) => void;
}

function BudgetField({ label, value, placeholder, onChange }: BudgetFieldProps): ReactElement {
  return (
    <label className="inline">
      {label}
      <input
        inputMode="decimal"
        value={value}
        placeholder={placeholder === null || placeholder === undefined ? 'no limit' : String(placeholder)}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}
