/** A handle on a run for what runs inside it. Made by `createRunControl`, given as option `control`. */
export interface RunControl {
  /** Ends the run after the batch that is at work, as `ended_by_tool`, unless input arrived meanwhile. */
  requestEndTurn(): void;
  /** True from `requestEndTurn` until the loop has looked. */
  readonly isEndRequested: boolean;
  /** For the loop: answers whether an end was requested, and forgets it. */
  takeEndRequest(): boolean;
}

/** @example const control = createRunControl(); const submit = defineTool({ ..., execute: () => { control.requestEndTurn(); return 'ok'; } }) */
export function createRunControl(): RunControl {
  let requested = false;
  return {
    requestEndTurn: () => {
      requested = true;
    },
    get isEndRequested() {
      return requested;
    },
    takeEndRequest: () => {
      const was = requested;
      requested = false;
      return was;
    },
  };
}
