/**
 * A PostgreSQL server as `DATABASE_URL` names it. Two values of libpq's `sslmode` are accepted: the modes between `disable`
 * and `verify-full` do not authenticate the server, so an impostor would receive the salted password and every row.
 *
 * @module
 */
import { isLoopbackHost, Secret } from '@pool/core';

export type PostgresSettings = {
  /** A name, an address, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: Secret | undefined;
  /** Whether the connection is encrypted, and the server's certificate and name are checked. */
  readonly tls: boolean;
  /** File with the certificates of the accepted authorities; undefined: the usual authorities. */
  readonly caFile: string | undefined;
  /** The connection does not leave this machine. */
  readonly isLocal: boolean;
};

const form = 'must be postgres://user:password@host:5432/database';

/** @returns the settings, or what is wrong with the text. The message never repeats any part of the text. */
export function parsePostgresUrl(text: string): PostgresSettings | string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return form;
  }
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') {
    return form;
  }
  const host = decode(url.hostname.replace(/^\[|\]$/g, ''));
  const user = decode(url.username);
  const password = decode(url.password);
  const database = decode(url.pathname.slice(1));
  if (host === undefined || password === undefined || url.hash !== '') {
    return `${form}, with special characters as %XX`;
  }
  if (!host || !user || !database || database.includes('/')) {
    return `${form}: host, user and database are required`;
  }
  const isLocal = host.startsWith('/') || isLoopbackHost(host);
  const tls = readTls(url.searchParams, isLocal);
  return typeof tls === 'string'
    ? tls
    : {
        host,
        port: url.port === '' ? 5432 : Number(url.port),
        database,
        user,
        password: password === '' ? undefined : new Secret(password),
        isLocal,
        ...tls,
      };
}

function readTls(
  parameters: URLSearchParams,
  isLocal: boolean,
): Pick<PostgresSettings, 'tls' | 'caFile'> | string {
  const known = new Set(['sslmode', 'sslrootcert']);
  for (const name of parameters.keys()) {
    if (!known.delete(name)) {
      return 'may have the parameters sslmode and sslrootcert, once each, and no others';
    }
  }
  const mode = parameters.get('sslmode') ?? (isLocal ? 'disable' : 'verify-full');
  const caFile = parameters.get('sslrootcert') ?? undefined;
  if (mode !== 'disable' && mode !== 'verify-full') {
    return 'must have sslmode=verify-full (or disable): the modes in between do not check who answers; sslrootcert names the file of a private authority';
  }
  if (mode === 'disable' && caFile !== undefined) {
    return 'has sslrootcert with sslmode=disable: no certificate is checked then';
  }
  return { tls: mode === 'verify-full', caFile };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
