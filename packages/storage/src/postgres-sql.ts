/**
 * Portable SQL to Postgres: the nth `?` outside of quotes and comments becomes `$n`.
 */
export function numberParameters(sql: string): string {
  let count = 0;
  return sql.replace(tokens, (token) => {
    if (token !== '?') return token;
    count += 1;
    return `$${count}`;
  });
}

/** Text literals, quoted names, comments, and what is looked for. */
const tokens = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g;

/** A text that the server prepares once a connection, under its name. */
export interface NamedQuery {
  readonly text: string;
  /** Absent once too many are known: somebody builds SQL, and names would pile up in the server. */
  readonly name?: string;
}

const namedQueries = 1_000;

/** Translates each SQL text once. */
export class QueryCache {
  readonly #queries = new Map<string, NamedQuery>();

  get(sql: string): NamedQuery {
    return this.#queries.get(sql) ?? this.#translate(sql);
  }

  #translate(sql: string): NamedQuery {
    const text = numberParameters(sql);
    if (this.#queries.size >= namedQueries) return { text };
    const query = { text, name: `stint_${this.#queries.size + 1}` };
    this.#queries.set(sql, query);
    return query;
  }
}
