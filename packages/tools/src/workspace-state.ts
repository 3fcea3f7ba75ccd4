import type { FileVersions } from './file-versions.js';
import type { OutputStore } from './output-store.js';
import type { Workspace } from './workspace.js';

/** What the tools of one workspace share. */
export interface WorkspaceState {
  readonly workspace: Workspace;
  readonly versions: FileVersions;
  readonly outputs: OutputStore;
  /** Folders whose leftovers of killed processes have been looked for. */
  readonly swept: Set<string>;
  readonly allowGitWrites: boolean;
}
