import type { MigrationSet } from '@stint/storage';

/**
 * Keeps a table of small rows in one B-tree on SQLite, by its primary key, so that a commit writes one page for it instead of two.
 * Postgres, whose comments nest, reads all of this as one comment; SQLite, whose comments do not, reads the clause between two.
 */
const oneTree = '/* /* */ WITHOUT ROWID -- */';

/** Tables of the journal. An entry is stored once; a turn holds the range of entries that it carried. */
export const journalMigrations: MigrationSet = {
  package: 'journal',
  migrations: [
    {
      number: 1,
      name: 'histories, entries, turns, operations',
      statements: [
        `CREATE TABLE journal_histories (
          owner_kind TEXT NOT NULL,
          owner_id TEXT NOT NULL,
          last_seq BIGINT NOT NULL,
          visible_from BIGINT NOT NULL,
          turns BIGINT NOT NULL DEFAULT 0,
          tool_calls BIGINT NOT NULL DEFAULT 0,
          failed_tool_calls BIGINT NOT NULL DEFAULT 0,
          PRIMARY KEY (owner_kind, owner_id)
        ) ${oneTree}`,
        `CREATE TABLE journal_entries (
          owner_kind TEXT NOT NULL,
          owner_id TEXT NOT NULL,
          seq BIGINT NOT NULL,
          entry_key TEXT NOT NULL,
          kind TEXT NOT NULL,
          message TEXT NOT NULL,
          input_id TEXT,
          failed INTEGER NOT NULL DEFAULT 0,
          keep_count INTEGER,
          turn_id TEXT,
          taken_back INTEGER NOT NULL DEFAULT 0,
          created_at BIGINT NOT NULL,
          PRIMARY KEY (owner_kind, owner_id, seq)
        )`,
        'CREATE UNIQUE INDEX journal_entries_key ON journal_entries (owner_kind, owner_id, entry_key)',
        `CREATE TABLE journal_turns (
          id TEXT NOT NULL PRIMARY KEY,
          owner_kind TEXT NOT NULL,
          owner_id TEXT NOT NULL,
          process TEXT NOT NULL,
          turn_number BIGINT NOT NULL,
          model TEXT NOT NULL,
          request_hash TEXT NOT NULL,
          settings TEXT NOT NULL,
          purpose TEXT NOT NULL,
          is_stream INTEGER NOT NULL,
          entry_from BIGINT,
          entry_to BIGINT,
          input_ids TEXT NOT NULL,
          retry_of TEXT,
          status TEXT NOT NULL CHECK (status IN
            ('dispatching', 'responded', 'applied', 'rejected', 'refused', 'unknown', 'written_off', 'cancelled')),
          response_seq BIGINT,
          finish_reason TEXT,
          answered_model TEXT,
          usage TEXT,
          error TEXT,
          partial_text TEXT,
          asks_person INTEGER NOT NULL DEFAULT 0,
          resolution TEXT,
          created_at BIGINT NOT NULL,
          ended_at BIGINT
        ) ${oneTree}`,
        'CREATE INDEX journal_turns_owner ON journal_turns (owner_kind, owner_id, created_at, id)',
        "CREATE INDEX journal_turns_open ON journal_turns (process, id) WHERE status = 'dispatching'",
        "CREATE INDEX journal_turns_unknown ON journal_turns (owner_kind, owner_id, id) WHERE status = 'unknown' AND asks_person = 1",
        `CREATE TABLE journal_operations (
          turn_id TEXT NOT NULL,
          call_index INTEGER NOT NULL,
          owner_kind TEXT NOT NULL,
          owner_id TEXT NOT NULL,
          process TEXT NOT NULL,
          tool_call_id TEXT NOT NULL,
          tool TEXT NOT NULL,
          input_hash TEXT NOT NULL,
          status TEXT NOT NULL CHECK (status IN ('running', 'applied', 'no_effect', 'unknown')),
          host TEXT,
          process_group TEXT,
          late_result TEXT,
          resolution TEXT,
          created_at BIGINT NOT NULL,
          ended_at BIGINT,
          PRIMARY KEY (turn_id, call_index)
        ) ${oneTree}`,
        'CREATE INDEX journal_operations_owner ON journal_operations (owner_kind, owner_id, turn_id)',
        "CREATE INDEX journal_operations_open ON journal_operations (process, turn_id) WHERE status = 'running'",
        "CREATE INDEX journal_operations_live ON journal_operations (host) WHERE status = 'running' AND host IS NOT NULL",
        "CREATE INDEX journal_operations_unknown ON journal_operations (owner_kind, owner_id, turn_id) WHERE status = 'unknown'",
      ],
    },
    {
      number: 2,
      name: 'the id under which a provider keeps an answer',
      statements: ['ALTER TABLE journal_turns ADD COLUMN response_id TEXT'],
    },
  ],
};
