import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const here = new URL('.', import.meta.url);
const [listed = '', excusing = ''] = readFileSync(new URL('../CASES.md', here), 'utf8').split('\n## ');
const all = idsOf(listed);
const excused = idsOf(excusing);
const tested = new Set(
  testFiles()
    .flatMap(titles)
    .flatMap((title) => title.match(/[A-Z]\d\d/g) ?? []),
);

test('every case is in the title of a test or listed with the reason why it cannot arise', () => {
  expect(all.filter((id) => !tested.has(id) && !excused.includes(id))).toEqual([]);
  expect(excused.filter((id) => !all.includes(id))).toEqual([]);
  expect([...tested].filter((id) => id.startsWith('T') && !all.includes(id))).toEqual([]);
});

test('the list holds all cases, each once', () => {
  expect(['T', 'Y'].map((letter) => all.filter((id) => id.startsWith(letter)).length)).toEqual([19, 7]);
  expect(new Set(all).size).toBe(all.length);
});

/** Ids in the first cells of a table. */
function idsOf(text: string): readonly string[] {
  return [...text.matchAll(/^\| ([A-Z]\d\d)[ ,(]/gm)].map((match) => match[1] as string);
}

function testFiles(): readonly string[] {
  return readdirSync(here).filter((file) => file.endsWith('.test.ts'));
}

/** What titles of tests begin with: `case T01: ...`, in the first argument of a call. A comment does not count. */
function titles(file: string): readonly string[] {
  const code = readFileSync(new URL(file, here), 'utf8').replace(/^\s*\/\/.*$/gm, '');
  return [...code.matchAll(/\btest(?:\.\w+)?\(\s*[`'"](case [A-Z]\d\d[^:]*):/g)].map((match) => match[1] as string);
}
