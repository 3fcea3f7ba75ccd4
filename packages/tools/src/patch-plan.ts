import { parsePatch, type StructuredPatch } from 'diff';
import { messageOf, refusal } from './errors.js';
import { repairHunkCounts } from './patch-counts.js';
import { applyHunks } from './patch-apply.js';
import { hunksOf } from './patch-lines.js';
import { bomLength } from './text-file.js';

/** What a patch does to one file. */
export interface FilePatch {
  readonly kind: 'add' | 'update' | 'delete';
  /** As the patch names it, without `a/` or `b/`. */
  readonly path: string;
  readonly patch: StructuredPatch;
}

const NOWHERE = '/dev/null';
const MARK = '\ufeff';

/**
 * Reads a unified diff. Wrong counts in hunk headers are corrected from the lines that follow.
 * @throws ToolError `invalid_patch`
 */
export function readPatch(text: string): readonly FilePatch[] {
  if (text.includes('\0'))
    throw refusal('invalid_patch', 'The patch holds a NUL character, which no text file has. Leave it out.');
  const files = parse(text).filter(
    ({ hunks, oldFileName, newFileName }) => hunks.length > 0 || oldFileName !== undefined || newFileName !== undefined,
  );
  if (files.length === 0)
    throw refusal(
      'invalid_patch',
      'The patch names no file. Each file needs "--- a/path" and "+++ b/path" lines, then hunks that start with "@@".',
    );
  const patches = files.map(filePatch);
  const twice = patches.find(({ path }, at) => patches.findIndex((other) => other.path === path) !== at);
  if (twice !== undefined)
    throw refusal('invalid_patch', `The patch names "${twice.path}" twice. Put all of its hunks under one header.`);
  return patches;
}

/**
 * The bytes of a text after the patch. A byte-order mark stays; the patch may name it or not.
 * @throws ToolError `patch_mismatch`, naming file and hunk
 */
export function patchedBytes(bytes: Buffer, patch: FilePatch): Buffer {
  const skip = bomLength(bytes);
  const text = bytes.toString('utf8', skip);
  const after = patchedText(text, skip > 0 ? unmarked(patch) : patch);
  return Buffer.concat([bytes.subarray(0, skip), Buffer.from(after, 'utf8')]);
}

/** The patch without a mark at the start of its first lines, if it begins at the first line. */
function unmarked(file: FilePatch): FilePatch {
  const [first, ...rest] = file.patch.hunks;
  if (first === undefined || first.oldStart > 1) return file;
  const firstOf = (signs: string) => first.lines.findIndex((line) => signs.includes(line.charAt(0)));
  const starts = new Set([firstOf(' -'), firstOf(' +')]);
  const lines = first.lines.map((line, at) =>
    starts.has(at) && line.charAt(1) === MARK ? line.charAt(0) + line.slice(2) : line,
  );
  return { ...file, patch: { ...file.patch, hunks: [{ ...first, lines }, ...rest] } };
}

/**
 * The text after the patch. Every context line and every removed line must stand there; only the line number may be off.
 * @throws ToolError `patch_mismatch`, naming file and hunk
 */
function patchedText(text: string, { path, patch, kind }: FilePatch): string {
  const result = applyHunks(text, hunksOf(patch));
  if ('failedHunk' in result) throw mismatch(path, patch, result.failedHunk);
  if (kind === 'delete' && result.text !== '') {
    throw refusal(
      'patch_mismatch',
      `The patch removes "${path}" but does not show all of its lines. Nothing was changed; read the file first.`,
    );
  }
  return result.text;
}

function parse(text: string): readonly StructuredPatch[] {
  try {
    return parsePatch(repairHunkCounts(text));
  } catch (cause) {
    throw refusal('invalid_patch', `The patch cannot be read: ${messageOf(cause)}`, cause);
  }
}

function filePatch(patch: StructuredPatch): FilePatch {
  const { oldFileName, newFileName, isRename, isCopy, isBinary, oldMode, newMode } = patch;
  if (oldFileName === undefined || newFileName === undefined)
    throw refusal('invalid_patch', 'A file in the patch lacks its "---" and "+++" lines.');
  const oldPath = withoutPrefix(oldFileName, 'a/');
  const newPath = withoutPrefix(newFileName, 'b/');
  const unsupported = isRename || isCopy ? 'renames or copies' : isBinary ? 'is binary for' : undefined;
  if (unsupported !== undefined)
    throw refusal('invalid_patch', `The patch ${unsupported} "${oldPath}", which is not supported. Use shell.`);
  if (oldMode !== undefined && newMode !== undefined)
    throw refusal('invalid_patch', `The patch changes the mode of "${oldPath}", which is not supported. Use shell.`);
  if (oldFileName === NOWHERE) return { kind: 'add', path: newPath, patch };
  if (newFileName === NOWHERE) return { kind: 'delete', path: oldPath, patch };
  if (oldPath !== newPath)
    throw refusal(
      'invalid_patch',
      `The patch renames "${oldPath}" to "${newPath}", which is not supported. Use shell.`,
    );
  return { kind: 'update', path: newPath, patch };
}

function withoutPrefix(name: string, prefix: string): string {
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

function mismatch(path: string, patch: StructuredPatch, at: number): Error {
  const hunk = patch.hunks[at];
  const line = hunk === undefined ? '' : ` (at line ${hunk.oldStart})`;
  const message = `Hunk ${at + 1} of ${patch.hunks.length} for "${path}"${line} does not match the file. No file was changed; read "${path}" and send the whole patch again.`;
  return refusal('patch_mismatch', message);
}
