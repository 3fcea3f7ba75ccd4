import type { OperationInput } from '@stint/contracts';
import { useState } from 'react';
import type { PageStore } from './page-store.js';
import { usePageStore } from './use-page.js';

type Operation = Parameters<PageStore['command']>[0];

export interface CommandState {
  /** True from the click until the agent has confirmed: nothing looks done before it is. */
  readonly busy: boolean;
  /** Why the last command changed nothing; null when it did. */
  readonly problem: string | null;
  /** @returns the item's id if the command was carried out, otherwise null (what was typed stays where it is). */
  readonly give: <N extends Operation>(operation: N, input: OperationInput<N>) => Promise<string | null>;
}

/** Gives commands and keeps what became of the last one. */
export function useCommand(): CommandState {
  const store = usePageStore();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const give = async <N extends Operation>(operation: N, input: OperationInput<N>): Promise<string | null> => {
    setBusy(true);
    setProblem(null);
    try {
      const { itemId, conflict } = await store.command(operation, input);
      setProblem(conflict);
      return conflict === null ? itemId : null;
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      return null;
    } finally {
      setBusy(false);
    }
  };
  return { busy, problem, give };
}
