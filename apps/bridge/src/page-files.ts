import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { BridgeError } from './errors.js';

/** One file of the page, in memory: no request can name a path outside of what was read at start. */
export interface PageFile {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  /** Files with hashed names never change; everything else is asked for anew. */
  readonly cacheControl: string;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
};

/** Reads the built page, by address path. @throws BridgeError `page_missing` */
export function readPageFiles(directory: string): ReadonlyMap<string, PageFile> {
  if (!existsSync(join(directory, 'index.html'))) {
    throw new BridgeError(
      'page_missing',
      `There is no built page at ${directory}. Build it, or name its directory in pageDirectory.`,
    );
  }
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const address = `/${relative(directory, file).split(sep).join('/')}`;
      return [address, toPageFile(file, address)];
    }),
  );
}

function toPageFile(file: string, address: string): PageFile {
  return {
    body: new Uint8Array(readFileSync(file)),
    contentType: CONTENT_TYPES[extname(file)] ?? 'application/octet-stream',
    cacheControl: address.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-store',
  };
}
