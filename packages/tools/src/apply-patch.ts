import { lstat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ToolError, isToolError, messageOf, refusal } from './errors.js';
import { withFileLocks } from './file-lock.js';
import { type FilePatch, patchedBytes, readPatch } from './patch-plan.js';
import { missingFolders, removeFile, removeFolders, replaceFile } from './replace-file.js';
import { type LoadedFile, loadFile, requireText, requireWellFormed } from './text-file.js';
import { type Tool, type ToolContext, defineTool } from './tool.js';
import type { WorkspaceState } from './workspace-state.js';
import { type ConfinedPath, isInside } from './workspace.js';
import { confineWritable } from './writable-path.js';

/** One file's change, worked out and checked before anything is written. */
interface Change {
  readonly path: ConfinedPath;
  readonly before: LoadedFile | undefined;
  /** Undefined: the file is removed. */
  readonly after: Buffer | undefined;
}

const description = `Applies a unified diff to files of the workspace: all of it or nothing. "--- /dev/null" adds a file, "+++ /dev/null" removes one \
(all of its lines must be shown). Every context line and removed line must stand in the file; only line numbers and counts in "@@" may be off.`;

/** The tool `apply_patch`. */
export function applyPatchTool(state: WorkspaceState): Tool {
  return defineTool({
    name: 'apply_patch',
    description,
    inputSchema: {
      type: 'object',
      properties: { patch: { type: 'string', minLength: 1, description: 'Unified diff' } },
      required: ['patch'],
      additionalProperties: false,
    },
    destructive: true,
    errorOutput: null,
    source: 'built-in',
    outputs: state.outputs,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    approvalFacts: (input) => ({ paths: readPatch(String(input['patch'])).map(({ path }) => path) }),
    execute: (input, context) => apply(state, String(input['patch']), context),
  });
}

async function apply(state: WorkspaceState, text: string, context: ToolContext): Promise<string> {
  requireWellFormed(text, 'patch');
  const patches = await Promise.all(
    readPatch(text).map(async (patch) => ({ patch, path: await confineWritable(state, patch.path) })),
  );
  const paths = patches.map(({ path }) => path.real);
  requireApart(paths);
  return withFileLocks(paths, async () => {
    const changes: Change[] = [];
    for (const { patch, path } of patches) changes.push(await planChange(state, patch, path));
    await applyAll(state, changes, context);
    return changes.map(describe).join('\n');
  });
}

/** No file of a patch is another one, or a folder on the way to another one. */
function requireApart(paths: readonly string[]): void {
  if (new Set(paths).size < paths.length)
    throw refusal('invalid_patch', 'Two names in the patch are one file. Put all of its hunks under one header.');
  const isFolder = (path: string) => paths.some((other) => other !== path && isInside(path, other));
  if (paths.some(isFolder))
    throw refusal('invalid_patch', 'The patch names a file and something inside it, as if it were a folder too.');
}

async function planChange(state: WorkspaceState, patch: FilePatch, path: ConfinedPath): Promise<Change> {
  if (patch.kind === 'delete') await refuseLink(state.workspace.root, patch.path);
  const before = await loadFile(state.workspace, path).catch((error: unknown) => {
    if (isToolError(error) && error.code === 'not_found') return undefined;
    throw error;
  });
  state.versions.requireCurrent(path.real, path.shown, before?.bytes);
  if (patch.kind === 'add' && before !== undefined)
    throw refusal('already_exists', `The patch adds "${path.shown}", which exists. No file was changed.`);
  if (patch.kind !== 'add' && before === undefined)
    throw refusal('not_found', `The patch changes "${path.shown}", which does not exist. No file was changed.`);
  if (before !== undefined) requireText(before.bytes, path.shown);
  const after = patchedBytes(before?.bytes ?? Buffer.alloc(0), patch);
  return { path, before, after: patch.kind === 'delete' ? undefined : after };
}

/** Removing what a link leads to would leave the link behind, and is hardly what was meant. */
async function refuseLink(root: string, path: string): Promise<void> {
  const facts = await lstat(resolve(root, path)).catch(() => undefined); // a missing file is told later
  if (facts?.isSymbolicLink())
    throw refusal('is_link', `"${path}" is a link; a patch does not remove links. No file was changed; use shell.`);
}

/** Writes one after the other; at the first failure what was written is taken back. */
async function applyAll(state: WorkspaceState, changes: readonly Change[], context: ToolContext): Promise<void> {
  const done: Change[] = [];
  const made = await foldersToMake(state, changes);
  try {
    for (const change of changes) {
      await applyOne(state, change, context);
      done.push(change);
    }
  } catch (error) {
    await undo(state, done.reverse(), error);
    await removeFolders(state.workspace, made);
    throw error;
  }
}

/** Folders that added files need, the deepest first. */
async function foldersToMake(state: WorkspaceState, changes: readonly Change[]): Promise<readonly string[]> {
  const added = changes.filter(({ before }) => before === undefined);
  const missing = await Promise.all(added.map(({ path }) => missingFolders(state.workspace, dirname(path.real))));
  return [...new Set(missing.flat())].sort((one, other) => other.length - one.length);
}

async function applyOne(
  state: WorkspaceState,
  { path, before, after }: Change,
  context: Pick<ToolContext, 'gate' | 'signal'>,
): Promise<void> {
  const options = { replaces: before?.facts, context };
  if (after === undefined) await removeFile(state, path, options);
  else await replaceFile(state, path, after, options);
}

/** @throws ToolError `partly_applied`, effect unknown, when a file could not be put back */
async function undo(state: WorkspaceState, done: readonly Change[], reason: unknown): Promise<void> {
  const context = { signal: new AbortController().signal };
  for (const { path, before, after } of done) {
    try {
      const replaces = after === undefined ? undefined : (await loadFile(state.workspace, path)).facts;
      const mode = before === undefined ? {} : { mode: Number(before.facts.mode & 0o7777n) };
      if (before === undefined) await removeFile(state, path, { replaces, context });
      else await replaceFile(state, path, before.bytes, { replaces, context, ...mode });
    } catch (cause) {
      const message = `The patch failed (${messageOf(reason)}) and "${path.shown}" could not be put back (${messageOf(cause)}). Look at every file it names.`;
      throw new ToolError('partly_applied', message, { cause });
    }
  }
}

function describe({ path, before, after }: Change): string {
  if (before === undefined) return `Added ${path.shown}`;
  return after === undefined ? `Removed ${path.shown}` : `Updated ${path.shown}`;
}
