import { createHash, randomInt } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { CallContext } from './call.js';
import { type ToolRegistry, createRegistry } from './registry.js';
import type { ToolResult } from './result.js';
import { type WorkspaceToolsOptions, workspaceTools } from './workspace-tools.js';

/** A folder of its own for the running test, removed after it. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stint-tools-test-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A workspace with its tools in a registry. */
export interface TestWorkspace {
  readonly root: string;
  /** A folder beside the workspace, which no tool may touch. */
  readonly outside: string;
  readonly registry: ToolRegistry;
  readonly call: (name: string, input: unknown, context?: Partial<CallContext>) => Promise<ToolResult>;
  readonly path: (name: string) => string;
  readonly write: (name: string, content: string | Uint8Array) => void;
  readonly bytes: (name: string) => Buffer;
  readonly text: (name: string) => string;
}

export function testWorkspace(options: Partial<WorkspaceToolsOptions> = {}): TestWorkspace {
  const folder = temporaryFolder();
  const root = options.root ?? join(folder, 'work');
  const outside = join(folder, 'work-outside'); // shares a prefix with the workspace on purpose
  for (const each of [root, outside]) mkdirSync(each, { recursive: true });
  const registry = createRegistry(workspaceTools({ mode: 'write', dataDir: join(folder, 'data'), ...options, root }));
  return {
    root,
    outside,
    registry,
    call: (name, input, context = {}) =>
      registry.call(name, input, { signal: new AbortController().signal, ...context }),
    path: (name) => join(root, name),
    write: (name, content) => writeFileSync(join(root, name), content),
    bytes: (name) => readFileSync(join(root, name)),
    text: (name) => readFileSync(join(root, name), 'utf8'),
  };
}

/** A context for one call. */
export function callContext(overrides: Partial<CallContext> = {}): CallContext {
  return { signal: new AbortController().signal, ...overrides };
}

/** Name, kind, mode and content of everything below a folder, but for one path, in one hash. */
export function treeHash(folder: string, except?: string): string {
  const hash = createHash('sha256');
  for (const name of (readdirSync(folder, { recursive: true }) as string[]).sort()) {
    const path = join(folder, name);
    if (path === except) continue;
    const facts = lstatSync(path);
    hash.update(`${name}\0${facts.mode}\0`);
    if (facts.isFile()) hash.update(readFileSync(path));
    if (facts.isSymbolicLink()) hash.update(readlinkSync(path));
  }
  return hash.digest('hex');
}

/** A word that no implementation can know beforehand. */
export function randomWord(): string {
  return `w${randomInt(1e12).toString(36)}`;
}

/** True while a process with this number runs (a zombie has ended). */
export function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
