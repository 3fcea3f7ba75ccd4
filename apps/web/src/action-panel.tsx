import type { ActionSummary } from '@stint/contracts';
import type { ReactElement } from 'react';
import { RichText } from './rich-text.js';
import { StatusBadge } from './status-badge.js';
import { usePage } from './use-page.js';
import { visibleControls } from './visible-controls.js';

/** One Action of the plan: what it is to do, what it does now, what came of it. */
export function ActionPanel({ action }: { readonly action: ActionSummary }): ReactElement {
  const { progress } = usePage();
  const live = action.status === 'running' ? progress.get(action.id) : undefined;
  return (
    <section className="card" aria-labelledby="action-title" data-action-panel={action.slug}>
      <h2 id="action-title">
        {action.slug} <StatusBadge status={action.status} />
      </h2>
      {action.brief && (
        <dl className="facts">
          <dt>Objective</dt>
          <dd>{action.brief.objective}</dd>
          <dt>Approach</dt>
          <dd>{action.brief.approach}</dd>
          <dt>Expected</dt>
          <dd>{action.brief.expectedResult}</dd>
          <dt>Waits for</dt>
          <dd>{action.dependencies.join(', ') || 'nothing'}</dd>
          <dt>Attempts</dt>
          <dd>
            {action.attempts.used}
            {action.attempts.maximum !== null && ` of ${action.attempts.maximum}`}
          </dd>
        </dl>
      )}
      {live && (
        <>
          <p className="quiet">{live.activity}</p>
          {live.liveText && <pre className="live">{visibleControls(live.liveText)}</pre>}
        </>
      )}
      {action.reason && <p className="problem">{action.reason.message}</p>}
      {action.outcome && (
        <>
          <h3>Outcome</h3>
          <RichText text={action.outcome.summary} />
          <ul>
            {action.outcome.evidence.map((evidence) => (
              <li key={`${evidence.kind}:${evidence.value}`}>
                <span className="quiet">{evidence.kind}</span> {evidence.value}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
