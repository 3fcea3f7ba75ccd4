import { cpSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jsonSchema, tool } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createRegistry, toTool } from './index.js';
import { callContext, randomWord, temporaryFolder } from './workspace.test.helper.js';

test('a tool set of the AI SDK registers and runs unchanged, with call id and abort signal', async () => {
  const word = randomWord();
  const seen: unknown[] = [];
  const tools = {
    weather: tool({
      description: 'Tells the weather',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }, { toolCallId, abortSignal }) => {
        seen.push(toolCallId, abortSignal?.aborted);
        return { city, word };
      },
    }),
    add: tool({
      description: 'Adds',
      inputSchema: jsonSchema<{ a: number; b: number }>({
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      }),
      execute: async ({ a, b }) => a + b,
    }),
  };
  const registry = createRegistry(tools);
  const result = await registry.call('weather', { city: 'Bern' }, callContext({ toolCallId: 'call-7' }));
  expect(JSON.parse(result.output)).toEqual({ city: 'Bern', word });
  expect(seen).toEqual(['call-7', false]);
  expect((await registry.call('add', { a: 2, b: 3 }, callContext())).output).toBe('5');
  expect(await registry.call('add', { a: 2 }, callContext())).toMatchObject({
    code: 'invalid_input',
    errorEffect: 'none',
  });
  expect(registry.definitions().map(({ name, inputSchema }) => [name, inputSchema['type']])).toEqual([
    ['weather', 'object'],
    ['add', 'object'],
  ]);
});

test('an AI SDK tool that yields preliminary values gives its last one', async () => {
  const steps = tool({
    description: 'counts',
    inputSchema: z.object({}),
    async *execute() {
      yield 'first';
      yield 'last';
    },
  });
  expect((await createRegistry({ steps }).call('steps', {}, callContext())).output).toBe('last');
});

test('a zod schema of another copy of zod validates and shows its JSON Schema', async () => {
  const folder = temporaryFolder();
  const home = dirname(realpathSync(createRequire(import.meta.url).resolve('zod/package.json')));
  cpSync(home, join(folder, 'zod'), { recursive: true, filter: (path) => !path.endsWith('.d.ts') });
  const other = (await import(pathToFileURL(join(folder, 'zod', 'index.js')).href)) as typeof import('zod');
  expect(other.z.ZodObject).not.toBe(z.ZodObject);
  const foreign = {
    name: 'foreign',
    description: 'd',
    inputSchema: other.z.object({ n: other.z.number().min(3) }),
    execute: (input: { n: number }) => `n=${input.n}`,
  };
  const registry = createRegistry([toTool(foreign as never)]);
  expect((await registry.call('foreign', { n: 4 }, callContext())).output).toBe('n=4');
  expect((await registry.call('foreign', { n: 2 }, callContext())).output).toMatch(/^Invalid input for foreign. n: /);
  expect(registry.definitions()[0]?.inputSchema).toMatchObject({ properties: { n: { type: 'number', minimum: 3 } } });
});

test('a tool written for an MCP server registers unchanged; its hints count, its errors are failures', async () => {
  const word = randomWord();
  const tools = {
    find: {
      description: 'Finds',
      inputSchema: z.object({ what: z.string() }),
      annotations: { readOnlyHint: true },
      handler: async ({ what }: { what: string }, { signal }: { signal: AbortSignal }) => ({
        content: [{ type: 'text', text: `${what} ${word} ${signal.aborted}` }],
      }),
    },
    fail: { handler: () => ({ content: [{ type: 'text', text: word }], isError: true }) },
  };
  const registry = createRegistry(tools);
  expect((await registry.call('find', { what: 'x' }, callContext())).output).toBe(`x ${word} false`);
  expect(await registry.call('find', {}, callContext())).toMatchObject({ code: 'invalid_input' });
  expect(registry.get('find')).toMatchObject({ readOnly: true, destructive: false });
  expect(await registry.call('fail', {}, callContext())).toMatchObject({
    ok: false,
    output: word,
    errorEffect: 'unknown',
  });
  expect(registry.get('fail')).toMatchObject({ readOnly: false, destructive: true });
});

test('a value that is no tool is refused with its name', () => {
  expect(() => createRegistry({ broken: { description: 'no function', inputSchema: {} } })).toThrow(
    /"broken" is not a tool/,
  );
});
