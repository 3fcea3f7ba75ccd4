import { constants, existsSync } from 'node:fs';
import { lstat, mkdir, open, readlink, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { refusal, systemCode } from './errors.js';
import { type ConfinedPath, type Workspace, isInside, outside } from './workspace.js';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** An open folder. Paths built with `at` reach into this very folder, whatever happens to its name meanwhile. */
export interface OpenDirectory {
  /** Path of an entry for file-system calls. */
  at(name: string): string;
  /** @throws ToolError `path_changed` when the folder is no longer where it was opened. */
  verify(): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** On Linux a folder's descriptor can stand in a path, which makes a walk that no swapped link can lead astray. */
function canWalkByDescriptor(): boolean {
  return process.platform === 'linux' && existsSync('/proc/self/fd');
}

/**
 * Opens the folder of a confined path component by component, following no link, so that a link put in place after
 * the check is refused rather than followed. `create` makes missing folders on the way.
 * @throws ToolError `path_changed` (a component is now a link), `not_found`
 */
export async function openDirectory(
  workspace: Workspace,
  real: string,
  options: { readonly create?: boolean } = {},
): Promise<OpenDirectory> {
  if (!isInside(workspace.root, real)) throw outside(real);
  return canWalkByDescriptor()
    ? walk(workspace, real, options.create ?? false)
    : openAndVerify(real, options.create ?? false);
}

/**
 * Opens a confined file for reading; never a link, and never blocking on a pipe.
 * @throws ToolError `not_found`, `not_a_file`, `path_changed`
 */
export async function openForReading(workspace: Workspace, path: ConfinedPath): Promise<FileHandle> {
  if (path.real === workspace.root) throw refusal('not_a_file', `"${path.shown}" is a folder. Use list_directory.`);
  const directory = await openDirectory(workspace, dirname(path.real));
  try {
    const file = await open(directory.at(basename(path.real)), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
      (error: unknown) => {
        throw readFailure(path, error);
      },
    );
    return await requireFile(file, path);
  } finally {
    await directory.close();
  }
}

async function requireFile(file: FileHandle, path: ConfinedPath): Promise<FileHandle> {
  const facts = await file.stat();
  if (facts.isFile()) return file;
  await file.close();
  const what = facts.isDirectory() ? 'a folder. Use list_directory' : 'not a regular file';
  throw refusal('not_a_file', `"${path.shown}" is ${what}.`);
}

function readFailure(path: ConfinedPath, error: unknown): Error {
  const code = systemCode(error);
  if (code === 'ENOENT') return refusal('not_found', `"${path.shown}" does not exist.`, error);
  if (code === 'ELOOP') return changed(path.shown);
  if (code === 'ENXIO') return refusal('not_a_file', `"${path.shown}" is not a regular file.`, error);
  return refusal('not_readable', `"${path.shown}" cannot be read (${code ?? 'error'}).`, error);
}

async function walk(workspace: Workspace, real: string, create: boolean): Promise<OpenDirectory> {
  let current = await open(workspace.root, O_RDONLY | O_DIRECTORY);
  try {
    for (const name of relative(workspace.root, real)
      .split(sep)
      .filter((part) => part !== '')) {
      const next = await step(`${descriptorPath(current)}/${name}`, name, create);
      await current.close();
      current = next;
    }
  } catch (error) {
    await current.close();
    throw error;
  }
  const here = descriptorPath(current);
  return {
    at: (name) => `${here}/${name}`,
    async verify() {
      if ((await readlink(here)) !== real) throw changed(basename(real));
    },
    sync: () => current.sync(),
    close: () => current.close(),
  };
}

/** With the pid, so that a child process can start in the folder too. */
function descriptorPath(directory: FileHandle): string {
  return `/proc/${process.pid}/fd/${directory.fd}`;
}

async function step(path: string, name: string, create: boolean): Promise<FileHandle> {
  if (create) await makeDirectory(path);
  try {
    return await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    throw directoryFailure(name, error);
  }
}

async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST')
      throw refusal('not_writable', `The folder cannot be made (${systemCode(error) ?? 'error'}).`, error);
  }
}

function directoryFailure(name: string, error: unknown): Error {
  const code = systemCode(error);
  if (code === 'ENOENT') return refusal('not_found', `The folder "${name}" does not exist.`, error);
  if (code === 'ELOOP' || code === 'ENOTDIR') return changed(name);
  return refusal('not_readable', `The folder "${name}" cannot be opened (${code ?? 'error'}).`, error);
}

/** Without descriptors in paths: open, then check that the name still means the folder that was opened. */
async function openAndVerify(real: string, create: boolean): Promise<OpenDirectory> {
  if (create) await mkdir(real, { recursive: true });
  const handle = await open(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch((error: unknown) => {
    throw directoryFailure(basename(real), error);
  });
  const verify = async (): Promise<void> => {
    const [opened, named] = await Promise.all([handle.stat({ bigint: true }), lstat(real, { bigint: true })]);
    const same = opened.dev === named.dev && opened.ino === named.ino && (await realpath(real)) === real;
    if (!same) throw changed(basename(real));
  };
  try {
    await verify();
  } catch (error) {
    await handle.close();
    throw error;
  }
  return { at: (name) => join(real, name), verify, sync: () => handle.sync(), close: () => handle.close() };
}

function changed(name: string): Error {
  return refusal(
    'path_changed',
    `"${name}" was replaced by a link or moved while it was being opened. Nothing was done; look again.`,
  );
}
