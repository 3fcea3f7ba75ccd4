import { posix } from 'node:path';
import type { AnsweredToolCall, ScenarioRequest } from '../scenario.js';
import { argument, type Deed, deeds } from './tool-results.js';

/** What is known of the workspace so far. */
export type Exploration =
  | { readonly state: 'looking'; readonly calls: readonly AnsweredToolCall[]; readonly thought: string }
  | { readonly state: 'stuck'; readonly reason: string }
  | {
      readonly state: 'seen';
      readonly sources: ReadonlyMap<string, string>;
      readonly tests: ReadonlyMap<string, string>;
    };

const deepestDirectory = 3;
const mostFiles = 24;
const mostFileBytes = 32_768;
const skippedDirectories = new Set(['node_modules', '.git', 'coverage', 'dist', 'build']);

/**
 * Lists directories and reads sources and tests, a level a turn. With `paths` it reads those and lists nothing.
 * A listing or a file that does not come back makes it stuck: it never goes on without what it asked for.
 */
export function explore(request: ScenarioRequest, paths: readonly string[] = []): Exploration {
  if (paths.length > 0) return readFiles(request, paths.slice(0, mostFiles));
  const listings = ownDeeds(request, 'list_directory');
  const failed = listings.find((deed) => deed.trouble !== null);
  if (failed !== undefined)
    return { state: 'stuck', reason: `I could not list ${argument(failed, 'path')}: ${failed.trouble}` };
  const found = listings.flatMap(entriesOf);
  const known = new Set(listings.map((deed) => directoryOf(argument(deed, 'path'))));
  const open = ['', ...directories(found)].filter((path) => !known.has(path));
  if (open.length > 0)
    return looking(
      'list_directory',
      open.map((path) => path || '.'),
      'I look at what is there.',
    );
  const files = found.filter(isReadable).map(({ path }) => path);
  return readFiles(request, files.slice(0, mostFiles));
}

/** What was looked at, without looks that never took place (an interruption, a stop): those are made again, twice at most. */
function ownDeeds(request: ScenarioRequest, tool: string): readonly Deed[] {
  const all = deeds(request, tool);
  const never = all.filter((deed) => /^(?:not run|interrupted|cancell?ed|aborted)\b/i.test(deed.result ?? ''));
  const oftenMissed = (path: string) => never.filter((deed) => argument(deed, 'path') === path).length > 2;
  return all.filter((deed) => !never.includes(deed) || oftenMissed(argument(deed, 'path')));
}

interface Entry {
  readonly path: string;
  readonly directory: boolean;
  readonly bytes: number | null;
}

/** One entry a line: a directory ends in `/`, a file may be followed by its size. */
function entriesOf(deed: Deed): readonly Entry[] {
  const base = directoryOf(argument(deed, 'path'));
  return (deed.result ?? '').split('\n').flatMap((line) => {
    const [, name, size] = /^(?:[-*•] |\d+\t)?(.+?)(?:\s{2,}(\d+)|\s+\((\d+) (?:B|bytes?)\))?\s*$/.exec(line) ?? [];
    if (name === undefined || name === '(empty)' || name.startsWith('[') || name.endsWith('@')) return [];
    const path = posix.join(base, name.replace(/\/$/, ''));
    return [{ path, directory: name.endsWith('/'), bytes: size === undefined ? null : Number(size) }];
  });
}

function directoryOf(path: string): string {
  const normal = posix.normalize(path).replace(/\/$/, '');
  return normal === '.' ? '' : normal;
}

function directories(entries: readonly Entry[]): readonly string[] {
  return entries
    .filter(({ directory, path }) => directory && !skippedDirectories.has(posix.basename(path)))
    .map(({ path }) => path)
    .filter((path) => path.split('/').length <= deepestDirectory);
}

function isReadable({ directory, path, bytes }: Entry): boolean {
  const fits = bytes === null || (bytes > 0 && bytes <= mostFileBytes);
  return (
    !directory &&
    fits &&
    /\.(?:js|mjs|cjs|json)$/.test(path) &&
    !/(?:^|\/)(?:package|package-lock|tsconfig[^/]*)\.json$/.test(path)
  );
}

/** True for the files `node --test` runs, and for what lies beside them. */
export function isTestPath(path: string): boolean {
  return (
    /(?:^|\/)(?:tests?|__tests__|spec)\//.test(path) ||
    /(?:^|[./_-])(?:test|spec)\.[cm]?js$/.test(path) ||
    /(?:^|\/)test-[^/]+$/.test(path)
  );
}

function readFiles(request: ScenarioRequest, paths: readonly string[]): Exploration {
  const reads = new Map(ownDeeds(request, 'read_file').map((deed) => [posix.normalize(argument(deed, 'path')), deed]));
  const missing = paths.filter((path) => !reads.has(posix.normalize(path)));
  if (missing.length > 0) return looking('read_file', missing, 'I read the sources and the tests.');
  for (const [path, deed] of reads) {
    if (deed.trouble !== null) return { state: 'stuck', reason: `I could not read ${path}: ${deed.trouble}` };
  }
  const texts = [...reads].map(([path, deed]) => [path, fileText(deed.result ?? '')] as const);
  return {
    state: 'seen',
    sources: new Map(texts.filter(([path]) => !isTestPath(path))),
    tests: new Map(texts.filter(([path]) => isTestPath(path))),
  };
}

/** The text of a file, also where the tool put a number and a tab (or an arrow, or a bar) before each line. */
function fileText(result: string): string {
  const lines = result.split('\n');
  const numbered = lines.every(
    (line, index) => line === '' || Number(/^\s*(\d+)(?:\t|→|\s*\| ?)/.exec(line)?.[1]) === index + 1,
  );
  if (!numbered || result.trim() === '') return result;
  return lines.map((line) => line.replace(/^\s*\d+(?:\t|→|\s*\| ?)/, '')).join('\n');
}

function looking(tool: string, paths: readonly string[], thought: string): Exploration {
  return { state: 'looking', thought, calls: paths.map((path) => ({ name: tool, input: { path } })) };
}
