import type { BigIntStats } from 'node:fs';
import { basename, dirname } from 'node:path';
import { writeAtomically } from './atomic-write.js';
import { openDirectory } from './open-confined.js';
import type { ToolContext } from './tool.js';
import type { WorkspaceState } from './workspace-state.js';
import type { ConfinedPath } from './workspace.js';

/** Writes the whole content of a confined file atomically and notes the version. The caller holds the file's lock. */
export async function replaceFile(
  state: WorkspaceState,
  path: ConfinedPath,
  content: Buffer,
  options: { readonly replaces: BigIntStats | undefined; readonly context: Pick<ToolContext, 'gate' | 'signal'> },
): Promise<void> {
  const { replaces, context } = options;
  const directory = await openDirectory(state.workspace, dirname(path.real), { create: replaces === undefined });
  try {
    const beforeRename = (): void => {
      context.signal.throwIfAborted();
      context.gate?.('tool:during');
    };
    await writeAtomically({ directory, name: basename(path.real), content, replaces, beforeRename });
    state.versions.saw(path.real, content);
  } finally {
    await directory.close();
  }
}
