export { type StoreSource, type TestRunner, testStorage } from './conformance.js';
export { type FreshStore, freshPostgres, freshSqlite } from './fresh.js';
export {
  type InterleaveOptions,
  type Interleaving,
  interleave,
  type Side,
  type SideOutcome,
  schedules,
} from './interleave.js';
export { explainStatements, type QueryPlan } from './query-plans.js';
export { type PostgresServer, type StartPostgresOptions, startPostgres } from './start-postgres.js';
export { default as postgresSetup } from './postgres-setup.js';
