import type { GoalProgress as Progress } from '@stint/contracts';
import type { ReactElement } from 'react';
import { formatStatus } from './format.js';

const marks: Readonly<Record<string, string>> = { passed: '✓', failed: '✗' };
const words: Readonly<Record<string, string>> = { passed: 'passed', failed: 'failed', unmet: 'not yet met' };

/** The acceptance criteria with what the Runs proved, open ones first. */
export function GoalProgress({ progress }: { readonly progress: Progress }): ReactElement {
  return (
    <section className="card" aria-labelledby="goal-title">
      <h2 id="goal-title">
        Acceptance criteria{' '}
        <span className="count">
          {progress.completed} of {progress.total} passed
        </span>
      </h2>
      <progress className="bar" max={progress.total} value={progress.completed} aria-label="criteria passed" />
      <ul className="criteria">
        {progress.criteria.map((criterion) => (
          <li key={criterion.id} data-criterion={criterion.status}>
            <span className={`mark mark-${criterion.status}`} aria-hidden="true">
              {marks[criterion.status] ?? '○'}
            </span>
            <div>
              <div>{criterion.text}</div>
              <div className="quiet">
                {words[criterion.status] ?? formatStatus(criterion.status)}
                {criterion.evidence && `: ${criterion.evidence}`}
              </div>
            </div>
          </li>
        ))}
      </ul>
      {progress.omittedCriteriaCount > 0 && <p className="quiet">and {progress.omittedCriteriaCount} more</p>}
    </section>
  );
}
