import { type DirectoryListing, DTO_LIMITS } from '@stint/contracts';
import { existsSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { WireRefusal } from './bridge-link.js';

/** The directories beneath `path` (null = the home directory) for the picker, sorted by name; hidden ones only if asked for. */
export async function listDirectories(path: string | null, showHidden: boolean): Promise<DirectoryListing> {
  const real = await realpath(resolve(path ?? homedir())).catch((cause: unknown) => refuse(path, cause));
  const entries = await readdir(real, { withFileTypes: true }).catch((cause: unknown) => refuse(path, cause));
  const names = entries
    .filter((entry) => entry.isDirectory() && (showHidden || !entry.name.startsWith('.')))
    .map(({ name }) => name)
    .sort((a, b) => a.localeCompare(b));
  const shown = names.slice(0, DTO_LIMITS.maxDirectoryEntries);
  return {
    path: real,
    parent: dirname(real) === real ? null : dirname(real),
    isGitRepository: existsSync(join(real, '.git')),
    directories: shown.map((name) => ({
      name,
      path: join(real, name),
      isGitRepository: existsSync(join(real, name, '.git')),
    })),
    omittedCount: names.length - shown.length,
  };
}

function refuse(path: string | null, cause: unknown): never {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  throw new WireRefusal('not_found', `The directory "${path ?? '~'}" cannot be listed (${code}). Choose another one.`);
}
