import type { HookedModel, ModelCall } from '@stint/provider-hooks';
import type { PendingInput } from './types.js';

type State = 'pending' | 'bound' | 'done';

/** Inputs as a store keeps them: pending, bound to a request by its start, done by its finish, pending again by its failure. */
export class PendingBox {
  readonly #inputs: { readonly id: string; readonly message: string; state: State }[] = [];
  #closed = false;

  get count(): number {
    return this.#inputs.length;
  }

  get undone(): readonly string[] {
    return this.#inputs.filter((input) => input.state !== 'done').map((input) => input.id);
  }

  get state(): string {
    return this.#inputs.map((input) => `${input.state}: ${input.id}`).join();
  }

  say(message: string): void {
    if (this.#closed) return;
    this.#inputs.push({ id: `i${this.#inputs.length}`, message, state: 'pending' });
  }

  readonly drain = async (): Promise<readonly PendingInput[]> =>
    this.#inputs.filter((input) => input.state === 'pending').map(({ id, message }) => ({ id, message }));

  readonly close = async (): Promise<boolean> => {
    this.#closed = this.undone.length === 0;
    return this.#closed;
  };

  /** The model, with the box following its requests as a hook set would. */
  follow(model: HookedModel, onChange: () => void = () => undefined): HookedModel {
    const set = (ids: readonly string[], state: State): void => {
      for (const input of this.#inputs) if (ids.includes(input.id)) input.state = state;
      onChange();
    };
    return Object.create(model, {
      stream: {
        value: async function* (call: ModelCall) {
          const ids = call.facts?.inputIds ?? [];
          set(ids, 'bound');
          try {
            for await (const event of model.stream(call)) {
              if (event.type === 'finish') set(ids, 'done');
              yield event;
            }
          } catch (error) {
            set(ids, 'pending');
            throw error;
          }
        },
      },
    }) as HookedModel;
  }
}
