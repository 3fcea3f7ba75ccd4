import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, mkdtemp, open, readdir, stat, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { refusal, systemCode } from './errors.js';

const HANDLE = /^output:([0-9a-f-]{36})$/;

/** Keeps whole outputs that the model saw only in part. Files are 0600 in a 0700 folder, named by random ids. */
export interface OutputStore {
  /** Keeps the bytes and returns their handle, `output:<id>`. */
  save(content: string | Uint8Array): Promise<string>;
  /** Opens a new output for writing. */
  create(): Promise<{ readonly handle: string; readonly file: FileHandle }>;
  /** Path of the file behind a handle. @throws ToolError `unknown_output` */
  locate(handle: string): Promise<string>;
  /** Removes one output; a missing one is fine. */
  remove(handle: string): Promise<void>;
  /** Removes outputs last written more than `olderThanMs` ago; returns how many. */
  prune(olderThanMs: number): Promise<number>;
}

/** True for text of the form `output:<id>`. */
export function isOutputHandle(text: string): boolean {
  return text.startsWith('output:');
}

/** @param options.directory folder for the files, made when first needed. */
export function createOutputStore(options: { readonly directory: string }): OutputStore {
  const directory = resolve(options.directory);
  return storeIn(async () => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await chmod(directory, 0o700);
    return directory;
  });
}

let shared: OutputStore | undefined;

/** The store of this process for callers that named no data directory: a private temporary folder. */
export function temporaryOutputStore(): OutputStore {
  shared ??= storeIn(() => mkdtemp(join(tmpdir(), 'stint-outputs-')));
  return shared;
}

function storeIn(prepare: () => Promise<string>): OutputStore {
  let prepared: Promise<string> | undefined;
  const directory = (): Promise<string> => {
    prepared ??= prepare();
    return prepared;
  };
  const create = async () => {
    const id = randomUUID();
    const file = await open(
      join(await directory(), id),
      constants.O_CREAT | constants.O_EXCL | constants.O_RDWR,
      0o600,
    );
    return { handle: `output:${id}`, file };
  };
  const pathOf = async (handle: string): Promise<string> => {
    const id = HANDLE.exec(handle)?.[1];
    if (id === undefined) throw unknownOutput(handle);
    return join(await directory(), id);
  };
  return {
    create,
    async save(content) {
      const { handle, file } = await create();
      try {
        await file.writeFile(content);
      } finally {
        await file.close();
      }
      return handle;
    },
    async locate(handle) {
      const path = await pathOf(handle);
      const found = await stat(path).catch(() => undefined); // any failure means: not readable as an output
      if (!found?.isFile()) throw unknownOutput(handle);
      return path;
    },
    async remove(handle) {
      await unlinkIfThere(await pathOf(handle));
    },
    async prune(olderThanMs) {
      return removeOlder(await directory(), Date.now() - olderThanMs);
    },
  };
}

async function removeOlder(directory: string, before: number): Promise<number> {
  let removed = 0;
  for (const name of await readdir(directory)) {
    if (!HANDLE.test(`output:${name}`)) continue;
    const path = join(directory, name);
    if ((await stat(path)).mtimeMs >= before) continue;
    await unlinkIfThere(path);
    removed += 1;
  }
  return removed;
}

async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

function unknownOutput(handle: string): Error {
  return refusal(
    'unknown_output',
    `No kept output ${JSON.stringify(handle.slice(0, 80))}. It may have been removed; run the call again.`,
  );
}
