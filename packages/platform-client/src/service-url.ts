/**
 * Addresses of the services an agent calls: https only, plain http on loopback alone (docs/decisions/0008, §14).
 *
 * @module
 */
import { isLoopbackHost, PoolError } from '@pool/core';

/**
 * Parses the base address of a service. The path is kept, a trailing slash is dropped.
 *
 * @param name - what the address is for, named in the message ("edge url")
 * @throws PoolError `invalid_url` for anything but https (http on loopback), for credentials, query or hash
 */
export function parseServiceUrl(value: string, name: string): URL {
  let url: URL;
  try {
    url = new URL(value);
  } catch (cause) {
    throw new PoolError('invalid_url', `${name} is not a URL`, { cause });
  }
  const secure =
    url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (!secure) {
    throw new PoolError('invalid_url', `${name} must be https (plain http only on loopback)`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new PoolError('invalid_url', `${name} must carry no credentials, query or fragment`);
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** The address of a path under a base: both paths joined, the query appended. */
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
