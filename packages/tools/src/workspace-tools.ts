import { join } from 'node:path';
import { applyPatchTool } from './apply-patch.js';
import { editFileTool } from './edit-file.js';
import { type FetchOptions, fetchUrlTool } from './fetch-url.js';
import { createFileVersions } from './file-versions.js';
import { globTool } from './glob.js';
import { grepTool } from './grep.js';
import { listDirectoryTool } from './list-directory.js';
import { createOutputStore, temporaryOutputStore } from './output-store.js';
import { readFileTool } from './read-file.js';
import { type ShellOptions, shellTool } from './shell.js';
import { type TodoOptions, todoWriteTool } from './todo-write.js';
import type { Tool } from './tool.js';
import type { WorkspaceState } from './workspace-state.js';
import { openWorkspace } from './workspace.js';
import { writeFileTool } from './write-file.js';

/** Options of {@link workspaceTools}. */
export interface WorkspaceToolsOptions extends ShellOptions {
  /** The folder that every path is confined to. */
  readonly root: string;
  /** `read`: no tool that writes and no shell. */
  readonly mode: 'read' | 'write';
  /** Folder for whole outputs (`<dataDir>/outputs`); outside of the workspace. @default a private temporary folder */
  readonly dataDir?: string;
  /** True: files in `.git` can be written, not only through the shell. @default false */
  readonly allowGitWrites?: boolean;
  /** Options of `fetch_url`; its `environment` is that of the shell unless given. */
  readonly fetch?: FetchOptions;
  /** Options of `todo_write`. */
  readonly todo?: TodoOptions;
}

/**
 * The built-in tools for one folder. The tools of one call of this function share what they know of file versions, so
 * make one set for each run.
 * @throws ToolError `invalid_workspace`
 */
export function workspaceTools(options: WorkspaceToolsOptions): readonly Tool[] {
  const state: WorkspaceState = {
    workspace: openWorkspace(options.root),
    versions: createFileVersions(),
    swept: new Set(),
    allowGitWrites: options.allowGitWrites ?? false,
    outputs:
      options.dataDir === undefined
        ? temporaryOutputStore()
        : createOutputStore({ directory: join(options.dataDir, 'outputs') }),
  };
  const { environment } = options;
  const fetchOptions = { ...(environment === undefined ? {} : { environment }), ...options.fetch };
  const looking = [readFileTool(state), listDirectoryTool(state), globTool(state), grepTool(state)];
  const changing = [writeFileTool(state), editFileTool(state), applyPatchTool(state), shellTool(state, options)];
  const beside = [fetchUrlTool(fetchOptions), todoWriteTool(options.todo)];
  return options.mode === 'read' ? [...looking, ...beside] : [...looking, ...changing, ...beside];
}
