import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { messageOf } from './errors.js';
import { isToolLike, toTool, type ToolLike } from './foreign-tools.js';
import { probeModule } from './probe-module.js';
import { holdStandardOutput } from './standard-output.js';
import type { Tool } from './tool.js';

/** One thing that could not be loaded. The rest is. */
export interface LoadProblem {
  /** As the configuration names it. */
  readonly specifier: string;
  /** The export at fault, or undefined when the module itself is. */
  readonly exportName?: string;
  readonly message: string;
}

/** A module whose code runs in this process. */
export interface LoadedModule {
  /** As the configuration names it. */
  readonly specifier: string;
  /** Address of its file: stands in the stack of what it throws. */
  readonly url: string;
}

/** What came of a configuration. */
export interface LoadedTools {
  readonly tools: readonly Tool[];
  readonly problems: readonly LoadProblem[];
}

/** Modules that are tried at the same time. */
const PROBES = 4;

/** Options of {@link loadTools}. */
export interface LoadToolsOptions {
  /** File or folder that relative specifiers and packages are looked up from, e.g. the configuration file. */
  readonly from: string;
  /** Longest time a module may take to load, ms. @default 10_000 */
  readonly timeoutMs?: number;
  /** Told of each module before its code runs in this process. */
  readonly onModule?: (module: LoadedModule) => void;
}

/**
 * Loads tools from modules (`./my-tools.js`) and packages (`@acme/stint-tools`). Every export must be a tool, a list of
 * tools or an AI SDK tool set; what is not is a problem with its name, and everything else still loads. Never rejects.
 *
 * Each module is first loaded in a process of its own: one that throws, ends the process, never finishes, or fails soon after
 * loading is a problem with its name and does not come into this process. What modules write to standard output while
 * they load goes to standard error.
 */
export async function loadTools(specifiers: readonly string[], options: LoadToolsOptions): Promise<LoadedTools> {
  const limitMs = options.timeoutMs ?? 10_000;
  const found = specifiers.map((specifier) => findModule(specifier, options.from));
  const faults = await inTurns(found, ({ url }) => (url === undefined ? undefined : probeModule(url, limitMs)));
  const tools: Tool[] = [];
  const problems: LoadProblem[] = [];
  for (const [at, { specifier, url, problem }] of found.entries()) {
    const message = problem ?? faults[at];
    if (url === undefined || message !== undefined) {
      problems.push({ specifier, message: `it could not be loaded: ${message}` });
      continue;
    }
    options.onModule?.({ specifier, url });
    const loaded = await loadOne(specifier, url, limitMs);
    for (const tool of loaded.tools) {
      const twice = tools.some(({ name }) => name === tool.name);
      if (twice) problems.push({ specifier, message: `a tool named "${tool.name}" is already loaded` });
      else tools.push(tool);
    }
    problems.push(...loaded.problems);
  }
  return { tools, problems };
}

interface FoundModule {
  readonly specifier: string;
  readonly url?: string;
  readonly problem?: string;
}

function findModule(specifier: string, from: string): FoundModule {
  try {
    return { specifier, url: locate(specifier, baseFolder(from)) };
  } catch (error) {
    return { specifier, problem: messageOf(error) };
  }
}

/** Results in order, a few at a time. */
async function inTurns<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Result | Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += PROBES) {
    results.push(...(await Promise.all(items.slice(at, at + PROBES).map(work))));
  }
  return results;
}

async function loadOne(specifier: string, url: string, limitMs: number): Promise<LoadedTools> {
  try {
    const exported = await importQuietly(url, limitMs);
    const found = Object.entries(exported).filter(([name]) => name !== 'module.exports'); // what Node adds to CommonJS
    if (found.length === 0) return { tools: [], problems: [{ specifier, message: 'it exports nothing' }] };
    return collect(specifier, found);
  } catch (error) {
    return { tools: [], problems: [{ specifier, message: `it could not be loaded: ${messageOf(error)}` }] };
  }
}

/** Imports with standard output held, and with `process.exit` refused. */
async function importQuietly(url: string, limitMs: number): Promise<Readonly<Record<string, unknown>>> {
  const held = holdStandardOutput();
  const exit = Object.getOwnPropertyDescriptor(process, 'exit');
  const { exitCode } = process;
  process.exit = (code) => {
    throw new Error(`it called process.exit(${code ?? ''})`);
  };
  try {
    return await withLimit(import(url) as Promise<Readonly<Record<string, unknown>>>, limitMs);
  } finally {
    if (exit !== undefined) Object.defineProperty(process, 'exit', exit);
    process.exitCode = exitCode;
    held.release();
  }
}

function collect(specifier: string, exported: readonly (readonly [string, unknown])[]): LoadedTools {
  const tools: Tool[] = [];
  const problems: LoadProblem[] = [];
  for (const [exportName, value] of exported) {
    try {
      for (const [name, like] of toolsIn(exportName, value)) tools.push(withSource(toTool(like, name), specifier));
    } catch (error) {
      problems.push({ specifier, exportName, message: `export "${exportName}" is not a tool: ${messageOf(error)}` });
    }
  }
  return { tools: tools.filter(({ name }, at) => tools.findIndex((other) => other.name === name) === at), problems };
}

/** The tools an export stands for: itself, a list, or a set by name. */
function toolsIn(exportName: string, value: unknown): readonly (readonly [string, ToolLike])[] {
  if (isToolLike(value)) return [[exportName, value]];
  if (Array.isArray(value) && value.length > 0) return value.map((each: unknown) => [exportName, each as ToolLike]);
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (entries.length > 0 && entries.every(([, each]) => isToolLike(each))) return entries as [string, ToolLike][];
  throw new Error(`it is ${value === null ? 'null' : typeof value}, not what defineTool returns`);
}

function withSource(tool: Tool, specifier: string): Tool {
  return Object.freeze({ ...tool, source: `plugin:${specifier}` });
}

function baseFolder(from: string): string {
  const path = from.startsWith('file:') ? fileURLToPath(from) : resolve(from);
  return /\.[a-z]+$/i.test(path) ? dirname(path) : path;
}

function locate(specifier: string, folder: string): string {
  if (specifier.startsWith('file:')) return specifier;
  if (specifier.startsWith('.') || isAbsolute(specifier)) return pathToFileURL(resolve(folder, specifier)).href;
  return pathToFileURL(packageEntry(specifier, folder)).href;
}

/** Entry of a package for `import`, looked for as Node does, from the configuration's folder. */
function packageEntry(specifier: string, folder: string): string {
  try {
    return createRequire(join(folder, 'stint.js')).resolve(specifier);
  } catch (error) {
    const entry = importEntry(specifier, folder);
    if (entry === undefined) throw error;
    return entry;
  }
}

/** A package that offers nothing to `require` names its entry under the condition `import`. */
function importEntry(specifier: string, folder: string): string | undefined {
  const [, name = '', rest = ''] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(specifier) ?? [];
  for (let at = folder; ; at = dirname(at)) {
    const home = join(at, 'node_modules', name);
    if (existsSync(join(home, 'package.json'))) {
      const { exports } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { exports?: unknown };
      const target = importTarget(exports, `.${rest}`);
      return target === undefined ? undefined : join(home, target);
    }
    if (at === dirname(at)) return undefined;
  }
}

function importTarget(exports: unknown, subpath: string): string | undefined {
  if (typeof exports === 'string') return subpath === '.' ? exports : undefined;
  if (typeof exports !== 'object' || exports === null) return undefined;
  const table = exports as Readonly<Record<string, unknown>>;
  const entry = Object.keys(table).some((key) => key.startsWith('.'))
    ? table[subpath]
    : subpath === '.'
      ? table
      : undefined;
  return conditionTarget(entry);
}

function conditionTarget(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry;
  if (typeof entry !== 'object' || entry === null) return undefined;
  for (const [condition, target] of Object.entries(entry)) {
    if (condition === 'import' || condition === 'node' || condition === 'default') return conditionTarget(target);
  }
  return undefined;
}

async function withLimit<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not finish loading within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
