/**
 * Host names of this machine alone: plain http and missing limits are accepted there, and nowhere else.
 *
 * @module
 */

/** True for a host name that never leaves this machine, as a URL parser writes it, or an IPv6 address without brackets. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname === '[::1]' ||
    hostname === '::1' ||
    /^127(?:\.[0-9]{1,3}){3}$/.test(hostname)
  );
}
