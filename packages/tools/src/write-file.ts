import { isToolError } from './errors.js';
import { withFileLock } from './file-lock.js';
import { replaceFile } from './replace-file.js';
import {
  type LoadedFile,
  bomLength,
  byteOrderMark,
  lineEnding,
  loadFile,
  requireText,
  requireWellFormed,
} from './text-file.js';
import { type Tool, type ToolContext, defineTool } from './tool.js';
import type { WorkspaceState } from './workspace-state.js';
import type { ConfinedPath } from './workspace.js';
import { confineWritable } from './writable-path.js';

/** Input of `write_file`. */
interface WriteInput {
  readonly path: string;
  readonly content: string;
}

const description = `Writes a whole text file of the workspace, making folders as needed. An existing file keeps its mode and byte-order mark, and CRLF \
line ends if all of its lines have them. A file that changed since it was read is not overwritten.`;

/** The tool `write_file`. */
export function writeFileTool(state: WorkspaceState): Tool {
  return defineTool({
    name: 'write_file',
    description,
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string' }, content: { type: 'string' } },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    destructive: true,
    errorOutput: null,
    source: 'built-in',
    outputs: state.outputs,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    execute: (input, context) => write(state, input as unknown as WriteInput, context),
  });
}

async function write(state: WorkspaceState, input: WriteInput, context: ToolContext): Promise<string> {
  requireWellFormed(input.content, 'content');
  const path = await confineWritable(state, input.path);
  return withFileLock(path.real, async () => {
    const old = await loadIfThere(state, path);
    state.versions.requireCurrent(path.real, path.shown, old?.bytes);
    if (old !== undefined) requireText(old.bytes, path.shown);
    const content = contentLike(old?.bytes, input.content);
    await replaceFile(state, path, content, { replaces: old?.facts, context });
    return `${old === undefined ? 'Created' : 'Wrote'} ${path.shown} (${content.length} bytes).`;
  });
}

async function loadIfThere(state: WorkspaceState, path: ConfinedPath): Promise<LoadedFile | undefined> {
  try {
    return await loadFile(state.workspace, path);
  } catch (error) {
    if (isToolError(error) && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** The content with the mark and the line ends of what it replaces. */
export function contentLike(old: Buffer | undefined, content: string): Buffer {
  const bytes = Buffer.from(content, 'utf8');
  if (old === undefined) return bytes;
  const keepCrlf = lineEnding(old) === 'crlf' && lineEnding(bytes) === 'lf';
  const text = keepCrlf ? Buffer.from(content.replaceAll('\n', '\r\n'), 'utf8') : bytes;
  return bomLength(old) > 0 && bomLength(text) === 0 ? Buffer.concat([byteOrderMark(), text]) : text;
}
