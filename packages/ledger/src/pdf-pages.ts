import { inflateSync } from 'node:zlib';

/** A page among a PDF's objects; `/Pages` is a group of them. */
const page = /\/Type\s*\/Page(?![A-Za-z])/gu;
/** Objects that are kept compressed, as most writers do since PDF 1.5. */
const objectStream = /\/ObjStm\b[^]*?stream\r?\n/gu;
const longestObjects = 64 * 1024 * 1024;

/** How many pages a PDF has at least; 0 if none can be told of it, as where it is encrypted. */
export function pdfPages(bytes: Uint8Array): number {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = file.toString('latin1');
  let pages = countIn(text);
  for (const { index, 0: start } of text.matchAll(objectStream)) pages += countIn(inflated(file, index + start.length));
  return pages;
}

function countIn(objects: string): number {
  return objects.match(page)?.length ?? 0;
}

function inflated(file: Buffer, start: number): string {
  try {
    return inflateSync(file.subarray(start), { maxOutputLength: longestObjects }).toString('latin1');
  } catch {
    return ''; // encrypted, or compressed in another way: its bytes are counted all the same
  }
}
