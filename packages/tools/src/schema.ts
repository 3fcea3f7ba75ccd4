import { createRequire } from 'node:module';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { refusal } from './errors.js';
import { compileJsonSchema } from './json-schema-validator.js';
import type { InputSchema, JsonSchema, Tool } from './tool.js';

/** Outcome of checking an input: the parsed value, or lines that each name a field. */
export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly string[] };

/** Checks and parses an input. */
export type InputParser = (input: unknown) => Promise<Parsed>;

const MAX_ISSUES = 8;

/** True for a Standard Schema of any library and any copy of it. */
export function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  if ((typeof schema !== 'object' || schema === null) && typeof schema !== 'function') return false;
  const standard = (schema as unknown as Record<string, unknown>)['~standard'] as StandardSchemaV1.Props | undefined;
  return typeof standard?.validate === 'function';
}

/** The parser for a schema. A JSON Schema leaves the value as it is. @throws ToolError `invalid_schema` */
export function inputParser(schema: InputSchema, options: { readonly ignorePatterns?: boolean } = {}): InputParser {
  if (isStandardSchema(schema)) return (input) => parseStandard(schema, input);
  const validate = compileJsonSchema(schema, options);
  return async (input) => {
    const issues = validate(input);
    return issues.length === 0 ? { ok: true, value: input } : { ok: false, issues };
  };
}

/**
 * The JSON Schema shown to a model. Schemas describe themselves (Standard JSON Schema); a zod 4 without that is
 * converted by the zod that is installed.
 * @throws ToolError `invalid_schema` when the schema cannot be described: give `inputJsonSchema` then.
 */
export function inputJsonSchema(tool: Pick<Tool, 'name' | 'inputSchema' | 'inputJsonSchema'>): JsonSchema {
  if (tool.inputJsonSchema !== undefined) return tool.inputJsonSchema;
  if (!isStandardSchema(tool.inputSchema)) return tool.inputSchema;
  const described = selfDescription(tool.inputSchema) ?? zodDescription(tool.inputSchema);
  if (described === undefined) {
    const message = `Tool "${tool.name}": its schema has no JSON Schema form. Give one as inputJsonSchema.`;
    throw refusal('invalid_schema', message);
  }
  return described;
}

async function parseStandard(schema: StandardSchemaV1, input: unknown): Promise<Parsed> {
  const result = await schema['~standard'].validate(input);
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, issues: result.issues.slice(0, MAX_ISSUES).map(describeIssue) };
}

function describeIssue(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
  return `${path === '' ? 'input' : path}: ${issue.message}`;
}

interface SelfDescribing {
  readonly jsonSchema?: { input?(options: { readonly target: string }): JsonSchema };
}

function selfDescription(schema: StandardSchemaV1): JsonSchema | undefined {
  const standard = schema['~standard'] as StandardSchemaV1.Props & SelfDescribing;
  return standard.jsonSchema?.input?.({ target: 'draft-07' });
}

function zodDescription(schema: StandardSchemaV1): JsonSchema | undefined {
  if (schema['~standard'].vendor !== 'zod' || !('_zod' in schema)) return undefined;
  const zod = createRequire(import.meta.url)('zod') as { toJSONSchema(schema: unknown, options: object): JsonSchema };
  return zod.toJSONSchema(schema, { io: 'input', target: 'draft-7' });
}
