import { isProviderError } from '@stint/provider-hooks';

/** What a log line may say of an error. */
export interface ErrorFacts {
  readonly errorName: string;
  readonly errorCode: string | null;
  /** Absent for a provider's error: its text can hold a key, and its cause the whole prompt. */
  readonly errorMessage?: string;
}

/** The facts of a thrown value that may be logged. */
export function errorFacts(error: unknown): ErrorFacts {
  if (!(error instanceof Error)) return { errorName: typeof error, errorCode: null };
  const errorCode = 'code' in error && typeof error.code === 'string' ? error.code : null;
  if (causedByProvider(error)) return { errorName: error.name, errorCode };
  return { errorName: error.name, errorCode, errorMessage: error.message };
}

function causedByProvider(error: unknown, depth = 0): boolean {
  if (isProviderError(error)) return true;
  return error instanceof Error && depth < 8 && causedByProvider(error.cause, depth + 1);
}
