import { expect, test } from 'vitest';
import { nativeSettings } from './effort.js';
import { finishReasonOf, isCompleteReason } from './finish-reason.js';
import { normalError, redact } from './normal-error.js';
import { retryAfterMs } from './retry-after.js';
import { isRefusingStatus, isUnsent } from './transport-facts.js';
import type { Effort } from './types.js';

const now = Date.parse('2026-03-01T10:00:00Z');

test('case E13: Retry-After is read as seconds and as a date; garbage is no answer', () => {
  const at = (value: string): number | null => retryAfterMs(new Headers({ 'retry-after': value }), now);
  expect(at('5')).toBe(5000);
  expect(at('3600')).toBe(3_600_000);
  expect(at('Sun, 01 Mar 2026 10:00:05 GMT')).toBe(5000);
  expect(at('Sun, 01 Mar 2026 09:00:00 GMT')).toBe(0);
  for (const garbage of ['soon', '-5', '', '5 seconds', 'NaN']) expect(at(garbage)).toBeNull();
  for (const never of ['99999999999999999999', 'Sun, 01 Mar 9999 10:00:00 GMT'])
    expect(at(never)).toBe(30 * 86_400_000);
  expect(retryAfterMs({ 'Retry-After': '2' }, now)).toBe(2000);
  expect(retryAfterMs(new Headers({ 'retry-after-ms': '1500', 'retry-after': '9' }), now)).toBe(1500);
  expect(retryAfterMs(null, now)).toBeNull();
});

test('only an error of a connection that never came to be proves that nothing was sent', () => {
  const caused = (code: string, extra = {}): Error =>
    new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code, ...extra }) });
  for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])
    expect(isUnsent(caused(code))).toBe(true);
  for (const code of ['SELF_SIGNED_CERT_IN_CHAIN', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID'])
    expect(isUnsent(caused(code)), 'a certificate that is not accepted').toBe(true);
  for (const code of ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH']) {
    expect(isUnsent(caused(code, { syscall: 'connect' }))).toBe(true);
    expect(isUnsent(caused(code, { syscall: 'read' }))).toBe(false);
  }
  for (const code of ['ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE', 'UND_ERR_HEADERS_TIMEOUT', 'ETIMEDOUT'])
    expect(isUnsent(caused(code))).toBe(false);
});

test('of several addresses every one must have refused', () => {
  const refused = Object.assign(new Error(), { code: 'ECONNREFUSED' });
  const reset = Object.assign(new Error(), { code: 'ECONNRESET' });
  const all = Object.assign(new AggregateError([refused, refused]), { code: 'ECONNREFUSED' });
  const some = Object.assign(new AggregateError([refused, reset]), { code: 'ECONNREFUSED' });
  expect(isUnsent(new TypeError('fetch failed', { cause: all }))).toBe(true);
  expect(isUnsent(new TypeError('fetch failed', { cause: some }))).toBe(false);
});

test('the statuses that prove a refusal are exactly those', () => {
  const refusing = Array.from({ length: 600 }, (_, status) => status).filter(isRefusingStatus);
  expect(refusing).toEqual([400, 401, 403, 404, 413, 422, 429, 529]);
});

test('an error has a code by its status, and says whether a repetition may help', () => {
  const codeAt = (status: number, message = 'no'): string => {
    const { code, retryable } = normalError(new Error(message), 'p:m', status);
    return `${code} ${retryable}`;
  };
  expect(codeAt(429)).toBe('rate_limited true');
  expect(codeAt(529)).toBe('overloaded true');
  expect(codeAt(500)).toBe('server_error true');
  expect(codeAt(401)).toBe('unauthorized false');
  expect(codeAt(404)).toBe('not_found false');
  expect(codeAt(400)).toBe('bad_request false');
  expect(codeAt(418)).toBe('bad_request false');
  expect(codeAt(200)).toBe('incomplete true');
  expect(codeAt(400, "This model's maximum context length is 10 tokens")).toBe('context_exceeded false');
});

test('messages of errors hold no key, however the provider repeats it', () => {
  const key = `sk-${Math.random().toString(36).slice(2).padEnd(20, 'x')}`;
  for (const text of [
    `Incorrect API key provided: ${key}.`,
    `Authorization: Bearer ${key}`,
    `https://x.test/v1?key=${key}`,
  ]) {
    expect(redact(text)).not.toContain(key);
  }
  const error = normalError(new Error(`bad key ${key}`), 'p:m', 401);
  expect(JSON.stringify(error)).not.toContain(key);
});

test('reasons of v2, v3 and v4 are one list, and what is not known is no complete answer', () => {
  expect(finishReasonOf('tool-calls')).toBe('tool-calls');
  expect(finishReasonOf({ unified: 'stop', raw: 'end_turn' })).toBe('stop');
  expect(finishReasonOf({ unified: 'interrupted', raw: undefined })).toBe('interrupted');
  for (const reason of ['unknown', undefined, null, 7, { unified: 'new' }])
    expect(finishReasonOf(reason)).toBe('other');
  expect((['error', 'other', 'interrupted'] as const).some(isCompleteReason)).toBe(false);
});

test('an effort is said as far as a provider has words for it; what the caller says himself stands', () => {
  const said = (provider: string, effort: Effort, options = {}, specificationVersion = 'v3'): unknown =>
    nativeSettings({ effort, temperature: 0, ...options }, { provider, specificationVersion });
  expect(said('anthropic.messages', 'none')).toEqual({
    temperature: 0,
    providerOptions: { anthropic: { thinking: { type: 'disabled' } } },
  });
  expect(said('anthropic.messages', 'minimal')).toMatchObject({ providerOptions: { anthropic: { effort: 'low' } } });
  expect(said('google.generative-ai', 'max')).toMatchObject({
    providerOptions: { google: { thinkingConfig: { thinkingLevel: 'high' } } },
  });
  const own = { providerOptions: { openai: { reasoningEffort: 'low', store: false }, other: { x: 1 } } };
  expect(said('openai.responses', 'high', own)).toEqual({ temperature: 0, ...own });
  expect(said('openai.responses', 'high', {}, 'v4')).toEqual({ temperature: 0, reasoning: 'high' });
});
