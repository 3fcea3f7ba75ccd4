import type { BigIntStats } from 'node:fs';
import { lstat, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { entryFacts, sweepLeftovers, writeAtomically } from './atomic-write.js';
import { ToolError, refusal, systemCode } from './errors.js';
import { openDirectory } from './open-confined.js';
import type { ToolContext } from './tool.js';
import type { WorkspaceState } from './workspace-state.js';
import type { ConfinedPath, Workspace } from './workspace.js';

/** How a file is replaced. */
export interface ReplaceOptions {
  /** Facts of the file as it was read; undefined: it must not exist. */
  readonly replaces: BigIntStats | undefined;
  readonly context: Pick<ToolContext, 'gate' | 'signal'>;
  /** Mode of a new file. */
  readonly mode?: number;
}

/**
 * Writes the whole content of a confined file atomically and notes the version. Folders it made are removed again if
 * the file could not be written. The caller holds the file's lock.
 */
export async function replaceFile(
  state: WorkspaceState,
  path: ConfinedPath,
  content: Buffer,
  options: ReplaceOptions,
): Promise<void> {
  const folder = dirname(path.real);
  const missing = options.replaces === undefined ? await missingFolders(state.workspace, folder) : [];
  try {
    await write(state, path, content, options);
  } catch (error) {
    await removeFolders(state.workspace, missing);
    throw error;
  }
  state.versions.saw(path.real, content);
}

/** Removes a confined file that is still as it was read. The caller holds the file's lock. */
export async function removeFile(
  state: WorkspaceState,
  path: ConfinedPath,
  { replaces, context }: ReplaceOptions,
): Promise<void> {
  const directory = await openDirectory(state.workspace, dirname(path.real));
  try {
    const name = basename(path.real);
    const now = await entryFacts(directory, name);
    if (now?.ino !== replaces?.ino || now?.ctimeNs !== replaces?.ctimeNs) {
      throw refusal('stale', `"${path.shown}" changed while it was being removed. Nothing was removed; read it again.`);
    }
    await directory.verify();
    if (context.signal.aborted) throw refusal('aborted', `"${path.shown}" was not removed: the call was stopped.`);
    context.gate?.('tool:during');
    await unlink(directory.at(name)).catch((cause: unknown) => {
      throw refusal('not_writable', `"${path.shown}" cannot be removed (${systemCode(cause) ?? 'error'}).`, cause);
    });
    await directory.sync().catch((cause: unknown) => {
      throw new ToolError('not_flushed', `"${path.shown}" was removed, but the folder could not be flushed to disk.`, {
        cause,
      });
    });
  } finally {
    await directory.close();
  }
  state.versions.forget(path.real);
}

async function write(
  state: WorkspaceState,
  path: ConfinedPath,
  content: Buffer,
  options: ReplaceOptions,
): Promise<void> {
  const { replaces, context, mode } = options;
  const folder = dirname(path.real);
  const directory = await openDirectory(state.workspace, folder, { create: replaces === undefined });
  try {
    if (!state.swept.has(folder)) await sweepLeftovers(directory);
    state.swept.add(folder);
    const beforeRename = (): void => {
      if (context.signal.aborted) throw refusal('aborted', `"${path.shown}" was not written: the call was stopped.`);
      context.gate?.('tool:during');
    };
    await writeAtomically({
      directory,
      name: basename(path.real),
      content,
      replaces,
      beforeRename,
      ...(mode === undefined ? {} : { mode }),
    });
  } finally {
    await directory.close();
  }
}

/** Folders on the way that do not exist, the deepest first. */
export async function missingFolders(workspace: Workspace, folder: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let at = folder; at !== workspace.root && (await presence(at)) === 'missing'; at = dirname(at)) missing.push(at);
  return missing;
}

async function presence(path: string): Promise<'there' | 'missing' | 'unreachable'> {
  try {
    await lstat(path);
    return 'there';
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? 'missing' : 'unreachable';
  }
}

/** Removes folders, given deepest first, that are there and empty. */
export async function removeFolders(workspace: Workspace, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    if ((await presence(folder)) !== 'there') continue;
    const parent = await openDirectory(workspace, dirname(folder));
    try {
      await rmdir(parent.at(basename(folder)));
    } catch (error) {
      if (systemCode(error) !== 'ENOTEMPTY') throw error; // somebody has put something in meanwhile: it stays
    } finally {
      await parent.close();
    }
  }
}
