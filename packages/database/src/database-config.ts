/**
 * The database that the environment selects: `DATABASE_URL`, or the embedded one of the data directory.
 *
 * @module
 */
import type { Secret } from '@pool/core';
import { type PostgresSettings, parsePostgresUrl } from '@pool/storage/postgres';
import type { DatabaseConfig } from './open-database.ts';

/** Variables as the configuration reads them; each problem is reported by the variable's name. */
export type DatabaseReader = {
  optional(name: string): string | undefined;
  secret(name: string): Secret;
  integer(name: string, fallback: number, min: number, max: number): number;
  file(name: string, path: string): string | undefined;
  problem(name: string, what: string): void;
};

/** @param directoryName - of the variable with the data directory, where only the embedded database needs one */
export function readDatabase(
  read: DatabaseReader,
  isProduction: boolean,
  directory: string | undefined,
  directoryName?: string,
): DatabaseConfig {
  if (
    read.optional('DATABASE_URL') === undefined &&
    read.optional('DATABASE_URL_FILE') === undefined
  ) {
    if (isProduction) {
      read.problem(
        'DATABASE_URL',
        'is required under NODE_ENV=production: the embedded database does not wait for the disk, so a power cut can lose settlements and notes that were acknowledged',
      );
    }
    if (directory === undefined && directoryName !== undefined) {
      read.problem(directoryName, 'is required without DATABASE_URL');
    }
    return { kind: 'embedded', directory: directory ?? '' };
  }
  const settings = parsePostgresUrl(read.secret('DATABASE_URL').reveal());
  if (typeof settings === 'string') {
    read.problem('DATABASE_URL', settings);
    return { kind: 'embedded', directory: '' };
  }
  assertEncrypted(read, settings, isProduction);
  return {
    kind: 'postgres',
    settings,
    poolSize: read.integer('DATABASE_POOL_SIZE', 10, 2, 200),
    directory,
    mustBeDurable: isProduction,
  };
}

function assertEncrypted(
  read: DatabaseReader,
  settings: PostgresSettings,
  isProduction: boolean,
): void {
  const { tls, isLocal, caFile } = settings;
  if (!tls && !isLocal && isProduction) {
    if (read.optional('DATABASE_ALLOW_PLAINTEXT') !== 'private-network') {
      read.problem(
        'DATABASE_URL',
        'switches TLS off for a server on another machine: remove sslmode=disable, or set DATABASE_ALLOW_PLAINTEXT=private-network where nobody else can read that network',
      );
    }
  }
  if (caFile !== undefined) {
    read.file('DATABASE_URL', caFile);
  }
}
