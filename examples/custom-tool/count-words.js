// A tool of your own: copy this file, change it, and name it in your configuration: tools: ['./count-words.js'].
// Try it alone: npm install && node count-words.js
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createRegistry, defineTool, resolveInside, ToolError } from '@stint/tools';
import { z } from 'zod';

const countWords = defineTool({
  name: 'count_words',
  description: 'Counts the words of a text file in the workspace.',
  inputSchema: z.object({
    path: z.string().describe('Path of the file'),
    atLeast: z.number().int().min(1).default(1).describe('Count words of at least so many letters'),
  }),
  readOnly: true, // it changes nothing, so it may be run again after a crash
  concurrencySafe: true, // and beside other calls
  async execute({ path, atLeast }, { workspace, signal }) {
    const real = await resolveInside(workspace?.root ?? '.', path); // refuses what leads out of the workspace
    const text = await readFile(real, { encoding: 'utf8', signal }).catch((cause) => {
      // "none": nothing changed. Without it a failure of a tool that is not read-only counts as "nobody knows".
      throw new ToolError('not_found', `${path} cannot be read.`, { errorEffect: 'none', cause });
    });
    return { words: text.split(/\s+/).filter((word) => word.length >= atLeast).length };
  },
});

export default countWords;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const registry = createRegistry([countWords]);
  const context = {
    signal: AbortSignal.timeout(10_000),
    workspace: { root: fileURLToPath(new URL('.', import.meta.url)) },
  };
  for (const input of [
    { path: 'count-words.js', atLeast: 3 },
    { path: 'missing.txt' },
    { path: '../../x' },
    { path: 7 },
  ]) {
    const { ok, output, errorEffect } = await registry.call('count_words', input, context);
    console.log(ok ? 'ok' : `failed, effect ${errorEffect}`, '-', output);
  }
}
