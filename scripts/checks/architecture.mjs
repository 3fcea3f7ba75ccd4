// @ts-check
/**
 * ARCHITECTURE.md names files and functions as `path/to/file.ts#name`; each must exist, so that the document cannot rot.
 * A document that names none fails too.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const reference = /`((?:packages|apps|scripts|e2e)\/[\w./-]+\.(?:ts|tsx|mjs))(?:#([\w$]+))?`/g;

/** @param {string} root @returns {string[]} findings */
export function checkArchitecture(root) {
  const document = join(root, 'ARCHITECTURE.md');
  if (!existsSync(document)) return ['ARCHITECTURE.md is missing'];
  const text = readFileSync(document, 'utf8');
  const references = [...text.matchAll(reference)];
  if (references.length === 0)
    return ['ARCHITECTURE.md names no file; its followed calls must name real files and functions'];
  return references.flatMap(([, path = '', name]) => {
    if (!existsSync(join(root, path))) return [`ARCHITECTURE.md names ${path}, which does not exist`];
    if (name && !declares(readFileSync(join(root, path), 'utf8'), name))
      return [`ARCHITECTURE.md names ${path}#${name}, but that file declares no ${name}`];
    return [];
  });
}

/** @param {string} source @param {string} name */
function declares(source, name) {
  const escaped = name.replace(/\$/g, '\\$');
  return new RegExp(
    `(?:function\\*?|const|class|interface|type)\\s+${escaped}\\b|^\\s+(?:(?:async|static|private|readonly|get)\\s+)*[*#]?${escaped}\\s*(?:<[^>]*>)?\\(`,
    'm',
  ).test(source);
}
