import { freshPostgres } from '@stint/storage/testing';
import { describe, inject, it } from 'vitest';
import { testLedger } from './testing.js';

testLedger({ describe, it }, 'Postgres', () => freshPostgres(inject('pgUrl')));
