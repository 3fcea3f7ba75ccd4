import { JournalError } from './errors.js';
import type { OperationStatus, TurnStatus } from './types.js';

/** Every legal step of a turn. */
const turnSteps: Readonly<Record<TurnStatus, readonly TurnStatus[]>> = {
  dispatching: ['responded', 'refused', 'unknown', 'cancelled'],
  responded: ['applied', 'rejected'],
  unknown: ['responded', 'written_off'],
  applied: [],
  rejected: [],
  refused: [],
  written_off: [],
  cancelled: [],
};

/** Every legal step of an operation, by who takes it: the process that runs it (or its recovery), or a person. */
const operationSteps: Readonly<
  Record<'process' | 'person', Partial<Record<OperationStatus, readonly OperationStatus[]>>>
> = {
  process: { running: ['applied', 'no_effect', 'unknown'] },
  person: { unknown: ['applied', 'no_effect'] },
};

/** Throws `illegal_transition` unless the turn may take this step. */
export function checkTurnStep(id: string, from: TurnStatus, to: TurnStatus): void {
  if (!turnSteps[from].includes(to)) refuse(`Turn ${id}`, from, to, turnSteps[from]);
}

/** Throws `illegal_transition` unless the operation may take this step by the hand of `who`. */
export function checkOperationStep(
  { id, status }: { readonly id: string; readonly status: OperationStatus },
  to: OperationStatus,
  who: 'process' | 'person',
): void {
  const legal = operationSteps[who][status] ?? [];
  if (!legal.includes(to)) refuse(`Operation ${id}`, status, to, legal);
}

function refuse(what: string, from: string, to: string, legal: readonly string[]): never {
  const may = legal.length === 0 ? 'nothing may follow here' : `it may become ${legal.join(', ')}`;
  throw new JournalError('illegal_transition', `${what} is ${from} and cannot become ${to}; ${may}.`);
}
