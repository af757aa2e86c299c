/**
 * The database of a service: PostgreSQL, which processes share, or embedded in a folder of one process (docs/decisions/0018).
 *
 * @module
 */

export { readDatabase } from './database-config.ts';
export {
  type Leaders,
  type StorePart,
  soleLeader,
  type Term,
  writeAsLeader,
} from './leaders.ts';
export { lockEmployer, lockName } from './lock-name.ts';
export {
  type DatabaseConfig,
  hasEmbeddedDatabase,
  lockDirectory,
  type Migration,
  migrateEmbedded,
  type OpenDatabase,
  openDatabase,
  openStore,
} from './open-database.ts';
export {
  type PlatformDatabase,
  type PlatformTables,
  platformMigrations,
} from './platform-tables.ts';
export { openServiceKey } from './service-key.ts';
export {
  createSharedLimiter,
  forgetFullBuckets,
  type SharedLimit,
  type SharedLimiter,
} from './shared-limiter.ts';
export { createTables, describeTables, sharedTables, type TablesOf, typed } from './table.ts';
