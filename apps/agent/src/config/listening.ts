/**
 * The variables of the agent's listener, a part of the table in `config-schema.ts`.
 *
 * @module
 */
import * as kinds from './kinds.ts';
import type { ConfigVariable } from './variable.ts';

export const listeningVariables = {
  host: {
    name: 'DISBURSE_HOST',
    role: 'all',
    purpose: 'address to listen on',
    kind: kinds.listenHost,
    fallback: () => '127.0.0.1',
  },
  port: {
    name: 'DISBURSE_PORT',
    role: 'all',
    purpose: 'port to listen on; 0 takes a free one',
    kind: kinds.integer(0, 65_535),
    fallback: () => 8787,
  },
  allowPublicBind: {
    name: 'DISBURSE_ALLOW_PUBLIC_BIND',
    role: 'all',
    purpose:
      'says that TLS is terminated in front of the agent: without it, only a loopback `DISBURSE_HOST` is taken',
    kind: kinds.choice(['behind-tls-proxy']),
    whenUnset: 'loopback only',
  },
  maxConnections: {
    name: 'DISBURSE_MAX_CONNECTIONS',
    role: 'all',
    purpose: 'open connections of all peers together',
    kind: kinds.integer(1, 65_535),
    fallback: () => 512,
  },
  maxConnectionsPerPeer: {
    name: 'DISBURSE_MAX_CONNECTIONS_PER_PEER',
    role: 'all',
    purpose:
      'open connections of one peer: an IPv4 address, or an IPv6 /64. 0: no cap. Behind a proxy the peer is the proxy: set the cap there',
    kind: kinds.integer(0, 65_535),
    fallback: () => 0,
  },
  allowedHosts: {
    name: 'DISBURSE_ALLOWED_HOSTS',
    role: 'all',
    purpose: 'more values of `Host` and `Origin` that requests may carry',
    kind: kinds.hostNames,
    whenUnset: 'loopback names and `DISBURSE_HOST`',
  },
} satisfies Record<string, ConfigVariable<unknown>>;
