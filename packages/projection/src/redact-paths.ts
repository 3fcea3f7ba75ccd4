/** What a path outside the workspace is replaced with. */
export const OUTSIDE_PATH = '[path]';

/** First parts of absolute paths on the systems Stint runs on. A route of a web server such as `/api/users` is none. */
const SYSTEM_ROOTS = [
  'Applications',
  'Library',
  'System',
  'Users',
  'Volumes',
  'bin',
  'boot',
  'dev',
  'etc',
  'home',
  'lib',
  'lib64',
  'media',
  'mnt',
  'nix',
  'opt',
  'private',
  'proc',
  'root',
  'run',
  'sbin',
  'snap',
  'srv',
  'sys',
  'tmp',
  'usr',
  'var',
];

/** Harmless files that programs and people name all the time. */
const PUBLIC_PATHS: ReadonlySet<string> = new Set([
  '/dev/null',
  '/dev/stdin',
  '/dev/stdout',
  '/dev/stderr',
  '/usr/bin/env',
  '/bin/sh',
  '/bin/bash',
]);

/** Characters that cannot belong to a path in running text. */
const PATH_END = String.raw`\s"'\`<>|;,(){}\[\]*?:=&`;
/** Before the start of a path stands no word, address or longer path. */
const INSIDE_WORD = /[\w.~%@/\\]$/;
/** Words they are not: a compiler's option (`-L/home/...`), an escaped line break, a slash too many. */
const NO_WORD = /(?:(?:^|\s)-[A-Za-z]|\\[fnrt]|(?:^|[\s"'=(])\/)$/;

function startsPath(text: string, offset: number): boolean {
  const before = text.slice(Math.max(0, offset - 3), offset);
  return !INSIDE_WORD.test(before) || NO_WORD.test(before);
}

/** Replaces absolute paths in a text: inside the workspace by relative ones, outside by `[path]`. */
export type PathRedactor = (text: string, onMasked: () => void) => string;

/**
 * @param workspaceRoot canonical path of the workspace, or null when there is none.
 * @param privateRoots further directories of this machine whose paths are recognised, such as a data directory on a disk of its own.
 */
export function createPathRedactor(workspaceRoot: string | null, privateRoots: readonly string[]): PathRedactor {
  const root = workspaceRoot === null ? '' : withoutLastSlash(workspaceRoot);
  const inside =
    root === '' ? null : new RegExp(`${escapeForPattern(root)}(?:/[^${PATH_END}]*|(?![\\w-]|\\.\\w))`, 'g');
  const outside = outsidePatterns([root, ...privateRoots]);
  return (text, onMasked) => {
    const mask = (path: string, offset: number, whole: string): string =>
      PUBLIC_PATHS.has(path) || !startsPath(whole, offset) ? path : maskPath(path, onMasked);
    const shorten = (path: string): string => relativePath(path, root) ?? maskPath(path, onMasked);
    const shortened = inside !== null && text.includes(root) ? text.replace(inside, shorten) : text;
    return outside.reduce(
      (rest, { hint, pattern }) => (rest.includes(hint) ? rest.replace(pattern, mask) : rest),
      shortened,
    );
  };
}

interface OutsidePattern {
  /** A text without it cannot match, which is cheaper to see. */
  readonly hint: string;
  readonly pattern: RegExp;
}

function outsidePatterns(roots: readonly string[]): readonly OutsidePattern[] {
  const known = roots.map(firstPart).filter((part) => part !== '');
  const firstParts = [...new Set([...SYSTEM_ROOTS, ...known])].map(escapeForPattern).join('|');
  return [
    { hint: 'file:/', pattern: new RegExp(`file:/+[^${PATH_END}]+`, 'g') },
    { hint: '/', pattern: new RegExp(`/(?:${firstParts})(?:/+[^${PATH_END}/]+)+/?`, 'g') },
    { hint: '~/', pattern: new RegExp(`~/[^${PATH_END}]+`, 'g') },
    { hint: ':\\', pattern: new RegExp(`[A-Za-z]:\\\\+(?:[^${PATH_END}\\\\/]+\\\\*)+`, 'g') },
  ];
}

/** @returns the path as seen from the workspace, or null when it climbs out of it. */
function relativePath(path: string, root: string): string | null {
  if (path.includes('/..')) return null;
  const rest = path.slice(root.length).replace(/^\/+/, '');
  return rest === '' ? '.' : rest;
}

function maskPath(path: string, onMasked: () => void): string {
  onMasked();
  return OUTSIDE_PATH + (/[.!]+$/.exec(path)?.[0] ?? '');
}

function withoutLastSlash(path: string): string {
  return path.replace(/\/+$/, '');
}

function firstPart(path: string): string {
  return path.split('/').find((part) => part !== '') ?? '';
}

function escapeForPattern(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}
