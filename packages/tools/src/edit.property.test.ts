import { isUtf8 } from 'node:buffer';
import { randomInt } from 'node:crypto';
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type TestWorkspace, testWorkspace, treeHash } from './workspace.test.helper.js';

const seed = randomInt(2 ** 31);
const BATCHES = 110;
const BATCH = 20;
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Pieces that files are made of: everything that has ever been mistaken for something else. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('foo', 'bar', 'x', 'const a = 1;', ' ', '\t', '}') },
  { weight: 3, arbitrary: fc.constantFrom('\n', '\r\n') },
  { weight: 1, arbitrary: fc.constantFrom('\r', '\u2028', '\u0085', '\f', '\v') },
  { weight: 1, arbitrary: fc.constantFrom('é', '中文', '𝄞', '👨‍👩‍👧', '\ufeff', 'ﬁ') },
  { weight: 1, arbitrary: fc.constantFrom('$&', '$1', '$$', '<<<<<<<', '=======', '\\n', '%s') },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
);

const textOf = (maxLength: number) => fc.array(piece, { maxLength }).map((pieces) => pieces.join(''));

interface Case {
  readonly content: string;
  readonly encoding: 'utf8' | 'utf8-mark' | 'latin1' | 'utf16le' | 'broken';
  readonly from: number;
  readonly length: number;
  readonly newText: string;
  readonly replaceAll: boolean;
  /** How the model spells the line breaks of the old text. */
  readonly spelling: 'exact' | 'lf' | 'crlf';
  readonly mode: number;
  /** Bytes of a long line put before everything. */
  readonly padding: number;
}

const oneCase: fc.Arbitrary<Case> = fc.record({
  content: textOf(60),
  encoding: fc.oneof(
    { weight: 6, arbitrary: fc.constant('utf8' as const) },
    {
      weight: 4,
      arbitrary: fc.constantFrom('utf8-mark' as const, 'latin1' as const, 'utf16le' as const, 'broken' as const),
    },
  ),
  from: fc.nat(200),
  length: fc.integer({ min: 1, max: 30 }),
  newText: textOf(8),
  replaceAll: fc.boolean(),
  spelling: fc.constantFrom('exact', 'lf', 'crlf'),
  mode: fc.constantFrom(0o644, 0o600, 0o755, 0o666),
  padding: fc.oneof({ weight: 60, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.constant(70_000) }),
});

function fileBytes({ content, encoding, padding }: Case): Buffer {
  const whole = 'p'.repeat(padding) + content;
  if (encoding === 'utf8-mark') return Buffer.concat([MARK, Buffer.from(whole)]);
  if (encoding === 'broken') return Buffer.concat([Buffer.from(whole), Buffer.from([0xc3, 0x28])]);
  return Buffer.from(whole, encoding === 'utf8' ? 'utf8' : encoding);
}

function oldTextOf({ content, from, length, spelling }: Case): string {
  const characters = Array.from(content);
  const start = characters.length === 0 ? 0 : from % characters.length;
  const part = characters.slice(start, start + length).join('');
  if (spelling === 'exact') return part;
  const plain = part.replaceAll('\r\n', '\n');
  return spelling === 'lf' ? plain : plain.replaceAll('\n', '\r\n');
}

/** A pattern for text in which each line break may be LF or CRLF. */
function patternOf(text: string): string {
  return text.split(/\r?\n/).map(literal).join('(?:\\r\\n|(?<!\\r)\\n)') + '(?!(?<=\\r)\\n)';
}

/** Text of valid bytes without their mark. */
const unmarked = (bytes: Buffer): string => bytes.toString('utf8').replace(/^\ufeff/, '');

/** How often the old text stands in the text, overlaps included. */
function occurrences(whole: string, oldText: string): number {
  const pattern = new RegExp(patternOf(oldText), 'g');
  let count = 0;
  for (let match = pattern.exec(whole); match !== null; match = pattern.exec(whole)) {
    count += 1;
    pattern.lastIndex = match.index + 1;
  }
  return count;
}

/** Judges an edit without the code under test: between the places of the old text everything is there, and in order. */
function checkEdited(before: Buffer, after: Buffer, { newText }: Case, oldText: string): void {
  if (before.subarray(0, 3).equals(MARK)) expect(after.subarray(0, 3).equals(MARK)).toBe(true);
  const kept = unmarked(before).split(new RegExp(patternOf(oldText)));
  const replacement = new RegExp(newText.split(/\r?\n/).map(literal).join('\\r?\\n'), 'y');
  const edited = before.subarray(0, 3).equals(MARK) ? unmarked(after) : after.toString('utf8');
  let at = 0;
  kept.forEach((part, index) => {
    if (index > 0) {
      replacement.lastIndex = at;
      expect(replacement.test(edited)).toBe(true);
      at = replacement.lastIndex;
    }
    expect(edited.startsWith(part, at)).toBe(true);
    at += part.length;
  });
  expect(at).toBe(edited.length);
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

async function runCase(workspace: TestWorkspace, folder: string, each: Case): Promise<boolean> {
  const name = `${folder}/file.txt`;
  mkdirSync(workspace.path(folder));
  const before = fileBytes(each);
  workspace.write(name, before);
  chmodSync(workspace.path(name), each.mode);
  const hash = treeHash(workspace.path(folder));
  const oldText = oldTextOf(each);
  const result = await workspace.call('edit_file', {
    path: name,
    oldText,
    newText: each.newText,
    replaceAll: each.replaceAll,
  });
  const isText = isUtf8(before) && !before.includes(0);
  if (result.ok) {
    expect(isText && (each.replaceAll || occurrences(unmarked(before), oldText) === 1)).toBe(true);
    expect(statSync(workspace.path(name)).mode & 0o7777).toBe(each.mode);
    checkEdited(before, workspace.bytes(name), each, oldText);
    return true;
  }
  expect(result.errorEffect).toBe('none');
  expect(treeHash(workspace.path(folder))).toBe(hash);
  if (!isText) expect(['not_utf8', 'binary_file', 'invalid_input', 'no_change']).toContain(result.code);
  if (result.code === 'no_match') expect(occurrences(unmarked(before), oldText)).toBe(0);
  if (result.code === 'not_unique') expect(occurrences(unmarked(before), oldText)).toBeGreaterThan(1);
  return false;
}

test(`over ${BATCHES * BATCH} random files and edits, bytes outside the edit never change and a call that says none changed nothing (seed ${seed})`, {
  timeout: 120_000,
}, async () => {
  const workspace = testWorkspace();
  let cases = 0;
  let edited = 0;
  const batch = fc.array(oneCase, { minLength: BATCH, maxLength: BATCH });
  await fc.assert(
    fc.asyncProperty(batch, async (list) => {
      const outcomes = await Promise.all(list.map((each) => runCase(workspace, `case-${(cases += 1)}`, each)));
      edited += outcomes.filter(Boolean).length;
    }),
    { numRuns: BATCHES, seed, endOnFailure: true },
  );
  expect(cases).toBeGreaterThanOrEqual(2_000);
  expect(edited).toBeGreaterThan(cases / 8);
});

test(`a line of 20 MB is edited in its middle and nothing else changes (seed ${seed})`, async () => {
  const workspace = testWorkspace();
  const at = 1_000_000 + (seed % 18_000_000);
  const before = Buffer.alloc(20_000_000, 'é');
  before.write('needle', at - (at % 2));
  workspace.write('big.txt', before);
  expect((await workspace.call('edit_file', { path: 'big.txt', oldText: 'needle', newText: '針' })).ok).toBe(true);
  const start = at - (at % 2);
  expect(
    workspace
      .bytes('big.txt')
      .equals(Buffer.concat([before.subarray(0, start), Buffer.from('針'), before.subarray(start + 6)])),
  ).toBe(true);
});
