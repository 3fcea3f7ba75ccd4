import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AccountSnapshot } from '@stint/ledger';
import { describe, expect, it } from 'vitest';
import { budgetRemedy } from './budget-remedy.js';
import { runCommandLine } from './command-line.js';

const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** Words of a command line as a shell splits them. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/"((?:\\.|[^"\\])*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

/** Parses a command without carrying it out; answers what the parser complains of. */
async function complaints(command: string): Promise<string[]> {
  const notes: string[] = [];
  const output = {
    line: () => undefined,
    json: () => undefined,
    note: (text: string) => void notes.push(text),
    interactive: false,
  };
  const [program, ...words] = wordsOf(command);
  expect(program).toBe('stint');
  const code = await runCommandLine(words, { output, carryOut: () => Promise.resolve(0) });
  return code === 0 ? [] : notes;
}

const filesIn = (directory: string, name: RegExp): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile() && name.test(entry.name) && !/node_modules|dist|CHANGELOG/.test(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name));

const names = 'run|local|list|show|watch|start|pause|resume|cancel|message|answer|retry|resolve|budget|tools';

/**
 * A command in a source or a text: `stint`, its name, and then what belongs to it: quoted texts, options with their values, a `${...}`, a
 * name in capitals as ID or ITEM/slug. The prose around it ends it.
 */
const inText = new RegExp(
  String.raw`\bstint (?:${names})\b(?:\\?\|[a-z]+)*(?: (?:"[^"]*"|\$\{[^}]*\}|--[a-z-]+|(?<=--[a-z-]+ )[^\s"\x60']+|(?<=(?:budget|tools) )[a-z]+|[A-Z]+(?:/[A-Za-z]+)?|0198[\w/]+))*`,
  'g',
);

/** Places where a value stands are filled by one that fits. */
const filledIn = (command: string): string =>
  command
    .replaceAll('${addition}', '--tokens 5')
    .replace(/\$\{[^}]*\}/g, '0198c2')
    .replace(/--usage [A-Z]+,[A-Z]+/, '--usage 1,2')
    .replace(/ N\b/g, ' 5');

/** `a|b|c` names three commands. */
function alternatives(command: string): string[] {
  const [choice] = /[a-z]+(?:\\?\|[a-z]+)+/.exec(command) ?? [];
  return choice === undefined ? [command] : choice.split(/\\?\|/).map((one) => command.replace(choice, one));
}

/** Commands named alone, as in "`stint list` shows them", stand for the command, not for a line to paste. */
const isNameOnly = (command: string): boolean => /^stint (?:budget |tools )?[a-z]+$/.test(command);

/** `stint budget ${example}` is put together where the help is made, which is looked at below. */
const isAssembled = (command: string): boolean => /^stint (?:budget|tools) 0198c2/.test(command);

const sources = ['packages', 'apps'].flatMap((folder) =>
  filesIn(join(repository, folder), /(?<!\.test|\.helper|\.fixture|\.support)\.tsx?$/).filter((file) =>
    file.includes('/src/'),
  ),
);
const texts = [
  ...['README.md', 'SECURITY.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'].map((file) => join(repository, file)),
  ...['packages', 'apps'].flatMap((folder) => filesIn(join(repository, folder), /^README\.md$/)),
];

/** Every command in these files, by where it stands. */
function commandsIn(files: readonly string[]): (readonly [command: string, file: string])[] {
  return files.flatMap((file) => {
    const text = readFileSync(file, 'utf8').replaceAll(String.raw`\"`, '"');
    return [...text.matchAll(inText)]
      .flatMap(([found]) => alternatives(filledIn(found)))
      .map((command) => [command, file.slice(repository.length)] as const);
  });
}

/** Lines of shell blocks, whole. */
const blockLines = texts.flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/^```(?:sh|bash|console)\n([\s\S]*?)^```/gm)]
    .flatMap(([, block = '']) => block.split('\n'))
    .map((line) => /^(?:\$ )?(?:npx )?(stint [^#]*)/.exec(line)?.[1]?.trim() ?? '')
    .filter((line) => line !== '')
    .map((line) => [line, file.slice(repository.length)] as const),
);

describe('every command that is printed anywhere', () => {
  const found = commandsIn([...sources, ...texts]);
  const pasted = found.filter(([command]) => !isNameOnly(command) && !isAssembled(command));

  it('is looked for where it is', () => {
    expect(pasted.length).toBeGreaterThan(25);
    expect(blockLines.length).toBeGreaterThan(2);
    for (const name of ['resolve', 'answer', 'retry', 'resume', 'budget', 'watch'])
      expect(
        pasted.some(([command]) => command.startsWith(`stint ${name}`)),
        name,
      ).toBe(true);
  });

  it.each(pasted)('%s (%s) is understood', async (command) => {
    expect(await complaints(command)).toEqual([]);
  });

  it.each(found.filter(([command]) => isNameOnly(command)))('%s (%s) exists', async (command) => {
    expect(await complaints(`${command} --help`)).toEqual([]);
  });

  it.each(blockLines)('%s (a block of %s) is understood', async (command) => {
    expect(await complaints(command)).toEqual([]);
  });
});

const commands = [
  ...names.split('|').filter((name) => name !== 'budget' && name !== 'tools'),
  'budget show',
  'budget extend',
  'budget resume',
  'tools list',
  'tools serve',
];

it.each(commands)('the examples in the help of stint %s are understood', async (name) => {
  const lines: string[] = [];
  const output = {
    line: (text: string) => void lines.push(text),
    json: () => undefined,
    note: () => undefined,
    interactive: false,
  };
  expect(await runCommandLine([...name.split(' '), '--help'], { output })).toBe(0);
  const examples = [...lines.join('\n').matchAll(/^ {2}\$ (stint .*)$/gm)].map(([, example = '']) => example);
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples) expect(await complaints(example)).toEqual([]);
});

describe('the command that a budget stop offers', () => {
  const stopped = {
    account: 'item:i',
    remaining: { requests: 0, tokens: 5, costMicros: 0 },
    limits: { maxConsecutiveFailures: 3 },
    failures: { d: { failures: 3 } },
  };
  it.each(['tokens_exhausted', 'requests_exhausted', 'cost_exhausted', 'failures_exhausted'])(
    'for %s is understood',
    async (code) => {
      const stopReason = { code, account: 'item:i', limit: 7, estimate: { tokens: 90, costMicros: 3 } };
      const command = budgetRemedy('0198c2', { ...stopped, stopReason } as unknown as AccountSnapshot) ?? '';
      expect(command).toMatch(/^stint budget extend 0198c2 --\w+ [\d.]+ --resume$/);
      expect(await complaints(command)).toEqual([]);
    },
  );
});
