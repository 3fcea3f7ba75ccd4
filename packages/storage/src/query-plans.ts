import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshSqlite } from './fresh.js';
import type { MigrationSet } from './migrate.js';
import { all } from './statement.js';

/** A named SQL constant of a package, and what SQLite does for it. */
export interface QueryPlan {
  /** `file.ts constantName` */
  readonly statement: string;
  /** The tables it reads whole, in the words of `EXPLAIN QUERY PLAN`; empty if it finds its rows by an index. */
  readonly scans: readonly string[];
}

/**
 * Explains every SELECT, UPDATE and DELETE constant of a package's source, so that a test can say which of them may read a whole table.
 *
 * @param directory the package's `src`
 * @param migrations the tables of the package, and of those it reads
 */
export async function explainStatements(
  directory: string,
  migrations: readonly MigrationSet[],
): Promise<readonly QueryPlan[]> {
  const store = freshSqlite();
  const db = await store.open();
  try {
    for (const set of migrations) await db.migrate(set);
    const plans: QueryPlan[] = [];
    for (const { statement, sql } of statementsIn(directory)) {
      const params = Array.from(sql.matchAll(/\?/g), () => null);
      const rows = await db.write(() => all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, params));
      plans.push({ statement, scans: rows.map(({ detail }) => detail).filter((detail) => /^SCAN \w/.test(detail)) });
    }
    return plans;
  } finally {
    await store.remove();
  }
}

const stringConstant = /const (\w+)\s*=\s*([`'"])((?:\\.|(?!\2)[^\\])*)\2;/g;
const rowLock = /\s+FOR (?:NO KEY )?UPDATE(?: OF \w+)?(?: SKIP LOCKED)?\s*$/;

function statementsIn(directory: string): readonly { readonly statement: string; readonly sql: string }[] {
  const files = readdirSync(directory).filter((name) => name.endsWith('.ts') && !/\.test\.|^testing/.test(name));
  return files.flatMap((file) => {
    const constants = constantsOf(readFileSync(join(directory, file), 'utf8'));
    return [...constants]
      .map(([name, text]) => ({ statement: `${file} ${name}`, sql: filledIn(text, constants).replace(rowLock, '') }))
      .filter(({ sql }) => /^(?:SELECT|UPDATE|DELETE)\s/.test(sql));
  });
}

function constantsOf(source: string): ReadonlyMap<string, string> {
  return new Map(
    Array.from(source.matchAll(stringConstant), ([, name = '', , text = '']) => [name, text.replace(/\\(.)/g, '$1')]),
  );
}

/** A part that another file names is a list of columns. */
function filledIn(text: string, constants: ReadonlyMap<string, string>): string {
  return text.replace(/\$\{(\w+)\}/g, (_, name: string) => filledIn(constants.get(name) ?? '*', constants));
}
