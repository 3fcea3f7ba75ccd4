import { lazy, type ReactElement, Suspense } from 'react';
import type { PlanGraphProps } from './plan-graph.js';

/** Drawing graphs is a third of the page's code, and the board needs none of it. */
const PlanGraph = lazy(() => import('./plan-graph.js'));

/** The plan, or word that there is none yet. */
export function Plan(props: PlanGraphProps): ReactElement {
  const { actions } = props;
  const completed = actions.filter(({ status }) => status === 'completed').length;
  return (
    <section className="card" aria-labelledby="plan-title">
      <h2 id="plan-title">
        Plan{' '}
        <span className="count">
          {completed} of {actions.length} actions completed
        </span>
      </h2>
      {actions.length === 0 ? (
        <p className="quiet">No plan yet. The Coordinator makes one.</p>
      ) : (
        <Suspense fallback={<p className="quiet">Drawing…</p>}>
          <PlanGraph {...props} />
        </Suspense>
      )}
    </section>
  );
}
