import { isUtf8 } from 'node:buffer';
import { randomInt } from 'node:crypto';
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ToolResult } from './index.js';
import { type TestWorkspace, testWorkspace, treeHash } from './workspace.test.helper.js';

const seed = randomInt(2 ** 31);
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Pieces that files are made of: everything that has ever been mistaken for something else. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('foo', 'bar', 'x', 'const a = 1;', ' ', '\t', '}') },
  { weight: 3, arbitrary: fc.constantFrom('\n', '\r\n') },
  { weight: 1, arbitrary: fc.constantFrom('\r', '\u2028', '\u0085', '\f', '\v') },
  { weight: 1, arbitrary: fc.constantFrom('é', '中文', '𝄞', '👨‍👩‍👧', 'ﬁ') },
  { weight: 1, arbitrary: fc.constantFrom('$&', '$1', '$$', '<<<<<<<', '=======', '\\n', '%s') },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
);

/** Without byte-order marks: which of two is the mark and which is text is a question for tests of their own. */
const textOf = (maxLength: number) =>
  fc.array(piece, { maxLength }).map((pieces) => pieces.join('').replaceAll('\ufeff', ''));

/** A file as it is before anything is done to it. */
interface File {
  readonly content: string;
  readonly encoding: 'utf8' | 'utf8-mark' | 'latin1' | 'utf16le' | 'broken';
  readonly mode: number;
  /** Bytes of a long line put before everything. */
  readonly padding: number;
}

/** One call on one of the files, or on a path that is none. */
interface Operation {
  readonly tool: 'edit_file' | 'write_file' | 'apply_patch';
  readonly target: number | (typeof NO_FILES)[number];
  readonly from: number;
  readonly length: number;
  readonly newText: string;
  readonly replaceAll: boolean;
  /** How the model spells the line breaks of what it quotes. */
  readonly spelling: 'exact' | 'lf' | 'crlf';
  /** Somebody else changes the file just before, and the model does not know. */
  readonly isStale: boolean;
}

/** Paths that no tool may write to. */
const NO_FILES = [
  '../work-outside/secret.txt',
  'folder',
  'folder/',
  'link',
  'dangling',
  'file-0.txt/',
  'file-0.txt/x',
] as const;
const FILES = 6;
const CALLS = 22;
const WORLDS = 100;

const file: fc.Arbitrary<File> = fc.record({
  content: textOf(60),
  encoding: fc.oneof(
    { weight: 6, arbitrary: fc.constant('utf8' as const) },
    {
      weight: 4,
      arbitrary: fc.constantFrom('utf8-mark' as const, 'latin1' as const, 'utf16le' as const, 'broken' as const),
    },
  ),
  mode: fc.constantFrom(0o644, 0o600, 0o755, 0o666),
  padding: fc.oneof({ weight: 60, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.constant(70_000) }),
});

const operation: fc.Arbitrary<Operation> = fc.record({
  tool: fc.constantFrom('edit_file', 'write_file', 'apply_patch'),
  target: fc.oneof(
    { weight: 12, arbitrary: fc.nat(FILES - 1) },
    { weight: 1, arbitrary: fc.constantFrom(...NO_FILES) },
  ),
  from: fc.nat(200),
  length: fc.integer({ min: 1, max: 30 }),
  newText: textOf(8),
  replaceAll: fc.boolean(),
  spelling: fc.constantFrom('exact', 'lf', 'crlf'),
  isStale: fc.oneof({ weight: 15, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

function fileBytes({ content, encoding, padding }: File): Buffer {
  const whole = 'p'.repeat(padding) + content;
  if (encoding === 'utf8-mark') return Buffer.concat([MARK, Buffer.from(whole)]);
  if (encoding === 'broken') return Buffer.concat([Buffer.from(whole), Buffer.from([0xc3, 0x28])]);
  return Buffer.from(whole, encoding === 'utf8' ? 'utf8' : encoding);
}

/** A part of the text, in the spelling of the model. */
function oldTextOf(text: string, { from, length, spelling }: Operation): string {
  const characters = Array.from(text);
  const start = characters.length === 0 ? 0 : (from * 7) % characters.length;
  return spell(characters.slice(start, start + length).join(''), spelling);
}

function spell(text: string, spelling: Operation['spelling']): string {
  if (spelling === 'exact') return text;
  const plain = text.replaceAll('\r\n', '\n');
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
function checkEdited(before: Buffer, after: Buffer, newText: string, oldText: string): void {
  const isMarked = before.subarray(0, 3).equals(MARK);
  if (isMarked) expect(after.subarray(0, 3).equals(MARK)).toBe(true);
  const kept = unmarked(before).split(new RegExp(patternOf(oldText)));
  const edited = isMarked ? unmarked(after) : after.toString('utf8');
  let at = 0;
  kept.forEach((part, index) => {
    if (index > 0) {
      const replacement = new RegExp(newText.split(/\r?\n/).map(literal).join('\\r?\\n'), 'y');
      replacement.lastIndex = at;
      expect(replacement.test(edited)).toBe(true);
      at = replacement.lastIndex;
    }
    expect(edited.startsWith(part, at)).toBe(true);
    at += part.length;
  });
  expect(at).toBe(edited.length);
}

/** What writing the whole file must give: the mark stays, and CRLF if all of the old lines have it and no new one does. */
function writtenBytes(before: Buffer, content: string): Buffer {
  const old = before.toString('utf8');
  const isCrlf = /\r\n/.test(old) && !/(?<!\r)\n/.test(old) && !content.includes('\r\n');
  const text = isCrlf ? content.replaceAll('\n', '\r\n') : content;
  return Buffer.from(before.subarray(0, 3).equals(MARK) ? `\ufeff${text}` : text);
}

/** A patch of one hunk that puts new lines in the place of some, with what must come of it. */
interface Hunk {
  readonly patch: string;
  /** What stays before and after, for each place where the hunk may fit. */
  readonly places: () => Iterable<readonly [before: string, after: string]>;
  readonly added: string;
}

function hunkOf(path: string, text: string, { from, length, newText, spelling }: Operation): Hunk {
  const lines = text.split(/(?<=\n)/);
  const start = from % lines.length;
  const end = Math.min(lines.length, start + (length % 4) + 1);
  const [first, last] = [Math.max(0, start - 2), Math.min(lines.length, end + 2)];
  const added = `${newText.replaceAll('\r', '').replace(/\n$/, '')}x\n`;
  const show = (sign: string, part: readonly string[]): string =>
    part
      .map((line) => `${sign}${spell(line, spelling)}${line.endsWith('\n') ? '' : '\n\\ No newline at end of file\n'}`)
      .join('');
  const body =
    show(' ', lines.slice(first, start)) +
    show('-', lines.slice(start, end)) +
    show('+', added.split(/(?<=\n)/)) +
    show(' ', lines.slice(end, last));
  const keptAt = (at: number) => [lines.slice(0, at).join(''), lines.slice(at + end - start).join('')] as const;
  return {
    patch: `--- a/${path}\n+++ b/${path}\n@@ -${first + 1},${last - first} +${first + 1},${last - first} @@\n${body}`,
    // Quoted with other line breaks it may not fit where it says, and fit where the same lines have those.
    places: function* () {
      yield keptAt(start);
      if (spelling !== 'exact') for (let at = 0; at < lines.length; at += 1) yield keptAt(at);
    },
    added,
  };
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** A folder with the workspace, what lies beside it, and the data folder, filled. */
function worldOf(files: readonly File[]): TestWorkspace {
  const world = testWorkspace();
  mkdirSync(world.path('folder'));
  writeFileSync(join(world.outside, 'secret.txt'), 'foo\nbar\n');
  symlinkSync(join(world.outside, 'secret.txt'), world.path('link'));
  symlinkSync('nowhere', world.path('dangling'));
  files.forEach((each, at) => {
    world.write(`file-${at}.txt`, fileBytes(each));
    chmodSync(world.path(`file-${at}.txt`), each.mode);
  });
  return world;
}

const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

/** Does one call and judges it. Answers whether it changed the file. */
async function runOperation(world: TestWorkspace, each: Operation): Promise<boolean> {
  const name = typeof each.target === 'number' ? `file-${each.target}.txt` : each.target;
  const isFile = typeof each.target === 'number';
  if (isFile) await world.call('read_file', { path: name });
  if (isFile && each.isStale) world.write(name, Buffer.concat([world.bytes(name), Buffer.from('stale')]));
  const before = isFile ? world.bytes(name) : Buffer.from('foo\nbar\n');
  const mode = isFile ? statSync(world.path(name)).mode : 0;
  const all = dirname(world.root);
  const [whole, rest] = [treeHash(all), treeHash(all, world.path(name))];
  const judged = await callAndJudge(world, name, before, each);
  const { result } = judged;
  expect(treeHash(all, world.path(name))).toBe(rest);
  if (!result.ok) {
    expect(result.errorEffect).toBe('none');
    expect(treeHash(all)).toBe(whole);
    return false;
  }
  expect(isFile && isText(before) && !each.isStale).toBe(true);
  expect(statSync(world.path(name)).mode).toBe(mode);
  judged.check(world.bytes(name));
  return true;
}

interface Judged {
  readonly result: ToolResult;
  /** Judges the bytes after a call that worked. */
  check(after: Buffer): void;
}

async function callAndJudge(world: TestWorkspace, path: string, before: Buffer, each: Operation): Promise<Judged> {
  const { newText, replaceAll } = each;
  if (each.tool === 'write_file') {
    const result = await world.call('write_file', { path, content: newText });
    return { result, check: (after) => expect(after.equals(writtenBytes(before, newText))).toBe(true) };
  }
  const text = unmarked(before);
  if (each.tool === 'edit_file') {
    const oldText = oldTextOf(text, each);
    const result = await world.call('edit_file', { path, oldText, newText, replaceAll });
    if (result.code === 'no_match') expect(occurrences(text, oldText)).toBe(0);
    if (result.ok && !replaceAll) expect(occurrences(text, oldText)).toBe(1);
    return { result, check: (after) => checkEdited(before, after, newText, oldText) };
  }
  const { patch, places, added } = hunkOf(path, text, each);
  const result = await world.call('apply_patch', { patch });
  const mark = before.subarray(0, before.length - Buffer.byteLength(text)).toString();
  return {
    result,
    check(after) {
      const got = after.toString('utf8');
      for (const [head, tail] of places()) {
        const isKept = got.startsWith(mark + head) && got.endsWith(tail);
        if (isKept && got.slice(mark.length + head.length, got.length - tail.length).replaceAll('\r\n', '\n') === added)
          return;
      }
      expect.fail(`${JSON.stringify(text)} with ${JSON.stringify(patch)} became ${JSON.stringify(got)}`);
    },
  };
}

test(`random calls on random files change the bytes they say and no others; a call without effect changes nothing anywhere (seed ${seed})`, {
  timeout: 120_000,
}, async () => {
  const calls = { edit_file: 0, write_file: 0, apply_patch: 0 };
  const worked = { edit_file: 0, write_file: 0, apply_patch: 0 };
  const world = fc.tuple(
    fc.array(file, { minLength: FILES, maxLength: FILES }),
    fc.array(operation, { minLength: CALLS, maxLength: CALLS }),
  );
  await fc.assert(
    fc.asyncProperty(world, async ([files, operations]) => {
      const workspace = worldOf(files);
      for (const each of operations) {
        calls[each.tool] += 1;
        worked[each.tool] += (await runOperation(workspace, each)) ? 1 : 0;
      }
    }),
    { numRuns: WORLDS, seed, endOnFailure: true },
  );
  expect(calls.edit_file + calls.write_file + calls.apply_patch).toBeGreaterThanOrEqual(2_000);
  for (const tool of ['edit_file', 'write_file', 'apply_patch'] as const)
    expect([tool, worked[tool] > calls[tool] / 10]).toEqual([tool, true]);
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
