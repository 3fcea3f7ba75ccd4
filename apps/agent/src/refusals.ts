/** Names of errors by which the packages below refuse what a person asked for; their messages are written for people. */
const refusing: ReadonlySet<string> = new Set([
  'WorkItemsError',
  'LedgerError',
  'JournalError',
  'CoordinatorError',
  'WireRefusal',
]);

/** An error that says no to a command, with a code of its own, as opposed to something that went wrong. */
export type Refusal = Error & { readonly code: string; readonly retryable?: unknown };

export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && refusing.has(error.name) && 'code' in error && typeof error.code === 'string';
}
