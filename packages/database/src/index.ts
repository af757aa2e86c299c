/**
 * The database of a service: PostgreSQL, or embedded in a folder. One process uses it at a time (docs/decisions/0010).
 *
 * @module
 */

export { readDatabase } from './database-config.ts';
export { lockEmployer, lockName } from './lock-name.ts';
export {
  type DatabaseConfig,
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
export { claimStore, type Ownership, ownerLock, type StorePart } from './process-lock.ts';
export { createTables, describeTables, type TablesOf, typed } from './table.ts';
