import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { OutputStore } from './output-store.js';
import type { ProcessRecord } from './process-record.js';
import { refusal } from './errors.js';

/** A JSON Schema document. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Any Standard Schema (zod, valibot, arktype, ...) or a JSON Schema document. */
export type InputSchema = StandardSchemaV1 | JsonSchema;

/** What `execute` receives for a schema: its parsed output, or a plain record for JSON Schema. */
export type InputOf<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : Readonly<Record<string, unknown>>;

/** A fact that is fixed, or depends on the (validated) input. A function that throws counts as the dangerous answer. */
export type InputFact<Input> = boolean | { of(input: Input): boolean }['of'];

/** Where the effects of a tool can be seen: in the run's own collector only, or outside of it. */
export type SideEffectScope = 'run' | 'external';

/** The folder a call works in. */
export interface WorkspaceFacts {
  /** Absolute path. */
  readonly root: string;
}

/** What a tool is given besides its input. */
export interface ToolContext {
  /** Aborts at the caller's wish and at the time limit. Everything the tool started must be gone when it settles. */
  readonly signal: AbortSignal;
  /** Id of this call: the caller's `toolCallId`, or a fresh one. */
  readonly callId: string;
  /** The folder the caller works in, if it named one. */
  readonly workspace?: WorkspaceFacts;
  /** Where whole outputs are kept. */
  readonly outputs: OutputStore;
  /** Says that the tool is alive: the time limit starts again, up to the absolute limit. */
  readonly reportProgress: (progress?: ToolProgress) => void;
  /** Named points at which a test may end the process. Synchronous. */
  readonly gate?: (point: string) => void;
  /** Awaited with the identity of a process group before the command in it runs. A rejection means: not run. */
  readonly onProcess?: (process: ProcessRecord) => Promise<void> | void;
}

/** A progress report of a running call. */
export interface ToolProgress {
  readonly progress?: number;
  readonly total?: number;
  readonly message?: string;
}

/** What approval rules look at, taken from an input. */
export interface ApprovalFacts {
  /** Paths the call names, as given. */
  readonly paths?: readonly string[];
  /** The shell command the call would run. */
  readonly command?: string;
}

/** Hints in the words of the Model Context Protocol, for display; nothing is decided from them. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** A tool as its author writes it: data plus one function. */
export interface ToolDefinition<Schema extends InputSchema = InputSchema> {
  /** 1 to 64 letters, digits, `_` or `-`: what every provider accepts. */
  readonly name: string;
  /** Told to the model. */
  readonly description: string;
  readonly inputSchema: Schema;
  /** JSON Schema shown to the model. @default derived from `inputSchema` */
  readonly inputJsonSchema?: JsonSchema;
  /**
   * Returns text, or a JSON value that is shown as JSON text. Throw `ToolError` with `errorEffect: 'none'` when
   * nothing changed; any other throw counts as unknown, unless the tool is read-only.
   */
  execute(input: InputOf<Schema>, context: ToolContext): unknown;
  /** Changes nothing anywhere; may be run again after a crash. @default false */
  readonly readOnly?: InputFact<InputOf<Schema>>;
  /** May destroy what cannot be brought back. @default false */
  readonly destructive?: InputFact<InputOf<Schema>>;
  /** May run beside other calls. @default false */
  readonly concurrencySafe?: InputFact<InputOf<Schema>>;
  /** How a returned value can be a failure; `null`: only a throw is. @default 'json-error-envelope' */
  readonly errorOutput?: 'json-error-envelope' | null;
  /** @default 'external' */
  readonly sideEffectScope?: SideEffectScope;
  /** Limit of a call, or without progress if it reports any; <= 0: none. @default 90_000 */
  readonly timeoutMs?: number | { of(input: InputOf<Schema>): number }['of'];
  /** Limit that progress cannot extend; <= 0: none. @default 0 */
  readonly absoluteTimeoutMs?: number;
  /** Old names that keep resolving and are hidden from the model. @default [] */
  readonly aliases?: readonly string[];
  /** Most bytes of output the model sees. @default 32_768 */
  readonly outputLimitBytes?: number;
  /** Where the tool comes from, e.g. `built-in` or `mcp:files`. @default 'custom' */
  readonly source?: string;
  readonly annotations?: ToolAnnotations;
  /** What approval rules look at. @default the own string properties `path` and `command` of the input */
  readonly approvalFacts?: { of(input: InputOf<Schema>): ApprovalFacts }['of'];
  /** Where this tool keeps whole outputs; a registry without a store of its own uses the first it meets. */
  readonly outputs?: OutputStore;
}

/** A complete tool: every default filled in, frozen. */
export interface Tool extends ToolDefinition {
  readonly readOnly: InputFact<unknown>;
  readonly destructive: InputFact<unknown>;
  readonly concurrencySafe: InputFact<unknown>;
  readonly errorOutput: 'json-error-envelope' | null;
  readonly sideEffectScope: SideEffectScope;
  readonly timeoutMs: number | { of(input: unknown): number }['of'];
  readonly absoluteTimeoutMs: number;
  readonly aliases: readonly string[];
  readonly outputLimitBytes: number;
  readonly source: string;
  execute(input: unknown, context: ToolContext): unknown;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Limit of a call that names none. */
export const DEFAULT_TIMEOUT_MS = 90_000;

/** Smallest `outputLimitBytes`: room for the marker that says where the rest is. */
export const MIN_OUTPUT_LIMIT_BYTES = 512;

/**
 * Completes and checks a definition. The same input gives an equal tool, so a tool may be passed through again.
 * @throws ToolError `invalid_tool` when the name, description, schema, function or a limit is unusable.
 */
export function defineTool<const Schema extends InputSchema>(definition: ToolDefinition<Schema>): Tool {
  checkDefinition(definition as unknown as ToolDefinition);
  return Object.freeze({
    ...(definition as unknown as ToolDefinition),
    execute: (input: unknown, context: ToolContext) => definition.execute(input as InputOf<Schema>, context),
    readOnly: (definition.readOnly ?? false) as InputFact<unknown>,
    destructive: (definition.destructive ?? false) as InputFact<unknown>,
    concurrencySafe: (definition.concurrencySafe ?? false) as InputFact<unknown>,
    errorOutput: definition.errorOutput === undefined ? 'json-error-envelope' : definition.errorOutput,
    sideEffectScope: definition.sideEffectScope ?? 'external',
    timeoutMs: (definition.timeoutMs ?? DEFAULT_TIMEOUT_MS) as Tool['timeoutMs'],
    absoluteTimeoutMs: definition.absoluteTimeoutMs ?? 0,
    aliases: Object.freeze([...(definition.aliases ?? [])]),
    outputLimitBytes: definition.outputLimitBytes ?? 32_768,
    source: definition.source ?? 'custom',
  });
}

/**
 * Hints for a listing: those the tool gives, and where it gives none, those that follow from its facts. A fact that
 * depends on the input is hinted at as the dangerous case.
 */
export function annotationsOf({ readOnly, destructive, annotations }: Tool): ToolAnnotations {
  const readOnlyHint = readOnly === true;
  return { readOnlyHint, destructiveHint: !readOnlyHint && destructive !== false, ...annotations };
}

/** True if the name is one that every provider accepts. */
export function isToolName(name: unknown): boolean {
  return typeof name === 'string' && NAME.test(name);
}

function checkDefinition(definition: ToolDefinition): void {
  const { name, description, inputSchema, aliases = [], outputLimitBytes = 32_768 } = definition;
  const invalid = (what: string) => refusal('invalid_tool', `Tool ${JSON.stringify(name)} cannot be defined: ${what}.`);
  if (!isToolName(name)) throw invalid('its name must be 1 to 64 letters, digits, "_" or "-"');
  if (typeof description !== 'string') throw invalid('it has no description');
  if (typeof definition.execute !== 'function') throw invalid('it has no execute function');
  if (!isSchema(inputSchema)) throw invalid('its inputSchema is neither a Standard Schema nor a JSON Schema object');
  if (aliases.some((alias) => typeof alias !== 'string' || alias === '')) throw invalid('an alias is not a name');
  if (!Number.isSafeInteger(outputLimitBytes) || outputLimitBytes < MIN_OUTPUT_LIMIT_BYTES) {
    throw invalid(`outputLimitBytes must be an integer of at least ${MIN_OUTPUT_LIMIT_BYTES}`);
  }
}

function isSchema(schema: unknown): boolean {
  return (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) || typeof schema === 'function';
}
