import type { Usage } from '@stint/provider-hooks';
import type { Context, Transaction } from '@stint/storage';
import { requirePersonOrImport } from './actors.js';
import { bookReconciliation, type SettleInput, type SettleResult } from './settle.js';
import type { Actor } from './types.js';
import { checkUsage } from './usage.js';

/** What was found out about a request: its usage and cost, or that it was never billed. */
export type ReconcileInput = { readonly usage: Usage; readonly costMicros?: SettleInput['costMicros'] } | 'not_billed';

/**
 * Corrects a request by hand or from the provider's bill. A reported one may be corrected too; one in flight may not.
 * @throws LedgerError `person_required` for system actors, `invalid_usage`
 */
export function* reconcileRequest(
  ctx: Context,
  id: string,
  found: ReconcileInput,
  actor: Actor,
): Transaction<SettleResult> {
  requirePersonOrImport(actor, 'reconcile a request');
  if (found === 'not_billed') return yield* bookReconciliation(ctx, id, found, actor);
  checkUsage(found.usage);
  return yield* bookReconciliation(
    ctx,
    id,
    { usage: found.usage, costMicros: found.costMicros ?? null, complete: true },
    actor,
  );
}
