import { refusal } from './errors.js';
import { withFileLock } from './file-lock.js';
import { nearestLines } from './nearest-lines.js';
import { replaceFile } from './replace-file.js';
import { type EditOutcome, editBytes } from './text-edit.js';
import { lineNumberAt, loadFile, requireText, requireWellFormed } from './text-file.js';
import { type Tool, type ToolContext, defineTool } from './tool.js';
import type { WorkspaceState } from './workspace-state.js';
import { confineWritable } from './writable-path.js';

/** Input of `edit_file`. */
interface EditInput {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll?: boolean;
}

/** Times the same failing edit of the same bytes is looked at before it is refused unread. */
const MAX_EQUAL_MISSES = 2;

const description = `Replaces text in a file of the workspace. oldText must stand in the file exactly once, or replaceAll must be true. \
Every other byte stays as it is. Line breaks in oldText match LF and CRLF; those of newText follow the file. Both are plain text.`;

/** The tool `edit_file`. */
export function editFileTool(state: WorkspaceState): Tool {
  const misses = new Map<string, { readonly edit: string; readonly count: number }>();
  return defineTool({
    name: 'edit_file',
    description,
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        oldText: { type: 'string', minLength: 1 },
        newText: { type: 'string' },
        replaceAll: { type: 'boolean' },
      },
      required: ['path', 'oldText', 'newText'],
      additionalProperties: false,
    },
    destructive: true,
    errorOutput: null,
    source: 'built-in',
    outputs: state.outputs,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    execute: (input, context) => edit(state, misses, input as unknown as EditInput, context),
  });
}

type Misses = Map<string, { readonly edit: string; readonly count: number }>;

async function edit(state: WorkspaceState, misses: Misses, input: EditInput, context: ToolContext): Promise<string> {
  if (input.oldText === input.newText)
    throw refusal('no_change', 'oldText and newText are equal; there is nothing to change.');
  requireWellFormed(input.newText, 'newText');
  const path = await confineWritable(state, input.path);
  return withFileLock(path.real, async () => {
    const { bytes, facts } = await loadFile(state.workspace, path);
    state.versions.requireCurrent(path.real, path.shown, bytes);
    requireText(bytes, path.shown);
    const outcome = editBytes(bytes, { ...input, replaceAll: input.replaceAll ?? false });
    if (outcome.kind !== 'edited')
      throw missed(path.shown, bytes, input, outcome, countMiss(misses, path.real, input, bytes));
    misses.delete(path.real);
    if (outcome.bytes.equals(bytes))
      throw refusal('no_change', `The edit leaves every byte of "${path.shown}" as it is; there is nothing to change.`);
    await replaceFile(state, path, outcome.bytes, { replaces: facts, context });
    const lines = outcome.offsets.map((offset) => lineNumberAt(bytes, offset));
    const more = outcome.count > lines.length ? ', ...' : '';
    return `Replaced ${outcome.count} occurrence${outcome.count === 1 ? '' : 's'} in ${path.shown} (line ${lines.join(', ')}${more}).`;
  });
}

/** How often this very edit of this very content has failed in a row. */
function countMiss(misses: Misses, real: string, { oldText }: EditInput, bytes: Buffer): number {
  const edit = `${bytes.length}:${oldText}`;
  const last = misses.get(real);
  const count = last?.edit === edit ? last.count + 1 : 1;
  misses.set(real, { edit, count });
  return count;
}

function missed(shown: string, bytes: Buffer, input: EditInput, outcome: EditOutcome, count: number): Error {
  if (count > MAX_EQUAL_MISSES) {
    const message = `The same edit of "${shown}" has failed ${count} times. Do not send it again: read the file first, then take oldText from what it says.`;
    return refusal('edit_repeated', message);
  }
  if (outcome.kind === 'ambiguous') {
    const lines = outcome.offsets.map((offset) => lineNumberAt(bytes, offset)).join(', ');
    return refusal(
      'not_unique',
      `oldText stands more than once in "${shown}" (lines ${lines}). Add lines around it, or set replaceAll.`,
    );
  }
  const nearest = nearestLines(bytes.toString('utf8'), input.oldText);
  const hint = nearest === undefined ? 'Nothing in the file resembles it.' : `The nearest lines are:\n${nearest}`;
  return refusal('no_match', `oldText does not stand in "${shown}". ${hint}`);
}
