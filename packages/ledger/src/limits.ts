import { LedgerError } from './errors.js';
import { isCount } from './integers.js';
import { isWord } from './names.js';
import type { Limits, Protection, WindowLimit } from './types.js';
import { windowCaps } from './window-limits.js';
import { calendarOf, isZone, zoneName } from './zones.js';

/** The limits that are one number. */
export const numericLimits = [
  'maxRequests',
  'maxTokens',
  'maxCostMicros',
  'maxRunRequests',
  'maxAttempts',
  'maxConsecutiveFailures',
  'maxConcurrentRequests',
] as const;

export type NumericLimit = (typeof numericLimits)[number];

const limitKeys: readonly string[] = [...numericLimits, 'windows', 'protected'];
const protectionCaps: readonly (keyof Protection)[] = ['requests', 'tokens', 'costMicros', 'maxPercent'];
const maximumWindows = 16;
const maximumProtectedKinds = 16;

/** Where the limits came from (a file, a flag, an environment variable, the API), for the message. */
export interface LimitSource {
  /** @default 'limits' */
  readonly name?: string;
}

/**
 * Checks limits and returns a frozen copy. Unknown keys and values that are not integers from 0 to 2^53-1 are refused by name, with the
 * nearest known key: a cap that its owner believes in but that nobody reads is worse than an error.
 * @throws LedgerError `invalid_limits`
 */
export function parseLimits(value: unknown, source: LimitSource = {}): Limits {
  const name = source.name ?? 'limits';
  const given = objectOf(value, name);
  refuseUnknownKeys(given, limitKeys, name);
  const limits: Record<string, unknown> = {};
  for (const key of numericLimits) {
    if (given[key] !== undefined && given[key] !== null) limits[key] = countOf(given[key], `${name}.${key}`);
  }
  if (given.windows !== undefined && given.windows !== null)
    limits.windows = parseWindows(given.windows, `${name}.windows`);
  if (given.protected !== undefined && given.protected !== null) {
    limits.protected = parseProtected(given.protected, `${name}.protected`);
  }
  return Object.freeze(limits) as Limits;
}

function parseWindows(value: unknown, name: string): readonly WindowLimit[] {
  if (!Array.isArray(value) || value.length > maximumWindows) {
    throw invalid(name, value, `a list of at most ${maximumWindows} windows`);
  }
  const windows = value.map((window, index) => parseWindow(window, `${name}[${index}]`));
  const keys = windows.map(({ per, zone = 'UTC' }) => `${per} in ${calendarOf(zone)}`);
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twice !== undefined) throw invalid(name, twice, 'one window for each period and zone');
  return Object.freeze(windows);
}

function parseWindow(value: unknown, name: string): WindowLimit {
  const given = objectOf(value, name);
  refuseUnknownKeys(given, ['per', 'zone', ...windowCaps], name);
  const { per, zone } = given;
  if (per !== 'minute' && per !== 'hour' && per !== 'day')
    throw invalid(`${name}.per`, per, "'minute', 'hour' or 'day'");
  if (zone !== undefined && !(typeof zone === 'string' && isZone(zone))) {
    throw invalid(`${name}.zone`, zone, "an IANA time zone such as 'Europe/Berlin'");
  }
  const caps = capsOf(given, windowCaps, name);
  if (Object.keys(caps).length === 0) throw invalid(name, value, `at least one of ${windowCaps.join(', ')}`);
  return Object.freeze({ per, ...(zone === undefined ? {} : { zone: zoneName(zone) }), ...caps });
}

function parseProtected(value: unknown, name: string): Readonly<Record<string, Protection>> {
  const given = objectOf(value, name);
  const kinds = Object.keys(given);
  if (kinds.length > maximumProtectedKinds) throw invalid(name, kinds.length, `at most ${maximumProtectedKinds} kinds`);
  const parsed: Record<string, Protection> = {};
  const wrong = kinds.find((kind) => !isWord(kind));
  if (wrong !== undefined) throw invalid(name, wrong, 'an object whose keys are kinds: words of at most 64 characters');
  for (const kind of kinds) parsed[kind] = parseProtection(given[kind], `${name}.${kind}`);
  return Object.freeze(parsed);
}

function parseProtection(value: unknown, name: string): Protection {
  const given = objectOf(value, name);
  refuseUnknownKeys(given, protectionCaps, name);
  const protection: Protection = Object.freeze(capsOf(given, protectionCaps, name));
  const percent = protection.maxPercent;
  if (percent !== undefined && (percent < 1 || percent > 100))
    throw invalid(`${name}.maxPercent`, percent, 'an integer from 1 to 100');
  return protection;
}

function capsOf(given: Record<string, unknown>, keys: readonly string[], name: string): Record<string, number> {
  const caps: Record<string, number> = {};
  for (const key of keys) {
    if (given[key] !== undefined && given[key] !== null) caps[key] = countOf(given[key], `${name}.${key}`);
  }
  return caps;
}

/** @throws LedgerError `invalid_limits` unless `value` is an object whose members can all be read from itself */
export function objectOf(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(name, value, 'an object');
  if (!isPlain(value))
    throw invalid(name, value, 'a plain object: of a class, a map or the like, not every member would be read');
  return value as Record<string, unknown>;
}

/** True if nothing but its own members can be read from the object, and what every object has. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof prototype !== 'object' || prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');
}

function countOf(value: unknown, name: string): number {
  if (isCount(value)) return value;
  throw invalid(name, value, 'an integer from 0 to 9007199254740991 (a number, not text)');
}

/** @throws LedgerError `invalid_limits` naming the first key that is not known, with the nearest known one. */
export function refuseUnknownKeys(given: Record<string, unknown>, known: readonly string[], name: string): void {
  const unknown = Object.getOwnPropertyNames(given).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const nearest = nearestKey(unknown, known);
  throw new LedgerError(
    'invalid_limits',
    `${name} has the unknown key '${unknown}'; nothing would be capped by it. Did you mean '${nearest}'? Known keys: ${known.join(', ')}.`,
    { details: { key: unknown, nearest, source: name } },
  );
}

/** The known key with the fewest edits and the longest common beginning, ignoring case and underscores. */
export function nearestKey(key: string, known: readonly string[]): string {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/gu, '');
  const scored = known.map((candidate) => ({
    candidate,
    edits: editDistance(plain(key), plain(candidate)) - commonLength(plain(key), plain(candidate)),
  }));
  return scored.reduce((best, next) => (next.edits < best.edits ? next : best)).candidate;
}

function commonLength(left: string, right: string): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length += 1;
  return length;
}

function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}

function invalid(name: string, value: unknown, wanted: string): LedgerError {
  return new LedgerError('invalid_limits', `${name} is ${describe(value)}; it must be ${wanted}.`, {
    details: { key: name },
  });
}

function describe(value: unknown): string {
  if (typeof value === 'string') return `the text '${value.slice(0, 60)}'`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return isPlain(value) ? 'an object' : `of ${className(value)}`;
  return String(value);
}

function className({ constructor }: object): string {
  return typeof constructor === 'function' && constructor !== Object ? `the class ${constructor.name}` : 'a class';
}
