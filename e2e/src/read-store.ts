import { join } from 'node:path';
import { openSqlite } from '@stint/storage';
import { all } from '@stint/storage';

/** A ledger request as the store has it. */
export interface StoredRequest {
  readonly id: string;
  readonly status: string;
  readonly account: string;
  readonly kind: string;
  readonly charged_tokens: number;
  readonly usage: string | null;
}

/** Reads rows from a store beside whatever writes it. */
export async function readStore<R>(
  dataDirectory: string,
  sql: string,
  parameters: readonly (string | number)[] = [],
): Promise<readonly R[]> {
  await using db = await openSqlite({ path: join(dataDirectory, 'stint.db') });
  return await db.read(() => all<R>(sql, parameters));
}
