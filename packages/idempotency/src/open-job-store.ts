/**
 * Opens the store that a configuration names, for example in `DISBURSE_JOB_STORE`.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import type { Secret } from '@pool/core';
import { type PostgresSettings, parsePostgresUrl } from '@pool/storage/postgres';
import type { JobStore } from './job-store.ts';
import { createMemoryStore } from './memory-store.ts';
import { findPostgresStore, openPostgresStore } from './postgres-store.ts';
import { createSqliteStore } from './sqlite-store.ts';
import { StoreError } from './store-error.ts';

/** Where jobs are. */
export type JobStorePlace = {
  /** `sqlite:<path>`, `postgres://user@host/database` or `memory:`. */
  readonly url: string;
  /** Of the PostgreSQL user. A URL with a password is refused, because URLs are shown. */
  readonly password?: Secret | undefined;
  /** A PostgreSQL server that may lose what it has acknowledged is refused. */
  readonly mustBeDurable?: boolean;
};

type ParsedPlace =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly settings: PostgresSettings };

/** @returns the place, or what is wrong with the URL. The message repeats no part of it */
export function parseJobStoreUrl(url: string): ParsedPlace | string {
  if (url === 'memory:') {
    return { kind: 'memory' };
  }
  if (/^postgres(?:ql)?:/.test(url)) {
    const settings = parsePostgresUrl(url);
    if (typeof settings === 'string') {
      return settings.replace('user:password@', 'user@');
    }
    if (settings.password !== undefined) {
      return 'must not contain a password: it has a variable of its own';
    }
    return settings.tls || settings.isLocal
      ? { kind: 'postgres', settings }
      : 'must not switch TLS off for a server on another machine: salaries would cross the network in clear';
  }
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : '';
  // SQLite would accept `:memory:` and `file:…`. A store that does not persist must be requested explicitly, as `memory:`.
  return path === '' || path.startsWith(':') || path.startsWith('file:')
    ? 'must be sqlite:<path to a file>, postgres://user@host/database or memory:'
    : { kind: 'sqlite', path };
}

/**
 * Opens a job store.
 *
 * @example
 * const store = await openJobStore({ url: 'sqlite:/var/lib/agent/jobs.sqlite' });
 *
 * @throws StoreError `invalid_store` for any other form, and when the store cannot be opened; `store_busy` when the PostgreSQL server
 *   does not answer
 */
export async function openJobStore(place: JobStorePlace): Promise<JobStore> {
  const parsed = parsePlace(place);
  switch (parsed.kind) {
    case 'memory':
      return createMemoryStore();
    case 'sqlite':
      return createSqliteStore({ path: parsed.path });
    case 'postgres':
      return await openPostgresStore(parsed);
  }
}

/**
 * For a command that only reads. Makes no store.
 * @returns undefined if there is none: `memory:`, a file that does not exist, a database that no agent has used
 * @throws as {@link openJobStore}
 */
export async function findJobStore(place: JobStorePlace): Promise<JobStore | undefined> {
  const parsed = parsePlace(place);
  switch (parsed.kind) {
    case 'memory':
      return undefined;
    case 'sqlite':
      return existsSync(parsed.path) ? createSqliteStore({ path: parsed.path }) : undefined;
    case 'postgres':
      return await findPostgresStore(parsed);
  }
}

function parsePlace({ url, password, mustBeDurable = false }: JobStorePlace) {
  const parsed = parseJobStoreUrl(url);
  if (typeof parsed === 'string') {
    throw new StoreError('invalid_store', `the URL of the job store ${parsed}`);
  }
  return parsed.kind === 'postgres'
    ? { ...parsed, settings: { ...parsed.settings, password }, mustBeDurable }
    : parsed;
}

/** The server of a job store, for what agents share beside their jobs. Undefined for a store of one machine. */
export function findJobServer({ url, password }: JobStorePlace): PostgresSettings | undefined {
  const parsed = parseJobStoreUrl(url);
  return typeof parsed !== 'string' && parsed.kind === 'postgres'
    ? { ...parsed.settings, password }
    : undefined;
}
