/**
 * The one check of references that a model hands over as evidence or output. It is used where an outcome is parsed and
 * again where a completion is judged, so that what was refused once cannot enter by another door.
 */

/** What a reference claims to be. `text` and `test` are prose and are only bounded. */
export type ReferenceKind = 'text' | 'file' | 'test' | 'link' | 'pr' | 'commit';

/** Why a reference is refused, as a sentence for the model; null if it is safe. */
export function referenceProblem(kind: ReferenceKind, value: string): string | null {
  if (value.trim() === '') return `a ${kind} reference is empty`;
  if (kind === 'text' || kind === 'test') return null;
  if (CONTROL_CHARACTER.test(value)) return `the ${kind} reference holds a control character`;
  if (kind === 'file') return fileProblem(value);
  if (kind === 'link') return linkProblem(value);
  if (kind === 'pr') return pullRequestProblem(value);
  return COMMIT.test(value) ? null : `"${shown(value)}" is not a commit id; give 7 to 64 lower-case hexadecimal digits`;
}

const CONTROL_CHARACTER = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const COMMIT = /^[0-9a-f]{7,64}$/u;
const SCHEME = /^[a-z][a-z0-9+.-]*:/iu;
const PULL_REQUEST_PATH = /^\/[\w.-]+(?:\/[\w.-]+)+\/(?:pull|pulls|merge_requests)\/[1-9]\d{0,9}$/u;

function fileProblem(value: string): string | null {
  if (SCHEME.test(value)) return `"${shown(value)}" is an address, not a file; give a path relative to the workspace`;
  if (value.startsWith('/') || value.startsWith('~') || value.includes('\\'))
    return `"${shown(value)}" is not a path relative to the workspace`;
  if (value.split('/').includes('..')) return `"${shown(value)}" leaves the workspace`;
  return null;
}

function linkProblem(value: string): string | null {
  const url = parseUrl(value);
  if (url === null) return `"${shown(value)}" is not an http or https address`;
  if (url.username !== '' || url.password !== '') return 'a link must not hold a user name or password';
  return null;
}

function pullRequestProblem(value: string): string | null {
  const url = parseUrl(value);
  const plain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (plain && PULL_REQUEST_PATH.test(url.pathname)) return null;
  return `"${shown(value)}" is not a pull request; give its address without anything after the number`;
}

function parseUrl(value: string): URL | null {
  if (!URL.canParse(value)) return null;
  const url = new URL(value);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : null;
}

function shown(value: string): string {
  return value.length <= 80 ? value : `${value.slice(0, 80)}…`;
}
