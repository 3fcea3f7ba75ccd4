import { refusal } from './errors.js';
import type { WorkspaceState } from './workspace-state.js';
import { type ConfinedPath, confineFile } from './workspace.js';

/**
 * A confined path of a file that tools may write. What belongs to git (`.git` at any depth, in any case, through any link) is not: hooks and
 * settings there run programs at the owner's next git command, whatever the policy says of the shell.
 * @throws ToolError as `confineFile`, and `protected_path`
 */
export async function confineWritable(state: WorkspaceState, path: string): Promise<ConfinedPath> {
  const confined = await confineFile(state.workspace, path);
  const isGits = confined.shown.split('/').some(isGit);
  if (!isGits || state.allowGitWrites) return confined;
  throw refusal(
    'protected_path',
    `"${confined.shown}" belongs to git and is not written by this tool. Run git in the shell, or ask the owner to change it.`,
  );
}

/** As file systems read a name that ignore case, invisible characters (HFS+), or dots and blanks at its end (Windows, with a short name too). */
function isGit(name: string): boolean {
  const plain = name.replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]|[. ]+$/g, '').toLowerCase();
  return plain === '.git' || plain === 'git~1';
}
