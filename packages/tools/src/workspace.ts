import { realpathSync, statSync } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { type ToolError, refusal, systemCode } from './errors.js';

/** A folder that paths are confined to. */
export interface Workspace {
  /** Real absolute path of the folder. */
  readonly root: string;
  /** The path the owner named, which may lead through links. */
  readonly named: string;
}

/** A path that resolved inside the workspace. Whoever uses it goes through `openConfined`, which checks again. */
export interface ConfinedPath {
  /** Relative to the root with `/`, for messages; `.` for the root. */
  readonly shown: string;
  /** Absolute, every link resolved. */
  readonly real: string;
}

/** Folders that hold, or are, a view of the running system; among it the environment of this process. */
const NO_WORKSPACE: readonly string[] = ['/', '/proc', '/sys', '/dev'];

/** @throws ToolError `invalid_workspace` when the folder does not exist, or is the root of the disk or of the system */
export function openWorkspace(root: string): Workspace {
  const named = resolve(root);
  try {
    const real = realpathSync.native(named);
    if (!statSync(real).isDirectory()) throw new Error('not a directory');
    if (NO_WORKSPACE.some((folder) => real === folder)) throw new Error('a folder of the system');
    return Object.freeze({ root: real, named });
  } catch (cause) {
    throw refusal(
      'invalid_workspace',
      `The workspace ${JSON.stringify(root)} is not a folder that can be a workspace.`,
      cause,
    );
  }
}

/**
 * Resolves a path, relative to the root or absolute, through every link, and refuses what does not end inside the root.
 * The path itself need not exist. Nothing outside is told: a missing and a forbidden place read the same.
 * @throws ToolError `outside_workspace`, `dangling_link`, `invalid_path`
 */
export async function confine(workspace: Workspace, path: string): Promise<ConfinedPath> {
  if (path === '' || path.includes('\0')) throw refusal('invalid_path', `${JSON.stringify(path)} is not a path.`);
  const real = await resolveLinks(resolve(workspace.root, path), path);
  if (!isInside(workspace.root, real)) throw outside(path);
  return { real, shown: shownPath(workspace, real) };
}

/**
 * The same for the path of a file: what is spelled as a folder (`name/`, `name/.`) does not mean the file `name`.
 * @throws ToolError `outside_workspace`, `dangling_link`, `invalid_path`
 */
export async function confineFile(workspace: Workspace, path: string): Promise<ConfinedPath> {
  const confined = await confine(workspace, path);
  if (/\/\.{0,2}$/.test(path))
    throw refusal('invalid_path', `${JSON.stringify(path.slice(0, 200))} is spelled as a folder, not as a file.`);
  return confined;
}

/**
 * Real path of a place inside a folder, for tools of your own: relative or absolute, through every link, refused when it
 * ends outside. What the path means can change afterwards, so use it at once and follow no link (`O_NOFOLLOW`).
 * @throws ToolError `outside_workspace`, `dangling_link`, `invalid_path`, `invalid_workspace`
 */
export async function resolveInside(root: string, path: string): Promise<string> {
  return (await confine(openWorkspace(root), path)).real;
}

/** True if `real` is the folder `root` or inside it. */
export function isInside(root: string, real: string): boolean {
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** The path as messages show it. */
export function shownPath(workspace: Workspace, real: string): string {
  const path = relative(workspace.root, real);
  return path === '' ? '.' : path.split(sep).join('/');
}

export function outside(path: string): ToolError {
  return refusal(
    'outside_workspace',
    `${JSON.stringify(path.slice(0, 200))} is outside of the workspace. Use a path inside it.`,
  );
}

async function resolveLinks(absolute: string, given: string): Promise<string> {
  try {
    return await realpath(absolute);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ELOOP')
      throw refusal('dangling_link', `${JSON.stringify(given)} goes through links in a circle.`, error);
    if (code !== 'ENOENT') throw unreachable(given, code, error);
  }
  if (await isLink(absolute))
    throw refusal('dangling_link', `${JSON.stringify(given)} goes through a link to nowhere.`);
  return join(await resolveLinks(dirname(absolute), given), basename(absolute));
}

/** Other failures tell nothing about a place that may be outside. */
function unreachable(given: string, code: string | undefined, cause: unknown): ToolError {
  const why = code === 'ENOTDIR' ? 'a part of it is not a folder' : `it cannot be reached (${code ?? 'error'})`;
  return refusal('invalid_path', `${JSON.stringify(given.slice(0, 200))} cannot be used: ${why}.`, cause);
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}
