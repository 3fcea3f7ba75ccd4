import type { Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { excerpt } from './bounded-text.js';
import { refusal } from './errors.js';
import { type OpenDirectory, openDirectory } from './open-confined.js';
import { type Tool, defineTool } from './tool.js';
import type { WorkspaceState } from './workspace-state.js';
import { confine } from './workspace.js';

const MAX_ENTRIES = 1000;
/** Entries looked at, so that a folder of millions ends in time. */
const MAX_READ = 20_000;

/** The tool `list_directory`. */
export function listDirectoryTool(state: WorkspaceState): Tool {
  return defineTool({
    name: 'list_directory',
    description: `Lists a folder of the workspace, one entry a line: folders end in "/", links in "@", files are followed by their size in bytes. At most ${MAX_ENTRIES} entries.`,
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string', description: 'Folder; "." is the workspace' } },
      required: ['path'],
      additionalProperties: false,
    },
    readOnly: true,
    concurrencySafe: true,
    errorOutput: null,
    source: 'built-in',
    outputs: state.outputs,
    annotations: { readOnlyHint: true, openWorldHint: false },
    execute: (input) => list(state, String(input['path'])),
  });
}

async function list(state: WorkspaceState, given: string): Promise<string> {
  const path = await confine(state.workspace, given);
  const directory = await openDirectory(state.workspace, path.real);
  try {
    const { entries, more } = await readEntries(directory, path.shown);
    entries.sort((one, other) => (one.name < other.name ? -1 : 1));
    const shown = await Promise.all(entries.slice(0, MAX_ENTRIES).map((entry) => describe(directory, entry)));
    const left = entries.length - shown.length;
    if (left > 0 || more) shown.push(`[${more ? `more than ${left}` : left} further entries]`);
    return shown.length === 0 ? '(empty)' : shown.join('\n');
  } finally {
    await directory.close();
  }
}

async function readEntries(directory: OpenDirectory, shown: string): Promise<{ entries: Dirent[]; more: boolean }> {
  const entries: Dirent[] = [];
  try {
    for await (const entry of await opendir(directory.at('.'))) {
      if (entries.length === MAX_READ) return { entries, more: true };
      entries.push(entry);
    }
  } catch (error) {
    throw refusal('not_readable', `"${shown}" cannot be listed.`, error);
  }
  return { entries, more: false };
}

async function describe(directory: OpenDirectory, entry: Dirent): Promise<string> {
  const name = excerpt(entry.name, 255);
  if (entry.isDirectory()) return `${name}/`;
  if (entry.isSymbolicLink()) return `${name}@`;
  const facts = await lstat(directory.at(entry.name)).catch(() => undefined); // gone meanwhile: listed without size
  return facts === undefined ? name : `${name}  ${facts.size}`;
}
