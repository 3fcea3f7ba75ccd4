import { freshSqlite } from '@stint/storage/testing';
import { describe, it } from 'vitest';
import { testLedger } from './testing.js';

testLedger({ describe, it }, 'SQLite', async () => freshSqlite());
