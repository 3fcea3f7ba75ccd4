/**
 * The wait that a provider asks for, in ms: `retry-after-ms`, or `retry-after` in seconds or as an HTTP date
 * (RFC 9110, 10.2.3). Null if there is none or it cannot be read: then the caller's own backoff applies.
 */
export function retryAfterMs(
  headers: Headers | Readonly<Record<string, string | undefined>> | null,
  now: number,
): number | null {
  if (headers === null) return null;
  const precise = numberOrNull(headerOf(headers, 'retry-after-ms'));
  const text = headerOf(headers, 'retry-after');
  const seconds = numberOrNull(text);
  const waitMs = precise ?? (seconds === null ? untilDate(text, now) : seconds * 1000);
  return waitMs === null ? null : Math.min(Math.ceil(waitMs), longestWaitMs);
}

/** Nobody means more than a month; a number beyond that is a mistake, and must stay one that a clock can hold. */
const longestWaitMs = 30 * 86_400_000;

function untilDate(text: string | null, now: number): number | null {
  // An HTTP date names a month; what Date.parse makes of anything else ("-5", "soon 7") is not what was meant.
  if (text === null || !/\b[A-Z][a-z]{2}\b.*\d{2}:\d{2}/.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

function numberOrNull(text: string | null): number | null {
  return text !== null && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null;
}

function headerOf(headers: Headers | Readonly<Record<string, string | undefined>>, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  for (const [key, value] of Object.entries(headers)) if (key.toLowerCase() === name) return value ?? null;
  return null;
}
