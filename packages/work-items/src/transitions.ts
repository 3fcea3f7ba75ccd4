import { WorkItemsError } from './errors.js';

/** Who may cause a change. Recovery goes through the same rows as the living. */
export type Actor = 'person' | 'coordinator' | 'scheduler' | 'runner' | 'recovery' | 'system';

/** One legal change of one record. A pair of `from` and `on` has one `to`. */
export interface Transition<State extends string, Trigger extends string> {
  readonly from: State;
  readonly on: Trigger;
  readonly to: State;
  readonly by: readonly Actor[];
  /** What else moves in the same transaction. */
  readonly also: string;
}

export interface TransitionTable<State extends string, Trigger extends string> {
  readonly record: string;
  readonly rows: readonly Transition<State, Trigger>[];
  /** The state that `on` leads to. Throws `illegal_transition` when the table has no row for it. */
  next(from: State, on: Trigger, by: Actor, id: string): State;
  /** True when the table has a row for it. */
  allows(from: State, on: Trigger, by: Actor): boolean;
}

/** Makes a table out of its rows; two rows for one pair of `from` and `on` are refused at once. */
export function transitionTable<State extends string, Trigger extends string>(
  record: string,
  rows: readonly Transition<State, Trigger>[],
): TransitionTable<State, Trigger> {
  const byKey = new Map<string, Transition<State, Trigger>>();
  for (const row of rows) {
    const key = `${row.from} ${row.on}`;
    if (byKey.has(key)) throw new WorkItemsError('illegal_transition', `${record}: two rows for "${key}"`);
    byKey.set(key, row);
  }
  const find = (from: State, on: Trigger, by: Actor) => {
    const row = byKey.get(`${from} ${on}`);
    return row?.by.includes(by) === true ? row : undefined;
  };
  return {
    record,
    rows,
    allows: (from, on, by) => find(from, on, by) !== undefined,
    next(from, on, by, id) {
      const row = find(from, on, by);
      if (row !== undefined) return row.to;
      const legal = rows.filter((other) => other.from === from).map((other) => `${other.on} by ${other.by.join('/')}`);
      throw new WorkItemsError(
        'illegal_transition',
        `${record} ${id} is ${from}; "${on}" by ${by} does not apply. Legal from here: ${legal.join(', ') || 'nothing'}`,
      );
    },
  };
}

/** Expands one rule over several states. */
export function fromEach<State extends string, Trigger extends string>(
  states: readonly State[],
  rest: Omit<Transition<State, Trigger>, 'from'>,
): readonly Transition<State, Trigger>[] {
  return states.map((from) => ({ from, ...rest }));
}
