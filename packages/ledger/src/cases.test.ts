import { readFileSync } from 'node:fs';
import { freshSqlite } from '@stint/storage/testing';
import { expect, it } from 'vitest';
import { testLedger } from './testing.js';

const cases = [
  'L01',
  'L03',
  'L05',
  'L07',
  'L09',
  'L11',
  'L13',
  'L15',
  'L17',
  'L19',
  'L21',
  'L23',
  'L25',
  'L27',
  'L29',
  'L31',
  'L33',
];

it('names every case of the ledger in the title of a test that both engines run', () => {
  const titles: string[] = [];
  const runner = { describe: (_name: string, define: () => void) => define(), it: (name: string) => titles.push(name) };
  testLedger(runner, 'no engine', async () => freshSqlite());
  const named = new Set(titles.flatMap((title) => [...title.matchAll(/\bcase (L\d\d)\b/gu)].map(([, id]) => id)));
  expect(named).toEqual(new Set(cases));
  for (const engine of ['sqlite', 'postgres']) {
    const test = readFileSync(new URL(`./${engine}.test.ts`, import.meta.url), 'utf8');
    expect(test, engine).toMatch(/^testLedger\(\{ describe, it \}/mu);
  }
});
