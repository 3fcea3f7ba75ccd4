import { freshSqlite } from '@stint/storage/testing';
import { describe, it } from 'vitest';
import { testWorkItems } from './testing.js';

testWorkItems({ describe, it }, 'SQLite', async () => freshSqlite());
