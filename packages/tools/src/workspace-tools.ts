import { join } from 'node:path';
import { editFileTool } from './edit-file.js';
import { createFileVersions } from './file-versions.js';
import { listDirectoryTool } from './list-directory.js';
import { createOutputStore, temporaryOutputStore } from './output-store.js';
import { readFileTool } from './read-file.js';
import { type ShellOptions, shellTool } from './shell.js';
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
    outputs:
      options.dataDir === undefined
        ? temporaryOutputStore()
        : createOutputStore({ directory: join(options.dataDir, 'outputs') }),
  };
  const reading = [readFileTool(state), listDirectoryTool(state)];
  if (options.mode === 'read') return reading;
  return [...reading, writeFileTool(state), editFileTool(state), shellTool(state, options)];
}
