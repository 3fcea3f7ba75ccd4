import { freshPostgres } from '@stint/storage/testing';
import { describe, inject, it } from 'vitest';
import { testWorkItems } from './testing.js';

testWorkItems({ describe, it }, 'Postgres', () => freshPostgres(inject('pgUrl')));
