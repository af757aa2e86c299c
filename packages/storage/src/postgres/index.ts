/**
 * Connections to a PostgreSQL server.
 *
 * @module
 */

export { codeOf, explainFirstFailure, explainRefusal, toDatabaseError } from './postgres-errors.ts';
export {
  createPostgresPool,
  describeClient,
  type PostgresPool,
} from './postgres-pool.ts';
export {
  findPostgresTables,
  longestUseMs,
  openPostgresTables,
  type PostgresQuery,
  type PostgresTables,
  type PostgresTablesOptions,
} from './postgres-tables.ts';
export { type PostgresSettings, parsePostgresUrl } from './postgres-url.ts';
export { findWeakSettings } from './weak-settings.ts';
