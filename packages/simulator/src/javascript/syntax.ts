/** The part of JavaScript's syntax tree that `parse` builds and `Interpreter` walks. */

export type Pattern =
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'object-pattern'; readonly entries: readonly PatternEntry[]; readonly rest: Pattern | null }
  | {
      readonly type: 'array-pattern';
      readonly elements: readonly (PatternElement | null)[];
      readonly rest: Pattern | null;
    };

export interface PatternElement {
  readonly target: Pattern;
  readonly byDefault: Expression | null;
}

export interface PatternEntry extends PatternElement {
  readonly key: Expression;
}

export interface FunctionBody {
  readonly name: string;
  readonly parameters: readonly PatternElement[];
  readonly rest: Pattern | null;
  /** An arrow function may be an expression; it is then one return statement. */
  readonly body: readonly Statement[];
  readonly arrow: boolean;
}

export interface ClassMember {
  readonly key: Expression;
  readonly isStatic: boolean;
  readonly kind: 'method' | 'field' | 'getter';
  readonly value: Expression | null;
}

export type Expression =
  | { readonly type: 'literal'; readonly value: string | number | boolean | null | undefined }
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'this' }
  | { readonly type: 'regex'; readonly raw: string }
  | { readonly type: 'template'; readonly chunks: readonly string[]; readonly values: readonly Expression[] }
  | { readonly type: 'array'; readonly elements: readonly Element[] }
  | { readonly type: 'object'; readonly members: readonly ObjectMember[] }
  | { readonly type: 'function'; readonly function: FunctionBody }
  | { readonly type: 'class'; readonly name: string; readonly members: readonly ClassMember[] }
  | { readonly type: 'unary'; readonly operator: string; readonly operand: Expression }
  | { readonly type: 'update'; readonly operator: '++' | '--'; readonly prefix: boolean; readonly target: Expression }
  | { readonly type: 'binary'; readonly operator: string; readonly left: Expression; readonly right: Expression }
  | { readonly type: 'logical'; readonly operator: string; readonly left: Expression; readonly right: Expression }
  | {
      readonly type: 'assign';
      readonly operator: string;
      readonly target: Expression | Pattern;
      readonly value: Expression;
    }
  | { readonly type: 'conditional'; readonly test: Expression; readonly yes: Expression; readonly no: Expression }
  | {
      readonly type: 'call';
      readonly callee: Expression;
      readonly args: readonly Element[];
      readonly optional: boolean;
    }
  | { readonly type: 'new'; readonly callee: Expression; readonly args: readonly Element[] }
  | { readonly type: 'member'; readonly object: Expression; readonly key: Expression; readonly optional: boolean }
  | { readonly type: 'chain'; readonly expression: Expression }
  | { readonly type: 'sequence'; readonly expressions: readonly Expression[] };

/** An argument or array element; spread or not. */
export interface Element {
  readonly spread: boolean;
  readonly value: Expression;
}

export type ObjectMember =
  | { readonly kind: 'value'; readonly key: Expression; readonly value: Expression }
  | { readonly kind: 'spread'; readonly value: Expression };

export interface Declarator {
  readonly target: Pattern;
  readonly value: Expression | null;
}

export interface ModuleName {
  /** Name in the module that exports; `*` for the whole namespace. */
  readonly from: string;
  readonly to: string;
}

export type Statement =
  | { readonly type: 'expression'; readonly expression: Expression }
  | { readonly type: 'declare'; readonly kind: 'var' | 'let' | 'const'; readonly declarators: readonly Declarator[] }
  | { readonly type: 'function'; readonly function: FunctionBody }
  | { readonly type: 'class'; readonly name: string; readonly value: Expression }
  | { readonly type: 'block'; readonly body: readonly Statement[] }
  | { readonly type: 'if'; readonly test: Expression; readonly yes: Statement; readonly no: Statement | null }
  | {
      readonly type: 'for';
      readonly init: Statement | null;
      readonly test: Expression | null;
      readonly update: Expression | null;
      readonly body: Statement;
    }
  | {
      readonly type: 'for-each';
      readonly of: boolean;
      readonly target: Pattern;
      readonly source: Expression;
      readonly body: Statement;
    }
  | { readonly type: 'while'; readonly test: Expression; readonly body: Statement; readonly bodyFirst: boolean }
  | { readonly type: 'return' | 'throw'; readonly value: Expression | null }
  | { readonly type: 'break' | 'continue' }
  | {
      readonly type: 'try';
      readonly body: Statement;
      readonly parameter: Pattern | null;
      readonly handler: Statement | null;
      readonly finalizer: Statement | null;
    }
  | {
      readonly type: 'switch';
      readonly value: Expression;
      readonly cases: readonly { readonly test: Expression | null; readonly body: readonly Statement[] }[];
    }
  | { readonly type: 'import'; readonly source: string; readonly names: readonly ModuleName[] }
  | { readonly type: 'export-from'; readonly source: string; readonly names: readonly ModuleName[] }
  | { readonly type: 'export-names'; readonly names: readonly ModuleName[] }
  | { readonly type: 'export'; readonly declaration: Statement }
  | { readonly type: 'export-default'; readonly value: Expression };
