import type { MigrationSet } from '@stint/storage';

/**
 * Keeps a table in one B-tree on SQLite, by its primary key, so that a commit writes one page for it instead of two. Postgres, whose comments
 * nest, reads all of this as one comment; SQLite, whose comments do not, reads the clause between two comments.
 */
const oneTree = '/* /* */ WITHOUT ROWID -- */';

/** Tables of the ledger. `run_ordinal` counts a run's requests; `delta`, `state` and `usage` are packed lists. */
export const ledgerMigrations: MigrationSet = Object.freeze({
  package: 'ledger',
  migrations: Object.freeze([
    {
      number: 1,
      name: 'accounts, requests, entries, subjects',
      statements: [
        `CREATE TABLE ledger_accounts (
          id TEXT NOT NULL PRIMARY KEY,
          parent TEXT,
          depth INTEGER NOT NULL,
          status TEXT NOT NULL CHECK (status IN ('open', 'stopped', 'closed')),
          limits TEXT NOT NULL,
          accounting TEXT NOT NULL,
          stop_reason TEXT,
          revision BIGINT NOT NULL,
          data_revision BIGINT NOT NULL,
          state TEXT NOT NULL,
          head TEXT NOT NULL,
          entry_count BIGINT NOT NULL
        ) ${oneTree}`,
        `CREATE TABLE ledger_paths (
          account TEXT NOT NULL,
          depth INTEGER NOT NULL,
          ancestor TEXT NOT NULL,
          PRIMARY KEY (account, depth)
        ) ${oneTree}`,
        'CREATE INDEX ledger_paths_ancestor ON ledger_paths (ancestor, account)',
        `CREATE TABLE ledger_requests (
          id TEXT NOT NULL PRIMARY KEY,
          account TEXT NOT NULL,
          kind TEXT NOT NULL,
          run TEXT,
          run_ordinal BIGINT,
          driver TEXT,
          subject TEXT,
          retry_of TEXT,
          model TEXT NOT NULL,
          price_version TEXT,
          estimate_tokens BIGINT NOT NULL,
          estimate_cost BIGINT,
          charged_tokens BIGINT NOT NULL,
          charged_cost BIGINT,
          status TEXT NOT NULL CHECK (status IN ('reserved', 'reported', 'unknown', 'released')),
          complete INTEGER NOT NULL DEFAULT 0,
          unpriced INTEGER NOT NULL DEFAULT 0,
          overshoot INTEGER NOT NULL DEFAULT 0,
          discrepancy INTEGER NOT NULL DEFAULT 0,
          usage TEXT,
          proof TEXT,
          owner TEXT NOT NULL,
          reserved_at BIGINT NOT NULL,
          settled_at BIGINT
        ) ${oneTree}`,
        "CREATE INDEX ledger_requests_open ON ledger_requests (owner, account) WHERE status = 'reserved'",
        `CREATE INDEX ledger_requests_flagged ON ledger_requests (account, id)
          WHERE status = 'unknown' OR overshoot = 1 OR discrepancy = 1`,
        'CREATE INDEX ledger_requests_run ON ledger_requests (run, run_ordinal) WHERE run IS NOT NULL',
        `CREATE TABLE ledger_entries (
          account TEXT NOT NULL,
          seq BIGINT NOT NULL,
          revision BIGINT NOT NULL,
          at BIGINT NOT NULL,
          type TEXT NOT NULL,
          request TEXT,
          kind TEXT,
          delta TEXT,
          actor TEXT,
          details TEXT,
          hash TEXT NOT NULL,
          PRIMARY KEY (account, seq)
        ) ${oneTree}`,
        `CREATE TABLE ledger_subjects (
          account TEXT NOT NULL,
          subject TEXT NOT NULL,
          attempts INTEGER NOT NULL,
          own_maximum INTEGER,
          additions INTEGER NOT NULL,
          generation INTEGER NOT NULL,
          last_run TEXT,
          deferrals INTEGER NOT NULL,
          retry_after BIGINT NOT NULL,
          closed INTEGER NOT NULL,
          changed_at BIGINT NOT NULL,
          PRIMARY KEY (account, subject)
        ) ${oneTree}`,
        'CREATE INDEX ledger_subjects_open ON ledger_subjects (account, changed_at) WHERE closed = 0',
      ],
    },
  ]),
});
