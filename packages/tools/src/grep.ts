import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { excerpt } from './bounded-text.js';
import { isToolError, refusal } from './errors.js';
import { openDirectory, openForReading } from './open-confined.js';
import { isOutputHandle } from './output-store.js';
import { listFiles, ripgrep } from './ripgrep.js';
import { MAX_EDIT_BYTES } from './text-file.js';
import { type Tool, type ToolContext, defineTool } from './tool.js';
import type { WorkspaceState } from './workspace-state.js';
import { confine } from './workspace.js';

/** Input of `grep`. */
interface GrepInput {
  readonly pattern: string;
  readonly path?: string;
  readonly glob?: string;
  readonly ignoreCase?: boolean;
  readonly literal?: boolean;
  readonly includeIgnored?: boolean;
}

const MAX_MATCHES = 200;
/** Around a match in a long line, so many bytes are shown. */
const SHOWN_BYTES = 300;
const TIMEOUT_MS = 20_000;

const description = `Searches files of the workspace (or one file, or a kept output "output:<id>") for a regular expression (Rust syntax). Answers \
"path:line: text", at most ${MAX_MATCHES} lines; of a long line the part around the match and its byte offset, for read_file's startByte. A line ends at LF \
only. Files that ignore files name, .git, binary files and files above 20 MB are left out.`;

/** The tool `grep`. */
export function grepTool(state: WorkspaceState): Tool {
  return defineTool({
    name: 'grep',
    description,
    inputSchema: {
      type: 'object',
      properties: {
        pattern: { type: 'string', minLength: 1 },
        path: { type: 'string', description: 'Folder or file; default the whole workspace' },
        glob: { type: 'string', description: 'Only files that match, e.g. *.ts' },
        ignoreCase: { type: 'boolean' },
        literal: { type: 'boolean', description: 'pattern is plain text' },
        includeIgnored: { type: 'boolean', description: 'Search ignored files too' },
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
    execute: (input, context) => search(state, input as unknown as GrepInput, context),
  });
}

async function search(state: WorkspaceState, input: GrepInput, context: ToolContext): Promise<string> {
  const path = input.path ?? '.';
  if (isOutputHandle(path)) return searchFile(await openOutput(state, path, context), path, input, context);
  const confined = await confine(state.workspace, path);
  const directory = await openDirectory(state.workspace, confined.real).catch((error: unknown) => {
    if (isToolError(error) && error.code === 'path_changed') return undefined; // a file, or swapped: opening it as a file tells
    throw error;
  });
  if (directory === undefined)
    return searchFile(await openForReading(state.workspace, confined), confined.shown, input, context);
  try {
    const prefix = confined.shown === '.' ? '' : `${confined.shown}/`;
    const where = { cwd: directory.at('.'), signal: context.signal };
    // A glob overrides ignore files in ripgrep, so what is not ignored is asked for too.
    const visible = input.glob === undefined || input.includeIgnored ? undefined : await listFiles([], where);
    return await collect([...flags(input), '--', './'], where, (found) => {
      const path = found.replace(/^\.\//, '');
      return visible === undefined || visible.has(path) ? prefix + path : undefined;
    });
  } finally {
    await directory.close();
  }
}

/** The file goes in as standard input: what is searched is what was opened. */
async function searchFile(file: FileHandle, shown: string, input: GrepInput, context: ToolContext): Promise<string> {
  try {
    const { size } = await file.stat();
    if (size > MAX_EDIT_BYTES)
      throw refusal('too_large', `"${shown}" has ${size} bytes; at most ${MAX_EDIT_BYTES} can be searched. Use shell.`);
    return await collect([...flags(input), '-'], { cwd: '/', signal: context.signal, stdin: file.fd }, () => shown);
  } finally {
    await file.close();
  }
}

async function openOutput(state: WorkspaceState, handle: string, context: ToolContext): Promise<FileHandle> {
  const path = await context.outputs.locate(handle).catch(() => state.outputs.locate(handle));
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
}

function flags(input: GrepInput): readonly string[] {
  return [
    '--json',
    '--hidden',
    '--glob=!.git',
    '--no-require-git',
    '--max-filesize=20M',
    '--sort=path',
    ...(input.includeIgnored ? ['--no-ignore'] : []),
    ...(input.ignoreCase ? ['--ignore-case'] : []),
    ...(input.literal ? ['--fixed-strings'] : []),
    ...(input.glob === undefined ? [] : [`--glob=${input.glob}`]),
    `--regexp=${input.pattern}`,
  ];
}

/** @param shownPath the path to show, or undefined to leave a file out */
async function collect(
  args: readonly string[],
  options: Parameters<typeof ripgrep>[1],
  shownPath: (found: string) => string | undefined,
): Promise<string> {
  const lines: string[] = [];
  for await (const line of ripgrep(args, options)) {
    const match = readMatch(line);
    const path = match === undefined ? undefined : shownPath(match.path);
    if (match === undefined || path === undefined) continue;
    if (lines.length === MAX_MATCHES) {
      lines.push(`[more than ${MAX_MATCHES} lines match; narrow the pattern, path or glob]`);
      break;
    }
    lines.push(showMatch(path, match));
  }
  return lines.length === 0 ? 'No line matches.' : lines.join('\n');
}

interface Match {
  readonly path: string;
  readonly lineNumber: number;
  readonly line: Buffer;
  /** Offset of the line in the file. */
  readonly offset: number;
  /** Offset of the first match in the line. */
  readonly start: number;
}

/** Text as ripgrep's JSON holds it: UTF-8 as text, anything else as base64. */
type Data = { readonly text: string } | { readonly bytes: string };

interface MatchMessage {
  readonly type: string;
  readonly data: {
    readonly path: Data;
    readonly lines: Data;
    readonly line_number: number;
    readonly absolute_offset: number;
    readonly submatches: readonly { readonly start: number }[];
  };
}

function readMatch(json: string): Match | undefined {
  if (!json.startsWith('{"type":"match"')) return undefined;
  const { data } = JSON.parse(json) as MatchMessage;
  return {
    path: dataBytes(data.path).toString('utf8'),
    lineNumber: data.line_number,
    line: dataBytes(data.lines),
    offset: data.absolute_offset,
    start: data.submatches[0]?.start ?? 0,
  };
}

function dataBytes(data: Data): Buffer {
  return 'text' in data ? Buffer.from(data.text, 'utf8') : Buffer.from(data.bytes, 'base64');
}

function showMatch(found: string, { line, lineNumber, offset, start }: Match): string {
  const path = excerpt(found, 4096);
  const end = line.at(-1) === 0x0a ? line.length - (line.at(-2) === 0x0d ? 2 : 1) : line.length;
  if (end <= SHOWN_BYTES) return `${path}:${lineNumber}: ${excerpt(line.toString('utf8', 0, end), SHOWN_BYTES * 2)}`;
  const from = Math.max(0, start - 60);
  const part = excerpt(line.toString('utf8', from, Math.min(end, from + SHOWN_BYTES)), SHOWN_BYTES * 2);
  return `${path}:${lineNumber} (byte ${offset + start} of the file, line of ${end} bytes): ${part}`;
}
