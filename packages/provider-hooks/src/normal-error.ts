import { isProviderError, ProviderError, type ProviderErrorCode } from './errors.js';
import { findInCauses, isUnsent } from './transport-facts.js';

const codeOfStatus: ReadonlyMap<number, ProviderErrorCode> = new Map([
  [400, 'bad_request'],
  [401, 'unauthorized'],
  [403, 'unauthorized'],
  [404, 'not_found'],
  [408, 'server_error'],
  [413, 'too_large'],
  [422, 'bad_request'],
  [429, 'rate_limited'],
  [503, 'overloaded'],
  [529, 'overloaded'],
]);

/** Errors of the same name from the AI SDK say that the request could not even be built. */
const unbuildable =
  /^AI_(LoadAPIKey|LoadSetting|InvalidPrompt|InvalidArgument|UnsupportedFunctionality|NoSuchModel)Error$/;

/**
 * What a provider or its transport threw, in normal form. The message names model, status and the provider's own words,
 * bounded and without anything that looks like a key; the original is the `cause`.
 */
export function normalError(error: unknown, model: string, status: number | null): ProviderError {
  if (isProviderError(error)) return error;
  const code = codeOf(error, status);
  const answered = status === null ? 'failed' : `answered ${status}`;
  return new ProviderError(code, `${model} ${answered} (${code}): ${ownWords(error)}`, {
    retryable: isRetryable(code),
    cause: error,
  });
}

function codeOf(error: unknown, status: number | null): ProviderErrorCode {
  if (isUnsent(error)) return 'not_sent';
  if (findInCauses(error, (value) => (unbuildable.test((value as Error).name) ? true : undefined)))
    return 'bad_request';
  if (status === null) return 'connection';
  if (status < 400) return 'incomplete';
  if (isContextMessage(status, ownWords(error))) return 'context_exceeded';
  return codeOfStatus.get(status) ?? (status >= 500 ? 'server_error' : 'bad_request');
}

/** Providers tell a full context only in words. */
function isContextMessage(status: number, message: string): boolean {
  if (status !== 400 && status !== 413) return false;
  return /context[ _-]?(length|window)|prompt is too long|maximum context|too many (input )?tokens/i.test(message);
}

function isRetryable(code: ProviderErrorCode): boolean {
  switch (code) {
    case 'rate_limited':
    case 'overloaded':
    case 'server_error':
    case 'not_sent':
    case 'connection':
    case 'incomplete':
    case 'idle_timeout':
    case 'total_timeout':
      return true;
    default:
      return false;
  }
}

/** The innermost message is the telling one of a chain such as "fetch failed" <- "connect ECONNREFUSED". */
function ownWords(error: unknown): string {
  const messages: string[] = [];
  findInCauses(error, (value) => {
    const { message } = value as { message?: unknown };
    if (typeof message === 'string' && message !== '' && !messages.includes(message)) messages.push(message);
    return undefined;
  });
  const text =
    messages.length > 0 ? messages.slice(0, 3).join(' <- ') : typeof error === 'string' ? error : 'no message';
  return redact(text).slice(0, 300);
}

/** Takes out what looks like a credential: providers repeat the key they refuse. */
export function redact(text: string): string {
  return text
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 [redacted]')
    .replace(/\b(sk|pk|rk|key|AIza|xox[a-z]|gh[a-z]|glpat)[-_]?[\w*-]{8,}/g, '[redacted]')
    .replace(/([?&](?:key|token|api[-_]?key)=)[^&\s]+/gi, '$1[redacted]');
}
