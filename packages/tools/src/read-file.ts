import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { cutAfter, cutBefore } from './bounded-text.js';
import { refusal } from './errors.js';
import { openForReading } from './open-confined.js';
import { isOutputHandle } from './output-store.js';
import { MAX_EDIT_BYTES, requireText } from './text-file.js';
import { OUTPUT_LIMIT_BYTES, type TextRange, type TextWindow, presentText } from './text-window.js';
import { type Tool, type ToolContext, defineTool } from './tool.js';
import type { WorkspaceState } from './workspace-state.js';
import { confineFile } from './workspace.js';

/** Input of `read_file`. */
interface ReadInput extends TextRange {
  readonly path: string;
}

const CHUNK_BYTES = 256 * 1024;
const LF = 0x0a;

const description = `Reads a text file of the workspace, or a kept output ("output:<id>"). Returns the text as it is, without a \
byte-order mark. At most ${OUTPUT_LIMIT_BYTES} bytes come back; a closing note in brackets says how to read on. A line ends at LF or \
CRLF only. lineNumbers puts "<number><tab>" before each line (not a part of the text).`;

/** The tool `read_file`. */
export function readFileTool(state: WorkspaceState): Tool {
  return defineTool({
    name: 'read_file',
    description,
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Path inside the workspace, or output:<id>' },
        offset: { type: 'integer', minimum: 1, description: 'First line, from 1' },
        limit: { type: 'integer', minimum: 1, description: 'Number of lines' },
        startByte: {
          type: 'integer',
          minimum: 0,
          description: 'First byte, to read on inside a long line; instead of offset',
        },
        lineNumbers: { type: 'boolean' },
      },
      required: ['path'],
      additionalProperties: false,
    },
    readOnly: true,
    concurrencySafe: true,
    errorOutput: null,
    outputLimitBytes: OUTPUT_LIMIT_BYTES,
    source: 'built-in',
    outputs: state.outputs,
    annotations: { readOnlyHint: true, openWorldHint: false },
    execute: (input, context) => readText(state, input as unknown as ReadInput, context),
  });
}

async function readText(state: WorkspaceState, input: ReadInput, context: ToolContext): Promise<string> {
  const source = await openSource(state, input.path, context);
  try {
    const { size } = await source.file.stat();
    if (size > MAX_EDIT_BYTES) {
      const window = await readPart(source, input, context.signal);
      return presentText(window, { ...input, ...(input.startByte === undefined ? {} : { startByte: 0 }) });
    }
    const bytes = await source.file.readFile();
    if (source.real !== undefined) {
      requireText(bytes, source.shown);
      state.versions.saw(source.real, bytes);
    }
    return presentText({ bytes, base: 0, size: bytes.length, firstLine: 1 }, input);
  } finally {
    await source.file.close();
  }
}

interface Source {
  readonly file: FileHandle;
  readonly shown: string;
  /** Real path of a workspace file; undefined for a kept output. */
  readonly real?: string;
}

async function openSource(state: WorkspaceState, path: string, context: ToolContext): Promise<Source> {
  if (isOutputHandle(path)) return { file: await openOutput(state, path, context), shown: path };
  const confined = await confineFile(state.workspace, path);
  return { file: await openForReading(state.workspace, confined), shown: confined.shown, real: confined.real };
}

/** A handle may come from the registry's store or from the workspace's own. */
async function openOutput(state: WorkspaceState, handle: string, context: ToolContext): Promise<FileHandle> {
  const path = await context.outputs.locate(handle).catch(() => state.outputs.locate(handle));
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
}

/** The part of a file too large for memory that starts at the asked place, as one window. */
async function readPart({ file, shown }: Source, input: ReadInput, signal: AbortSignal): Promise<TextWindow> {
  const { size } = await file.stat();
  const start = input.startByte ?? (await offsetOfLine(file, input.offset ?? 1, signal));
  const buffer = Buffer.alloc(OUTPUT_LIMIT_BYTES + 8);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
  const from = cutAfter(buffer.subarray(0, bytesRead), 0);
  const bytes = buffer.subarray(
    from,
    bytesRead < buffer.length ? bytesRead : cutBefore(buffer, OUTPUT_LIMIT_BYTES + 4),
  );
  if (!isUtf8(bytes) || bytes.includes(0)) throw refusal('not_utf8', `"${shown}" is not UTF-8 text at byte ${start}.`);
  return { bytes, base: start + from, size, firstLine: input.offset ?? 1 };
}

async function offsetOfLine(file: FileHandle, line: number, signal: AbortSignal): Promise<number> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let left = line - 1;
  for (let position = 0; left > 0; ) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) throw refusal('past_end', `The file has fewer than ${line} lines.`);
    let at = -1;
    while (left > 0 && (at = chunk.subarray(0, bytesRead).indexOf(LF, at + 1)) >= 0) left -= 1;
    if (left === 0) return position + at + 1;
    position += bytesRead;
  }
  return 0;
}
