/**
 * Names of hosts as they stand in a Host header and in a URL.
 *
 * @module
 */

/** Host and optional port, nothing a URL parser would read more into. */
const hostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/i;

/** Whether a Host header says a host, and nothing more. */
export function isHost(host: string): boolean {
  return hostPattern.test(host);
}

/**
 * The name in a Host header, as a URL parser reads it: without port, in lower case, IPv6 shortened and in
 * brackets. Undefined if it is none.
 */
export function readHostName(host: string | undefined): string | undefined {
  try {
    return host !== undefined && isHost(host) ? new URL(`http://${host}`).hostname : undefined;
  } catch {
    return undefined;
  }
}

/** Host and port as they stand in a URL: IPv6 addresses in brackets. */
export function formatAuthority(host: string, port: number): string {
  const name = withoutBrackets(host);
  return `${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** An address as it is listened on. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
