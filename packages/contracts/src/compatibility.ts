import * as z from 'zod';
import { publishedSchemas, type Direction } from './published.js';
import { UNRECOGNISED } from './scalars.js';

export { publishedSchemas, type Direction, type PublishedSchema } from './published.js';

/** JSON Schema as plain data. */
export type JsonSchema = { readonly [key: string]: unknown };

/** One difference between two versions of a schema. `breaking` = a peer of the other version stops working. */
export interface SchemaChange {
  readonly path: string;
  readonly what: string;
  readonly breaking: boolean;
}

/** The JSON Schema of each published schema, keyed by file name without `.json`. */
export function generateSchemas(): Readonly<Record<string, JsonSchema>> {
  const entries = Object.entries(publishedSchemas()).map(([name, { schema }]) => [
    name,
    z.toJSONSchema(schema, { io: 'output', reused: 'ref', unrepresentable: 'any' }) as JsonSchema,
  ]);
  return Object.fromEntries(entries) as Record<string, JsonSchema>;
}

/**
 * Compares two versions of one schema, following references.
 *
 * Breaking in both directions: a field removed or of another type, a new required field, an enum value removed. In requests also a bound made tighter; in DTOs also a bound made wider,
 * and a new enum value where readers are closed (their list has no `unrecognised`).
 */
export function compareSchemas(before: JsonSchema, after: JsonSchema, direction: Direction): readonly SchemaChange[] {
  const changes: SchemaChange[] = [];
  const comparison: Comparison = {
    before,
    after,
    direction,
    report: (change) => changes.push(change),
    seen: new Set(),
  };
  compareNodes(before, after, '', comparison);
  return changes;
}

interface Comparison {
  readonly before: JsonSchema;
  readonly after: JsonSchema;
  readonly direction: Direction;
  readonly report: (change: SchemaChange) => void;
  /** Pairs of references already compared: one shared schema is reported once. */
  readonly seen: Set<string>;
}

function compareNodes(rawBefore: JsonSchema, rawAfter: JsonSchema, path: string, comparison: Comparison): void {
  const pair = `${String(rawBefore['$ref'])} ${String(rawAfter['$ref'])}`;
  if (rawBefore['$ref'] !== undefined && rawAfter['$ref'] !== undefined) {
    if (comparison.seen.has(pair)) return;
    comparison.seen.add(pair);
  }
  const before = resolve(rawBefore, comparison.before);
  const after = resolve(rawAfter, comparison.after);
  if (!sameJson(before['type'], after['type']) || !sameJson(before['const'], after['const'])) {
    comparison.report({ path, what: `type ${typeOf(before)} became ${typeOf(after)}`, breaking: true });
    return;
  }
  compareEnums(before, after, path, comparison);
  compareBounds(before, after, path, comparison);
  compareFields(before, after, path, comparison);
  compareItems(before, after, path, comparison);
  compareVariants(before, after, path, comparison);
}

function compareEnums(before: JsonSchema, after: JsonSchema, path: string, { direction, report }: Comparison): void {
  const old = list(before['enum']);
  const now = list(after['enum']);
  for (const value of old.filter((one) => !now.includes(one))) {
    report({ path, what: `value ${String(value)} was removed`, breaking: true });
  }
  const closed = direction === 'out' && !old.includes(UNRECOGNISED);
  for (const value of now.filter((one) => !old.includes(one))) {
    report({ path, what: `value ${String(value)} was added`, breaking: closed });
  }
}

const UPPER_BOUNDS = ['maxLength', 'maxItems', 'maximum'];
const LOWER_BOUNDS = ['minLength', 'minItems', 'minimum'];

function compareBounds(before: JsonSchema, after: JsonSchema, path: string, comparison: Comparison): void {
  for (const bound of UPPER_BOUNDS) compareBound({ bound, path, comparison, isUpper: true }, before, after);
  for (const bound of LOWER_BOUNDS) compareBound({ bound, path, comparison, isUpper: false }, before, after);
}

interface Bound {
  readonly bound: string;
  readonly path: string;
  readonly comparison: Comparison;
  readonly isUpper: boolean;
}

function compareBound({ bound, path, comparison, isUpper }: Bound, before: JsonSchema, after: JsonSchema): void {
  const open = isUpper ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  const old = (before[bound] as number | undefined) ?? open;
  const now = (after[bound] as number | undefined) ?? open;
  if (old === now) return;
  const wider = isUpper ? now > old : now < old;
  const breaking = comparison.direction === 'in' ? !wider : wider;
  comparison.report({ path, what: `${bound} ${old} became ${now}`, breaking });
}

function compareFields(before: JsonSchema, after: JsonSchema, path: string, comparison: Comparison): void {
  const old = record(before['properties']);
  const now = record(after['properties']);
  const wasRequired = list(before['required']);
  const isRequired = list(after['required']);
  for (const [name, schema] of Object.entries(old)) {
    const field = `${path}.${name}`;
    const next = now[name];
    if (next === undefined) {
      comparison.report({ path: field, what: 'was removed', breaking: true });
      continue;
    }
    compareNodes(schema, next, field, comparison);
    compareRequired(field, wasRequired.includes(name), isRequired.includes(name), comparison);
  }
  for (const name of Object.keys(now).filter((one) => old[one] === undefined)) {
    const required = isRequired.includes(name);
    const what = required ? 'was added and is required' : 'was added and is optional';
    comparison.report({ path: `${path}.${name}`, what, breaking: required });
  }
}

function compareRequired(path: string, was: boolean, is: boolean, { direction, report }: Comparison): void {
  if (was === is) return;
  const breaking = is || direction === 'out';
  report({ path, what: is ? 'became required' : 'became optional', breaking });
}

function compareItems(before: JsonSchema, after: JsonSchema, path: string, comparison: Comparison): void {
  if (isSchema(before['items']) && isSchema(after['items'])) {
    compareNodes(before['items'], after['items'], `${path}[]`, comparison);
  }
}

function compareVariants(before: JsonSchema, after: JsonSchema, path: string, comparison: Comparison): void {
  const old = variants(before);
  const now = variants(after);
  for (const [index, schema] of old.entries()) {
    const next = now[index];
    if (next === undefined) comparison.report({ path, what: `variant ${index} was removed`, breaking: true });
    else compareNodes(schema, next, path, comparison);
  }
  if (now.length > old.length) {
    comparison.report({ path, what: 'a variant was added', breaking: comparison.direction === 'out' });
  }
}

function variants(schema: JsonSchema): readonly JsonSchema[] {
  return ['anyOf', 'oneOf', 'allOf', 'prefixItems'].flatMap((key) => list(schema[key]).filter(isSchema));
}

function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const reference = schema['$ref'];
  if (typeof reference !== 'string') return schema;
  const name = reference.replace('#/$defs/', '');
  const target = record(root['$defs'])[name];
  if (target === undefined) throw new Error(`The schema refers to ${reference}, which it does not define.`);
  return target;
}

function typeOf(schema: JsonSchema): string {
  return JSON.stringify(schema['const'] ?? schema['type'] ?? 'anything');
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function record(value: unknown): Readonly<Record<string, JsonSchema>> {
  return isSchema(value) ? (value as Readonly<Record<string, JsonSchema>>) : {};
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
