/**
 * Maps failures of the PostgreSQL server to errors of the API. A server that is down, restarting, full or busy is
 * 503 `database_unavailable`, to be tried again; every other error is a defect of Pool and passes unchanged.
 * A COMMIT that fails like this may have happened: a repetition must first read the state, as every money path does.
 *
 * @module
 */
import { isPoolError, PoolError } from '@pool/core';

/** SQLSTATE classes: connection (08), resources (53), operator (57), system (58). */
const unavailableClasses = /^(08|53|57|58)/;

/**
 * Invalid login (28xxx), missing database (3D000), read-only standby (25006), a transaction that was idle for too long (25P03), serialization
 * (40001), deadlock (40P01), lock timeout (55P03).
 */
const unavailableStates = /^(28...|3D000|25006|25P03|40001|40P01|55P03)$/;

const networkCodes =
  /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN|ENOENT|EACCES|ERR_TLS_\w+|CERT_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+)$/;

/** Messages that `pg` throws without a code. */
const driverMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|The server does not support SSL|SASL: |Client network socket disconnected)/;

/** @returns `database_unavailable` (503, retryable) with the error as its cause, or the error as it is */
export function toDatabaseError(error: unknown): unknown {
  if (isPoolError(error) || !isUnavailable(error)) {
    return error;
  }
  return new PoolError('database_unavailable', 'the database does not answer; try again', {
    details: { retryAfterSeconds: 2 },
    cause: error,
  });
}

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) {
    return false;
  }
  const code = codeOf(error) ?? '';
  return (
    unavailableClasses.test(code) ||
    unavailableStates.test(code) ||
    networkCodes.test(code) ||
    driverMessages.test(error.message)
  );
}

/** SQLSTATE, or the code of Node, of an error or its cause: a fixed name, never a value. */
export function codeOf(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const code = 'code' in at && !isPoolError(at) ? at.code : undefined;
    if (typeof code === 'string' && /^[A-Z0-9_]{2,60}$/.test(code)) {
      return code;
    }
  }
  return undefined;
}

/** Why the first connection failed, and what to change in `DATABASE_URL` or on the server. */
export function explainFirstFailure(error: unknown): string {
  return explainRefusal(error) ?? `the server does not answer (${codeOf(error) ?? 'no code'})`;
}

/** What to change. @returns undefined for a failure that may pass by itself */
export function explainRefusal(error: unknown): string | undefined {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : '';
  if (code?.startsWith('28') === true) {
    return `the server refuses this user or password (${code})`;
  }
  if (/^SASL: .*client password must be/.test(message)) {
    return 'the server asks for a password, and no usable one is configured';
  }
  if (message.startsWith('SASL: ')) {
    return 'the login failed: the server did not prove that it knows the password, or it offers no supported method';
  }
  if (code === '3D000') {
    return 'the server has no such database (3D000): create it, empty';
  }
  if (message.startsWith('The server does not support SSL')) {
    return 'the server offers no TLS, so nothing was sent to it: switch TLS on there';
  }
  if (code !== undefined && /^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) {
    return `the certificate of the server was not accepted (${code}): name its authority with sslrootcert, and the host as the certificate does`;
  }
  return undefined;
}
