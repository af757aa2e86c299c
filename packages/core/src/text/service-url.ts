/**
 * Addresses of the services that a process calls: https only, or plain http on loopback (docs/decisions/0010).
 *
 * @module
 */
import { PoolError } from '../errors/pool-error.ts';
import { isLoopbackHost } from './loopback-host.ts';

/**
 * Parses the base address of a service. The path is kept and a trailing slash is removed.
 *
 * @param name - name of the address for messages ("edge url")
 * @throws PoolError `invalid_configuration` for a protocol other than https (http on loopback), for credentials, query or hash
 */
export function parseServiceUrl(value: string, name: string): URL {
  let url: URL;
  try {
    url = new URL(value);
  } catch (cause) {
    throw new PoolError('invalid_configuration', `${name} is not a URL`, { cause });
  }
  const secure =
    url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (!secure) {
    throw new PoolError(
      'invalid_configuration',
      `${name} must be https (plain http only on loopback)`,
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new PoolError(
      'invalid_configuration',
      `${name} must not contain credentials, a query or a fragment`,
    );
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** The address of a path below a base: both paths joined, with the query appended. */
export function joinUrl(
  base: URL,
  path: string,
  query: Readonly<Record<string, string>> = {},
): URL {
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/+$/, '')}${path}`;
  for (const [name, value] of Object.entries(query)) {
    url.searchParams.set(name, value);
  }
  return url;
}
