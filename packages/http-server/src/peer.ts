/**
 * The peer of a connection, for limits.
 *
 * @module
 */
import { isIP } from 'node:net';

/**
 * @param address - of the connection, as the system writes it
 * @returns an IPv4 address, or the /64 network of an IPv6 address, all of which one host controls
 */
export function describePeer(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) {
    return mapped;
  }
  if (isIP(address) !== 6) {
    return address;
  }
  const [head = '', tail] = address.toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  const groups = tail === undefined ? left : [...left, ...zeros, ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

/** Counts connections by peer. */
export type PeerCount = {
  /** @returns false, and counts nothing, when the peer has reached its cap */
  enter(peer: string): boolean;
  leave(peer: string): void;
};

/** @param most - connections of one peer; 0: no cap */
export function createPeerCount(most: number): PeerCount {
  const counts = new Map<string, number>();
  return {
    enter(peer) {
      const count = counts.get(peer) ?? 0;
      if (most > 0 && count >= most) {
        return false;
      }
      counts.set(peer, count + 1);
      return true;
    },
    leave(peer) {
      const count = (counts.get(peer) ?? 0) - 1;
      if (count > 0) {
        counts.set(peer, count);
      } else {
        counts.delete(peer);
      }
    },
  };
}
