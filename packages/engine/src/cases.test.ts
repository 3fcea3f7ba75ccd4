import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const engine = [
  'E01',
  'E03',
  'E05',
  'E07',
  'E09',
  'E11',
  'E13',
  'E15',
  'E17',
  'E19',
  'E21',
  'E23',
  'E25',
  'E27',
  'E29',
];
const requests = ['Y01', 'Y02', 'Y04', 'Y05', 'Y07', 'Y08', 'Y10', 'Y11', 'Y13'];
const tools = ['Y14', 'Y16', 'Y17', 'Y19', 'Y20'];
const usage = ['L13', 'L15', 'L19'];

test('every case is named in a test or listed as one that cannot arise, and none is both', () => {
  const named = idsIn(['engine', 'provider-hooks', 'journal'].flatMap(testsOf), /case ([ELY]\d\d)/g);
  const excused = idsIn([readFileSync(new URL('../CASES.md', import.meta.url), 'utf8')], /^\| ([ELY]\d\d) +\|/gm);
  const all = [...engine, ...requests, ...tools, ...usage];
  expect(all.filter((id) => !named.has(id) && !excused.has(id))).toEqual([]);
  expect([...excused].filter((id) => named.has(id) || !all.includes(id))).toEqual([]);
});

function testsOf(name: string): readonly string[] {
  const folder = fileURLToPath(new URL(`../../${name}/src/`, import.meta.url));
  const files = readdirSync(folder).filter((file) => /\.test\.ts$|^testing-/.test(file) && file !== 'cases.test.ts');
  return files.map((file) => readFileSync(folder + file, 'utf8'));
}

function idsIn(texts: readonly string[], pattern: RegExp): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1] as string)));
}
