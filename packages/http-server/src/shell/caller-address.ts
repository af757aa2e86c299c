/**
 * Which address a request came from, for limits: the address of the connection, or the one that a trusted proxy saw.
 *
 * @module
 */
import { isIP } from 'node:net';
import { describePeer } from '../peer.ts';

/**
 * @param remote - address of the connection
 * @param forwardedFor - the `X-Forwarded-For` header; each proxy appends the address that it saw
 * @param proxyHops - number of own proxies in front. Only what they appended is trusted: the rest of the header is text
 *   of the caller
 * @returns an IPv4 address, or the /64 network of an IPv6 address, all of which one host controls
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
