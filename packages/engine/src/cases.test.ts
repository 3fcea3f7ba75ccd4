import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const [listed = '', excusing = ''] = readFileSync(new URL('../CASES.md', import.meta.url), 'utf8').split('\n## ');
const all = idsOf(listed);
const excused = idsOf(excusing);
const named = new Set(
  ['engine', 'provider-hooks', 'journal'].flatMap(titlesOf).flatMap((title) => title.match(/[A-Z]\d\d/g) ?? []),
);

test('every case is in the title of a test or listed as one that cannot arise, and none is both', () => {
  expect(all.filter((id) => !named.has(id) && !excused.includes(id))).toEqual([]);
  expect(excused.filter((id) => named.has(id) || !all.includes(id))).toEqual([]);
  // Of the other letters there are more, about other packages.
  expect([...named].filter((id) => id.startsWith('E') && !all.includes(id))).toEqual([]);
});

test('the list holds all cases, each once', () => {
  const counts = ['E', 'Y', 'L'].map((letter) => all.filter((id) => id.startsWith(letter)).length);
  expect(counts).toEqual([15, 14, 3]);
  expect(new Set(all).size).toBe(all.length);
});

/** First cells of a table. */
function idsOf(text: string): readonly string[] {
  return [...text.matchAll(/^\| ([A-Z]\d\d) +\|/gm)].map((match) => match[1] as string);
}

/** What titles of tests begin with, `case E01, case Y20`: in the first argument of a call, or as the name of a shared case. */
function titlesOf(name: string): readonly string[] {
  const folder = fileURLToPath(new URL(`../../${name}/src/`, import.meta.url));
  const files = readdirSync(folder).filter((file) => /\.test\.ts$|^testing-/.test(file));
  const title = /(?:\(|name:)\s*['"`]((?:case [A-Z]\d\d(?:, )?)+): /g;
  return files.flatMap((file) => [...codeOf(folder + file).matchAll(title)].map((match) => match[1] as string));
}

/** A file without its comments: a case that only a comment names is not tested. */
function codeOf(path: string): string {
  return readFileSync(path, 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '');
}
