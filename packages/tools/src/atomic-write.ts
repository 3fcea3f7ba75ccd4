import { randomBytes } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';
import { access, lstat, open, opendir, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { ToolError, refusal, systemCode } from './errors.js';
import type { OpenDirectory } from './open-confined.js';

/** One whole-file write. */
export interface AtomicWrite {
  readonly directory: OpenDirectory;
  /** Entry of the folder to put in place. */
  readonly name: string;
  readonly content: Uint8Array;
  /** Facts of the file as it was read, or undefined when it must not exist yet. */
  readonly replaces: BigIntStats | undefined;
  /** Mode of a new file. @default 0o666 less the umask */
  readonly mode?: number;
  /** Called between the finished temporary file and the rename. */
  readonly beforeRename?: () => void;
}

const NEW_FILE_MODE = 0o666;

/**
 * Puts content in place: temporary file in the same folder, flushed, then renamed over the name, so that a reader and a
 * crash see the old file or the new one, never a part. Keeps mode and owner. A file that changed since `replaces` was
 * taken is refused. Hard links to the old file keep the old content; extended attributes are not kept.
 * @throws ToolError with effect `none` up to the rename, `unknown` when flushing the folder after it failed
 */
export async function writeAtomically(write: AtomicWrite): Promise<void> {
  const { directory, name } = write;
  await requireWritable(write);
  const temporary = directory.at(temporaryName());
  try {
    await writeTemporary(temporary, write);
    await directory.verify();
    await requireUnchanged(write);
    write.beforeRename?.();
    await rename(temporary, directory.at(name));
  } catch (error) {
    await unlink(temporary).catch(() => {}); // it may never have been made; the first error is the one to tell
    throw error instanceof ToolError
      ? error
      : refusal('not_written', `"${name}" was not written (${systemCode(error) ?? 'error'}).`, error);
  }
  await directory.sync().catch((cause: unknown) => {
    throw new ToolError('not_flushed', `"${name}" was written, but the folder could not be flushed to disk.`, {
      cause,
    });
  });
}

/** Removes temporary files that killed processes left in the folder; looks at a bounded number of entries. */
export async function sweepLeftovers(directory: OpenDirectory): Promise<void> {
  let left = MAX_SWEPT;
  for await (const { name } of await opendir(directory.at('.'))) {
    const pid = TEMPORARY.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) await unlink(directory.at(name)).catch(() => {}); // another sweep was faster
    left -= 1;
    if (left === 0) return;
  }
}

const TEMPORARY = /^\.stint-(\d+)-[0-9a-f]{12}\.tmp$/;
const MAX_SWEPT = 5_000;

function temporaryName(): string {
  return `.stint-${process.pid}-${randomBytes(6).toString('hex')}.tmp`;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}

/** Facts of an entry, or undefined if there is none. Links are not followed. */
export async function entryFacts(directory: OpenDirectory, name: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(directory.at(name), { bigint: true });
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw refusal('not_readable', `"${name}" cannot be looked at (${systemCode(error) ?? 'error'}).`, error);
  }
}

/** A rename would replace a write-protected file too, so the protection is asked for first. */
async function requireWritable({ directory, name, replaces }: AtomicWrite): Promise<void> {
  if (replaces === undefined) return;
  await access(directory.at(name), constants.W_OK).catch((error: unknown) => {
    throw refusal('not_writable', `"${name}" is write-protected (${systemCode(error) ?? 'error'}).`, error);
  });
}

async function writeTemporary(path: string, write: AtomicWrite): Promise<void> {
  const { content, replaces, name } = write;
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const mode = replaces === undefined ? (write.mode ?? NEW_FILE_MODE) : 0o600;
  const file = await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, mode);
  try {
    if (replaces !== undefined) await keepOwnerAndMode(file, replaces, name);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function keepOwnerAndMode(file: FileHandle, old: BigIntStats, name: string): Promise<void> {
  const fresh = await file.stat({ bigint: true });
  if (fresh.uid !== old.uid || fresh.gid !== old.gid) {
    await file.chown(Number(old.uid), Number(old.gid)).catch((error: unknown) => {
      throw refusal(
        'not_writable',
        `"${name}" belongs to another user or group, which a new version could not keep.`,
        error,
      );
    });
  }
  await file.chmod(Number(old.mode & 0o7777n));
}

async function requireUnchanged({ directory, name, replaces }: AtomicWrite): Promise<void> {
  const now = await entryFacts(directory, name);
  const same =
    now?.ino === replaces?.ino &&
    now?.size === replaces?.size &&
    now?.mtimeNs === replaces?.mtimeNs &&
    now?.ctimeNs === replaces?.ctimeNs;
  if (!same)
    throw refusal('stale', `"${name}" changed while it was being written. Nothing was written; read it again.`);
}
