/** What a hooked `fetch` or an error's chain of causes tells about the transport. */
export interface TransportFacts {
  /** True if the error proves that no byte of the request reached the provider. */
  readonly notSent: boolean;
  readonly status: number | null;
  readonly headers: Headers | Readonly<Record<string, string | undefined>> | null;
}

/** Statuses with which a provider says that it did no paid work, if it tells no usage beside. */
const refusingStatuses: ReadonlySet<number> = new Set([400, 401, 403, 404, 413, 422, 429, 529]);

/** Codes of Node and undici for a connection that never came to be. */
const unconnectedCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  // A certificate that is not accepted: no byte of a request is written before that is settled.
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Codes that say so only of the system call that connects; of another they may come after the request. */
const unconnectedByCall: ReadonlySet<string> = new Set([
  'EADDRNOTAVAIL',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ETIMEDOUT',
]);

/** True for a status that proves a refusal. */
export function isRefusingStatus(status: number | null): boolean {
  return status !== null && refusingStatuses.has(status);
}

/** Facts out of an error alone, for models whose `fetch` is not ours. */
export function factsOfError(error: unknown): TransportFacts {
  const status = findInCauses(error, (value) => numberField(value, 'statusCode') ?? numberField(value, 'status'));
  const headers = findInCauses(error, (value) => headersField(value));
  return { notSent: isUnsent(error), status: status ?? null, headers: headers ?? null };
}

/**
 * True if the error, or the one it was caused by, says that no connection was made. Of an aggregate (several addresses
 * were tried) every part must say so.
 */
export function isUnsent(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 8) return false;
  const parts = (error as { errors?: unknown }).errors;
  if (Array.isArray(parts) && parts.length > 0) return parts.every((part) => isUnsent(part, depth + 1));
  const { code, syscall, cause } = error as { code?: unknown; syscall?: unknown; cause?: unknown };
  if (typeof code === 'string' && unconnectedCodes.has(code)) return true;
  if (typeof code === 'string' && unconnectedByCall.has(code) && syscall === 'connect') return true;
  return isUnsent(cause, depth + 1);
}

/** The first answer that is not undefined, from the error inwards. */
export function findInCauses<T>(error: unknown, look: (value: object) => T | undefined): T | undefined {
  let value = error;
  for (let depth = 0; depth < 8 && typeof value === 'object' && value !== null; depth += 1) {
    const found = look(value);
    if (found !== undefined) return found;
    value = (value as { cause?: unknown }).cause;
  }
  return undefined;
}

function numberField(value: object, name: string): number | undefined {
  const field = (value as Record<string, unknown>)[name];
  return typeof field === 'number' && field >= 100 && field < 600 ? field : undefined;
}

function headersField(value: object): Readonly<Record<string, string>> | undefined {
  const field = (value as { responseHeaders?: unknown }).responseHeaders;
  return typeof field === 'object' && field !== null ? (field as Record<string, string>) : undefined;
}
