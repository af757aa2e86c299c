/**
 * A `fetch` that connects to public addresses only. The address is checked where the connection is made, so a name that answers
 * otherwise a moment later reaches nothing else. No proxy and no connection of an earlier request is used.
 *
 * @module
 */
import { type LookupAddress, lookup } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { PoolError } from '@pool/core';
import type { Fetch } from '@pool/http-client';
import ipaddr from 'ipaddr.js';

/** Resolves a name as `dns.lookup` with `all`. */
export type ResolveHost = (
  host: string,
  done: (error: Error | null, found: readonly LookupAddress[]) => void,
) => void;

/** The host agent of one cloud answers here, on an address that looks public. */
const metadataAddresses = ['168.63.129.16'];
const publicIpv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether a packet to the address leaves this machine and its networks. */
export function isPublicAddress(address: string): boolean {
  // The library also reads short forms, which no resolver returns.
  if (isIP(address) === 0) {
    return false;
  }
  const parsed = ipaddr.process(address);
  return (
    parsed.range() === 'unicast' &&
    (parsed instanceof ipaddr.IPv4 || parsed.match(publicIpv6)) &&
    !metadataAddresses.includes(parsed.toString())
  );
}

function isLoopback(address: string): boolean {
  return isIP(address) !== 0 && ipaddr.process(address).range() === 'loopback';
}

/**
 * @param allowInsecureLoopback - this machine's own addresses are allowed too
 * @param resolve - default: the system's resolver
 * @returns a `fetch` whose errors are PoolError `webhook_target_refused`, and those of the connection
 */
export function createPinnedFetch({
  allowInsecureLoopback,
  resolve = (host, done) => lookup(host, { all: true }, done),
}: {
  readonly allowInsecureLoopback: boolean;
  readonly resolve?: ResolveHost;
}): Fetch {
  function assertAllowed(address: string): void {
    if (!isPublicAddress(address) && !(allowInsecureLoopback && isLoopback(address))) {
      throw new PoolError(
        'webhook_target_refused',
        'the target has an address that is not public; nothing was sent',
      );
    }
  }

  const lookupAllowed: LookupFunction = (host, options, done) => {
    resolve(host, (error, found) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined) {
        done(error ?? new Error('the name has no address'), '', 0);
        return;
      }
      try {
        // One internal address among several is no accident.
        for (const { address } of found) {
          assertAllowed(address);
        }
      } catch (refused) {
        done(refused as Error, '', 0);
        return;
      }
      if (options.all === true) {
        done(null, [...found]);
      } else {
        done(null, first.address, first.family);
      }
    });
  };

  return async (input, { method = 'GET', headers = {}, body, signal }) => {
    const url = new URL(input);
    const literal = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0) {
      // The resolver is not asked for an address.
      assertAllowed(literal);
    }
    return await new Promise((settle, fail) => {
      const send = url.protocol === 'https:' ? requestHttps : requestHttp;
      const sent = send(url, {
        ...{ method, agent: false, lookup: lookupAllowed },
        headers: Object.fromEntries(new Headers(headers)),
        ...(signal === undefined || signal === null ? {} : { signal }),
      });
      sent.on('error', fail).on('response', (answer) => {
        const { statusCode: status = 0 } = answer;
        const hasBody = ![204, 205, 304].includes(status);
        const stream = hasBody ? (Readable.toWeb(answer) as ReadableStream) : null;
        if (!hasBody) {
          answer.resume();
        }
        const names = Object.entries(answer.headers).flatMap(([name, value]) =>
          typeof value === 'string' ? [[name, value] as const] : [],
        );
        settle(new Response(stream, { status, headers: Object.fromEntries(names) }));
      });
      sent.end(typeof body === 'string' ? body : undefined);
    });
  };
}
