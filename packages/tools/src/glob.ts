import { excerpt } from './bounded-text.js';
import { refusal } from './errors.js';
import { openDirectory } from './open-confined.js';
import { MAX_FILES, listFiles } from './ripgrep.js';
import { type Tool, type ToolContext, defineTool } from './tool.js';
import type { WorkspaceState } from './workspace-state.js';
import { confine } from './workspace.js';

const MAX_SHOWN = 500;
const TIMEOUT_MS = 20_000;

const description = `Lists files of the workspace whose path matches a pattern: * within a name, ** across folders, ? one character, [ab], {a,b}. A pattern \
without "/" matches names at any depth. Sorted by path, at most ${MAX_SHOWN}. Files that ignore files name and .git are left out.`;

/** The tool `glob`. */
export function globTool(state: WorkspaceState): Tool {
  return defineTool({
    name: 'glob',
    description,
    inputSchema: {
      type: 'object',
      properties: {
        pattern: { type: 'string', minLength: 1 },
        path: { type: 'string', description: 'Folder that the pattern starts from; default the whole workspace' },
        includeIgnored: { type: 'boolean', description: 'List ignored files too' },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    readOnly: true,
    concurrencySafe: true,
    errorOutput: null,
    timeoutMs: TIMEOUT_MS,
    source: 'built-in',
    outputs: state.outputs,
    annotations: { readOnlyHint: true, openWorldHint: false },
    execute: (input, context) => find(state, input, context),
  });
}

async function find(
  state: WorkspaceState,
  input: Readonly<Record<string, unknown>>,
  context: ToolContext,
): Promise<string> {
  const pattern = String(input['pattern']);
  if (pattern.startsWith('!'))
    throw refusal('invalid_pattern', `The pattern ${JSON.stringify(pattern)} says what not to list. Say what to list.`);
  const path = await confine(state.workspace, typeof input['path'] === 'string' ? input['path'] : '.');
  const directory = await openDirectory(state.workspace, path.real);
  try {
    const where = { cwd: directory.at('.'), signal: context.signal };
    const ignore = input['includeIgnored'] === true ? ['--no-ignore'] : [];
    const matching = await listFiles([...ignore, `--glob=${pattern}`], where);
    // A pattern overrides ignore files in ripgrep, so the files that are not ignored are asked for too.
    const visible = ignore.length > 0 ? matching : await listFiles([], where);
    const prefix = path.shown === '.' ? '' : `${path.shown}/`;
    return show(
      [...matching].filter((file) => visible.has(file)).sort(),
      prefix,
      Math.max(matching.size, visible.size) >= MAX_FILES,
    );
  } finally {
    await directory.close();
  }
}

function show(files: readonly string[], prefix: string, incomplete: boolean): string {
  const shown = files.slice(0, MAX_SHOWN).map((file) => prefix + excerpt(file, 4096));
  if (files.length > MAX_SHOWN) shown.push(`[${files.length - MAX_SHOWN} further files; narrow the pattern]`);
  if (incomplete) shown.push(`[only the first ${MAX_FILES} files were looked at; give a path]`);
  return shown.length === 0 ? 'No file matches.' : shown.join('\n');
}
