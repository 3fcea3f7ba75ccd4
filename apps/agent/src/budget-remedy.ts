import { hasRoomAgain } from '@stint/coordinator';
import type { AccountSnapshot } from '@stint/ledger';

/**
 * The command that lets an item go on after a limit has stopped it: the limit doubled, or raised by what the refused request asks for beyond what is left if that is more, and resumed.
 * With room again only the resume is left. Null where it is not the item's own limit that is in the way.
 */
export function budgetRemedy(itemId: string, account: AccountSnapshot): string | null {
  const { stopReason, remaining } = account;
  if (stopReason === null || stopReason.account !== account.account) return null;
  if (hasRoomAgain(account)) return `stint budget resume ${itemId}`;
  const { limit = 0, estimate } = stopReason;
  const tokens = Math.max((estimate?.tokens ?? 0) - (remaining.tokens ?? 0), limit, 1);
  const cost = Math.max((estimate?.costMicros ?? 0) - (remaining.costMicros ?? 0), limit, 1);
  const additions: Readonly<Record<string, string>> = {
    tokens_exhausted: `--tokens ${roundUp(tokens)}`,
    requests_exhausted: `--requests ${Math.max(limit, 10)}`,
    cost_exhausted: `--cost ${(roundUp(cost) / 1_000_000).toFixed(6).replace(/0+$/, '')}`,
    failures_exhausted: '--failures 3',
  };
  const addition = additions[stopReason.code];
  return addition === undefined ? null : `stint budget extend ${itemId} ${addition} --resume`;
}

/** Up to two leading digits, so that the figure is one a person would name: 13_205 -> 14_000. */
function roundUp(amount: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(amount)) - 1);
  return Math.ceil(amount / unit) * unit;
}
