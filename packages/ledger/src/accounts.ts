import { type Context, one, run, type Transaction } from '@stint/storage';
import { appendEntry, type Chain, emptyState, lockAccount, saveChain, unknownAccount } from './tree.js';
import { canonicalJson, firstHead } from './entries.js';
import { LedgerError } from './errors.js';
import { parseLimits } from './limits.js';
import { checkId } from './names.js';
import { parseJson } from './stored-json.js';
import type { Actor, Limits, TokenAccounting } from './types.js';

const deepest = 16;

const insertAccount = `INSERT INTO ledger_accounts
  (id, parent, depth, status, limits, accounting, stop_reason, revision, data_revision, state, head, entry_count)
  VALUES (?, ?, ?, 'open', ?, ?, NULL, 1, 0, '${emptyState}', '${firstHead}', 0) ON CONFLICT DO NOTHING`;
const insertPath = 'INSERT INTO ledger_paths (account, depth, ancestor) VALUES (?, ?, ?)';
const selectFirstEntry = 'SELECT details FROM ledger_entries WHERE account = ? AND seq = 1';

export interface CreateAccountInput {
  readonly id: string;
  /** The account above: its limits bind too. It never changes. */
  readonly parent?: string;
  /** @default none of its own */
  readonly limits?: Limits;
  /** Which tokens the caps of the tree count; set at the root, a child may only repeat it. @default 'all', or the parent's */
  readonly accounting?: TokenAccounting;
  readonly actor?: Actor;
}

interface CreationDetails {
  readonly accounting: TokenAccounting;
  readonly limits: Limits;
  readonly parent: string | null;
}

/**
 * Creates an account. The same account again is no error and changes nothing.
 * @returns true if it was created, false if it was there with the same parent, limits and accounting
 * @throws LedgerError `account_exists` if it is there with others, `account_unknown` for the parent, `invalid_limits`, `invalid_input`
 */
export function* createAccount(ctx: Context, input: CreateAccountInput): Transaction<boolean> {
  checkId('id', input.id);
  const limits = parseLimits(input.limits ?? {}, { name: `limits of account ${input.id}` });
  const above = input.parent === undefined ? undefined : yield* lockParent(input.parent);
  const accounting = accountingOf(input, above);
  const details: CreationDetails = { accounting, limits, parent: input.parent ?? null };
  const inserted = yield* run(insertAccount, [
    input.id,
    input.parent ?? null,
    above?.length ?? 0,
    JSON.stringify(limits),
    accounting,
  ]);
  if (inserted === 0) return yield* compareWithExisting(input, details);
  for (const ancestor of above ?? []) yield* run(insertPath, [input.id, ancestor.depth, ancestor.id]);
  yield* run(insertPath, [input.id, above?.length ?? 0, input.id]);
  const chain = yield* lockAccount(input.id);
  if (chain === undefined) throw unknownAccount(input.id);
  yield* appendEntry(ctx, chain, {
    type: 'created',
    ...(input.actor === undefined ? {} : { actor: input.actor }),
    details,
  });
  yield* saveChain(chain);
  return true;
}

function* lockParent(id: string): Transaction<Chain> {
  const chain = yield* lockAccount(id);
  if (chain === undefined) throw unknownAccount(id);
  if (chain.length >= deepest) {
    throw new LedgerError(
      'invalid_input',
      `Account ${id} is ${chain.length} levels deep; a tree has at most ${deepest} levels.`,
    );
  }
  return chain;
}

function accountingOf(input: CreateAccountInput, above: Chain | undefined): TokenAccounting {
  const inherited = above?.[0].accounting;
  const accounting = input.accounting ?? inherited ?? 'all';
  if (accounting !== 'all' && accounting !== 'without_cache_reads') {
    throw new LedgerError(
      'invalid_input',
      `accounting is ${JSON.stringify(accounting)}; it must be 'all' or 'without_cache_reads'.`,
    );
  }
  if (inherited === undefined || inherited === accounting) return accounting;
  throw new LedgerError(
    'invalid_input',
    `Account ${input.id} counts tokens as '${accounting}', its root as '${inherited}'; a tree counts one way.`,
  );
}

/** The same creation again is recognised by the account's first entry, however its limits were changed since. */
function* compareWithExisting(input: CreateAccountInput, details: CreationDetails): Transaction<boolean> {
  const first = yield* one<{ details: string }>(selectFirstEntry, [input.id]);
  const created = first === undefined ? undefined : parseJson<CreationDetails>(first.details);
  if (created !== undefined && canonicalJson(created) === canonicalJson(details)) return false;
  throw new LedgerError(
    'account_exists',
    `Account '${input.id}' was created with another parent or other limits; extend or lower it instead.`,
    {
      details: { account: input.id, created },
    },
  );
}
