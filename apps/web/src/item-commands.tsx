import type { WorkItemDetail } from '@stint/contracts';
import type { ReactElement } from 'react';
import { useCommand } from './use-command.js';

type ItemCommand = 'start' | 'pause' | 'resume' | 'cancel';

const words: Readonly<Record<ItemCommand, readonly [string, string]>> = {
  start: ['Start', 'Starting…'],
  pause: ['Pause', 'Pausing…'],
  resume: ['Resume', 'Resuming…'],
  cancel: ['Cancel', 'Stopping…'],
};

/** Reasons that a resume frees an item from. */
const freedByResume: ReadonlySet<string> = new Set([
  'paused',
  'refused_decision',
  'coordinator_failed',
  'provider',
  'idle',
  'resource_limit',
]);

/** Which commands an item takes in its state. */
export function commandsOf(item: Pick<WorkItemDetail, 'status' | 'reason' | 'control'>): readonly ItemCommand[] {
  if (item.status === 'done') return [];
  if (item.status === 'cancelled') return ['resume'];
  if (item.status === 'draft') return ['start', 'cancel'];
  const standsStill = item.status === 'needs_attention' && freedByResume.has(item.reason?.code ?? '');
  return standsStill || item.control.stopReason?.code === 'paused' ? ['resume', 'cancel'] : ['pause', 'cancel'];
}

/** Buttons for the commands that fit; each says "…ing" until the agent confirms. */
export function ItemCommands({ item }: { readonly item: WorkItemDetail }): ReactElement {
  const command = useCommand();
  const { busy, problem, give } = command;
  return (
    <div className="commands">
      {commandsOf(item).map((name) => (
        <button
          key={name}
          type="button"
          className={`button${name === 'cancel' ? ' danger' : ''}`}
          disabled={busy}
          onClick={() => void give(name, { itemId: item.id, expectedRevision: item.revisions.revision })}
        >
          {words[name][busy ? 1 : 0]}
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
