/**
 * Which address a request came from, for limits: the connection's own, or the one that a trusted proxy saw.
 *
 * @module
 */
import { isIP } from 'node:net';
import { describePeer } from '@pool/http-server';

/**
 * @param remote - address of the connection
 * @param forwardedFor - the `X-Forwarded-For` header; each proxy appends whom it saw
 * @param proxyHops - how many proxies of our own stand in front. Only what they appended is believed: the
 *   rest of the header is the caller's own text
 * @returns an IPv4 address, or the /64 network of an IPv6 one (a single host commands that many)
 */
export function parseCallerAddress(
  remote: string | undefined,
  forwardedFor: string | undefined,
  proxyHops: number,
): string {
  const seen = (forwardedFor ?? '').split(',').map((entry) => entry.trim());
  const forwarded = proxyHops === 0 ? undefined : seen.at(-proxyHops);
  const address = forwarded !== undefined && isIP(forwarded) !== 0 ? forwarded : remote;
  return address === undefined ? 'unknown' : describePeer(address);
}
