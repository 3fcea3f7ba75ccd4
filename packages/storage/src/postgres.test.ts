import { describe, inject, it } from 'vitest';
import { freshPostgres, testStorage } from './testing.js';

testStorage({ describe, it }, 'Postgres', () => freshPostgres(inject('pgUrl')));
