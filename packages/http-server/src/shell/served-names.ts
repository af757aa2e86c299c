/**
 * Which names a service answers to: the `Host` allow-list against DNS rebinding, and the `Origin` check against pages
 * in the browser of a person who can reach the service.
 *
 * @module
 */
import { isLoopbackHost, PoolError } from '@pool/core';
import type { Context } from 'hono';
import { readHostName } from '../host-name.ts';

export type ServedNames = {
  /** Served besides loopback names. */
  readonly allowedHosts: readonly string[];
  /**
   * How {@link allowedHosts} are compared. `exact`: the whole `Host`, with the port, where 80 and 443 are the same as
   * none: some clients, such as Prometheus 2, write the default port. `name`: the host name alone, on any port; IPv6 addresses are listed with or without brackets. Default: `exact`.
   */
  readonly hostMatch?: 'exact' | 'name';
  /**
   * Origins that pages may call from. `hosts`: those whose host is served, and any other is refused as a host. A request
   * without `Origin` comes from no page.
   */
  readonly allowedOrigins: readonly string[] | 'hosts';
  /** Variable that lists the hosts, for the message of a refusal. */
  readonly hostsVariable?: string;
};

/** @returns a function that gives the refusal of a request, 403 `forbidden_host` or `forbidden_origin` */
export function createNameCheck(names: ServedNames): (c: Context) => PoolError | undefined {
  const { allowedOrigins, hostsVariable } = names;
  const isServed = createHostCheck(names);
  const origins = allowedOrigins === 'hosts' ? undefined : new Set(allowedOrigins);
  const advice = hostsVariable === undefined ? '' : `; list it in ${hostsVariable} if it should be`;
  return (c) => {
    // A page that rebinds its name to this machine still sends its own name. The server requires a Host header; without
    // a server, in tests, the host is in the URL.
    if (!isServed(c.req.header('host') ?? new URL(c.req.url).host)) {
      return new PoolError('forbidden_host', `this host name is not served here${advice}`);
    }
    const origin = c.req.header('origin');
    if (origin === undefined) {
      return undefined;
    }
    if (origins === undefined) {
      return isServed(hostOf(origin))
        ? undefined
        : new PoolError('forbidden_host', `the host of this Origin is not served here${advice}`);
    }
    return origins.has(origin)
      ? undefined
      : new PoolError('forbidden_origin', 'calls from this origin are not accepted');
  };
}

function createHostCheck({
  allowedHosts,
  hostMatch = 'exact',
}: ServedNames): (host: string) => boolean {
  const read = (host: string): string | undefined =>
    hostMatch === 'exact' ? host.toLowerCase().replace(/:(?:80|443)$/, '') : readHostName(host);
  const allowed = new Set(
    allowedHosts.map((host) => read(hostMatch === 'exact' ? host : bracketed(host))),
  );
  return (host) => {
    const name = readHostName(host);
    return name !== undefined && (isLoopbackHost(name) || allowed.has(read(host)));
  };
}

/** An IPv6 address as it is written in a Host header. */
function bracketed(host: string): string {
  return host.includes(':') ? `[${host.replace(/^\[|\]$/g, '')}]` : host;
}

/** Host and port of an origin; empty for `null` and for text that is not an origin. */
function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).host : '';
}
