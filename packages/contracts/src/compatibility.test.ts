import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { compareSchemas, generateSchemas, type Direction, type JsonSchema } from './compatibility.js';
import { openEnum } from './scalars.js';

function breaks(before: z.ZodType, after: z.ZodType, direction: Direction): boolean {
  const json = (schema: z.ZodType) => z.toJSONSchema(schema) as JsonSchema;
  const changes = compareSchemas(json(before), json(after), direction);
  expect(changes.length).toBeGreaterThan(0);
  return changes.some((change) => change.breaking);
}

const item = z.object({ id: z.string(), note: z.string().optional() });

test('the committed schemas are those of the code', () => {
  const directory = new URL('../schemas/', import.meta.url);
  const committed = Object.fromEntries(
    readdirSync(directory).map((name) => [
      name.replace('.json', ''),
      JSON.parse(readFileSync(new URL(name, directory), 'utf8')) as unknown,
    ]),
  );
  expect(generateSchemas()).toEqual(committed);
});

test.each([
  ['a field that is removed', item, z.object({ id: z.string() }), 'out'],
  ['a field of another type', item, item.extend({ id: z.number() }), 'out'],
  ['a field that may now be null', item, item.extend({ id: z.string().nullable() }), 'out'],
  ['a field that may now be missing', item, item.extend({ id: z.string().optional() }), 'out'],
  ['a new required field in a request', item, item.extend({ reason: z.string() }), 'in'],
  ['a field that becomes required in a request', item, item.extend({ note: z.string() }), 'in'],
  ['a narrowed enum in a request', z.enum(['a', 'b']), z.enum(['a']), 'in'],
  ['a new value where readers are closed', z.enum(['a']), z.enum(['a', 'b']), 'out'],
  ['a tighter bound in a request', z.string().max(9), z.string().max(8), 'in'],
  ['a wider bound in a DTO', z.string().max(8), z.string().max(9), 'out'],
  ['another constant', z.literal('a'), z.literal('b'), 'out'],
  ['a removed variant', z.union([z.string(), z.number()]), z.union([z.string()]), 'in'],
] as const)('%s breaks', (_name, before, after, direction) => {
  expect(breaks(before, after, direction)).toBe(true);
});

test.each([
  ['a new optional field', item, item.extend({ colour: z.string().optional() }), 'out'],
  ['a new value of an open enum', openEnum(['a']), openEnum(['a', 'b']), 'out'],
  ['a wider enum in a request', z.enum(['a']), z.enum(['a', 'b']), 'in'],
  ['a wider bound in a request', z.string().max(8), z.string().max(9), 'in'],
  ['a request field that becomes optional', item, item.extend({ id: z.string().optional() }), 'in'],
] as const)('%s does not break', (_name, before, after, direction) => {
  expect(breaks(before, after, direction)).toBe(false);
});

test('a change deep inside a shared part is found and named', () => {
  const shared = z.object({ tokens: z.int() });
  const before = z.object({ spent: z.array(shared), held: shared });
  const after = z.object({ spent: z.array(z.object({})), held: z.object({}) });
  const json = (schema: z.ZodType) => z.toJSONSchema(schema, { reused: 'ref' }) as JsonSchema;
  const paths = compareSchemas(json(before), json(after), 'out').map((change) => change.path);
  expect(paths).toContain('.spent[].tokens');
});
