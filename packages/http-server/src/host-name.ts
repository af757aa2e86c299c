/**
 * Names of hosts, as a Host header and a URL write them.
 *
 * @module
 */

/** Host and optional port, and nothing else that a URL parser would accept. */
const hostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/i;

/** Whether a Host header holds a host and an optional port only. */
export function isHost(host: string): boolean {
  return hostPattern.test(host);
}

/**
 * The name in a Host header, as a URL parser reads it: without port, in lower case, IPv6 shortened and in brackets.
 * Undefined for a header that is not a host.
 */
export function readHostName(host: string | undefined): string | undefined {
  try {
    return host !== undefined && isHost(host) ? new URL(`http://${host}`).hostname : undefined;
  } catch {
    return undefined;
  }
}

/** Host and port as a URL writes them: IPv6 addresses in brackets. */
export function formatAuthority(host: string, port: number): string {
  const name = withoutBrackets(host);
  return `${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** An address as `server.listen` expects it. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
