/** Plays steps against a store and the model, and compares them after each. A step is four numbers, so that any generator can draw it. */
import type { ModelAccount } from './ledger-model-types.js';
import * as accounts from './play-accounts.js';
import * as requests from './play-requests.js';
import * as settlements from './play-settlements.js';
import { type PlayOptions, PlayState, type Step } from './play-state.js';

export type { PlayOptions, Step } from './play-state.js';

type Action = (play: PlayState, step: Step) => Promise<void>;

/** A step's first number chooses; what is here more than once is played more often. */
const actions: readonly Action[] = [
  requests.reserve,
  requests.reserve,
  requests.reserve,
  requests.reserve,
  requests.reserve,
  settlements.settle,
  settlements.settle,
  settlements.settle,
  requests.release,
  requests.unknown,
  settlements.late,
  requests.crash,
  requests.reconcile,
  requests.repeat,
  accounts.stop,
  accounts.extend,
  accounts.extend,
  accounts.lower,
  accounts.resume,
  accounts.resume,
  accounts.close,
  accounts.fail,
  accounts.succeed,
  accounts.defer,
  accounts.giveAttempts,
  accounts.tick,
  accounts.tick,
];

/** @throws AssertionError at the first step after which store and model differ */
export async function playSteps(steps: readonly Step[], options: PlayOptions): Promise<void> {
  const play = new PlayState(options);
  await play.createTree(steps[0] ?? [0, 0, 0, 0]);
  for (const [index, step] of steps.entries()) {
    const action = actions[step[0] % actions.length] as Action;
    try {
      await action(play, step);
      await play.compare(play.model.accounts[step[3] % play.model.accounts.length] as ModelAccount);
    } catch (error) {
      throw new Error(`step ${index} ${JSON.stringify(step)} (${action.name})`, { cause: error });
    }
  }
  await play.prove();
}
