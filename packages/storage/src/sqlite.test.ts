import { describe, it } from 'vitest';
import { freshSqlite, testStorage } from './testing.js';

testStorage({ describe, it }, 'SQLite', async () => freshSqlite());
