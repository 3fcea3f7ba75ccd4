import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { cutAfter, cutBefore } from './bounded-text.js';
import { refusal } from './errors.js';
import { openForReading } from './open-confined.js';
import { isOutputHandle } from './output-store.js';
import { MAX_EDIT_BYTES, bomLength, requireText } from './text-file.js';
import { type Tool, type ToolContext, defineTool } from './tool.js';
import type { WorkspaceState } from './workspace-state.js';
import { confine } from './workspace.js';

/** Input of `read_file`. */
interface ReadInput {
  readonly path: string;
  readonly offset?: number;
  readonly limit?: number;
  readonly startByte?: number;
  readonly lineNumbers?: boolean;
}

const OUTPUT_LIMIT_BYTES = 32_768;
/** Room in the output for the closing note. */
const NOTE_BYTES = 400;
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
  const { file, shown, real } = await openSource(state, input.path, context);
  try {
    const { size } = await file.stat();
    if (size <= MAX_EDIT_BYTES) {
      const bytes = await file.readFile();
      if (real === undefined) return present(bytes, input, 0, bytes.length);
      requireText(bytes, shown);
      state.versions.saw(real, bytes);
      return present(bytes, input, 0, bytes.length);
    }
    return await readPart(file, size, shown, input, context.signal);
  } finally {
    await file.close();
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
  const confined = await confine(state.workspace, path);
  return { file: await openForReading(state.workspace, confined), shown: confined.shown, real: confined.real };
}

/** A handle may come from the registry's store or from the workspace's own. */
async function openOutput(state: WorkspaceState, handle: string, context: ToolContext): Promise<FileHandle> {
  const path = await context.outputs.locate(handle).catch(() => state.outputs.locate(handle));
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
}

/** A file too large for memory is read from the asked place on, a window at a time. */
async function readPart(
  file: FileHandle,
  size: number,
  shown: string,
  input: ReadInput,
  signal: AbortSignal,
): Promise<string> {
  const start = input.startByte ?? (await offsetOfLine(file, input.offset ?? 1, signal));
  const window = Buffer.alloc(OUTPUT_LIMIT_BYTES + 8);
  const { bytesRead } = await file.read(window, 0, window.length, start);
  const bytes = window.subarray(0, bytesRead);
  const from = cutAfter(bytes, 0);
  const text = bytes.subarray(from, bytesRead < window.length ? bytesRead : cutBefore(bytes, OUTPUT_LIMIT_BYTES));
  if (!isUtf8(text) || text.includes(0)) throw refusal('not_utf8', `"${shown}" is not UTF-8 text at byte ${start}.`);
  const { offset: _offset, ...rest } = input;
  const lineFacts = input.startByte === undefined ? {} : { startByte: 0 };
  return present(bytes.subarray(from), { ...rest, ...lineFacts }, start + from, size, input.offset ?? 1);
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

/**
 * The asked part of `bytes`, and a note when it is not the whole.
 * @param base offset of `bytes` in the file
 * @param size size of the file
 * @param firstLine number of the first line of `bytes`
 */
function present(bytes: Buffer, input: ReadInput, base: number, size: number, firstLine = 1): string {
  const from =
    input.startByte !== undefined ? cutAfter(bytes, input.startByte) : startOfLine(bytes, input.offset ?? 1, firstLine);
  const asked = input.limit === undefined ? bytes.length : endOfLines(bytes, from, input.limit);
  const line = input.startByte === undefined ? Math.max(firstLine, input.offset ?? 1) : undefined;
  const numbered = input.lineNumbers === true && line !== undefined;
  const whole = from === 0 && base === 0 && asked === size && !numbered && size <= OUTPUT_LIMIT_BYTES;
  if (whole) return bytes.toString('utf8', bomLength(bytes));
  const skip = base + from === 0 ? bomLength(bytes) : 0;
  const part = fit(bytes.subarray(from, asked), skip, numbered ? line : undefined);
  const end = base + from + part.bytes;
  const note = end < size || from + base > 0 ? `\n[${noteFor(base + from, end, size, line, part)}]` : '';
  return part.text + note;
}

interface Part {
  readonly text: string;
  /** Bytes of the file it shows. */
  readonly bytes: number;
  /** Complete lines among them. */
  readonly lines: number;
  readonly endsInLine: boolean;
}

/** As many whole lines as fit, or else a piece of one line. */
function fit(bytes: Buffer, skip: number, firstNumber: number | undefined): Part {
  const limitBytes = OUTPUT_LIMIT_BYTES - NOTE_BYTES;
  const shown: string[] = [];
  let used = 0;
  let at = skip;
  let lines = 0;
  while (at < bytes.length) {
    const next = bytes.indexOf(LF, at);
    const end = next < 0 ? bytes.length : next + 1;
    const prefix = firstNumber === undefined ? '' : `${firstNumber + lines}\t`;
    const cost = prefix.length + end - at;
    if (used + cost > limitBytes) {
      const cut = lines === 0 ? cutBefore(bytes, at + limitBytes - prefix.length) : at;
      if (lines === 0) shown.push(prefix + bytes.toString('utf8', at, cut));
      return { text: shown.join(''), bytes: cut, lines, endsInLine: lines === 0 };
    }
    shown.push(prefix + bytes.toString('utf8', at, end));
    used += cost;
    at = end;
    lines += 1;
  }
  return { text: shown.join(''), bytes: bytes.length, lines, endsInLine: false };
}

function noteFor(start: number, end: number, size: number, line: number | undefined, part: Part): string {
  const bytes = `bytes ${start} to ${end} of ${size}`;
  const lines =
    line === undefined || part.endsInLine || part.lines === 0 ? '' : `lines ${line} to ${line + part.lines - 1}, `;
  if (end >= size) return `${lines}${bytes}; end of file`;
  const next = line === undefined || part.endsInLine ? `startByte ${end}` : `offset ${line + part.lines}`;
  return `${lines}${bytes}; read on with ${next}`;
}

function startOfLine(bytes: Buffer, line: number, firstLine: number): number {
  let at = 0;
  for (let number = firstLine; number < line; number += 1) {
    const next = bytes.indexOf(LF, at);
    if (next < 0) throw refusal('past_end', `The file has ${number} lines; line ${line} does not exist.`);
    at = next + 1;
  }
  return at;
}

function endOfLines(bytes: Buffer, from: number, count: number): number {
  let at = from;
  for (let left = count; left > 0; left -= 1) {
    const next = bytes.indexOf(LF, at);
    if (next < 0) return bytes.length;
    at = next + 1;
  }
  return at;
}
