import { Unsupported } from './tokenize.js';
import { fail, type Value } from './values.js';

interface Binding {
  value: Value;
  readonly constant: boolean;
}

/** Names in one block, function or file, and those around it. */
export class Scope {
  readonly #bindings = new Map<string, Binding>();

  constructor(
    readonly parent: Scope | null,
    readonly isFunction: boolean,
    readonly self: Value = parent?.self,
  ) {}

  declare(name: string, value: Value, constant = false): void {
    this.#bindings.set(name, { value, constant });
  }

  /** Where `var` puts its names. */
  functionScope(): Scope {
    return this.isFunction || this.parent === null ? this : this.parent.functionScope();
  }

  /** @throws Unsupported for a name that is declared nowhere: it may be a global this reader does not have */
  get(name: string): Value {
    return this.#find(name).value;
  }

  has(name: string): boolean {
    return this.#bindings.has(name) || (this.parent?.has(name) ?? false);
  }

  set(name: string, value: Value): void {
    const binding = this.#find(name);
    if (binding.constant) throw fail('TypeError', `Assignment to constant variable ${name}`);
    binding.value = value;
  }

  #find(name: string): Binding {
    const binding = this.#bindings.get(name);
    if (binding !== undefined) return binding;
    if (this.parent === null) throw new Unsupported(`The name ${name} is not known.`);
    return this.parent.#find(name);
  }
}
