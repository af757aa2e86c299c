/**
 * The pool-gate this agent reads: its own configuration first, else what bootstrap vends, which may change
 * while jobs run.
 *
 * @module
 */
import type { Bootstrap } from '@pool/api';
import { PoolError, parseHex32, Secret } from '@pool/core';
import type { GatePort } from '@pool/operations';
import { createGateClient, type GateClient } from '@pool/platform-client';
import type { GateConfig } from '../config/config.ts';
import { probeTimeoutMs } from './readiness.ts';

export type GateSource = {
  /** Adopts what bootstrap vends. The configuration's own gate stays. */
  update(vended: Bootstrap['gate']): void;
  isConfigured(): boolean;
  /** For jobs: asks whichever gate is known at the time of each call. Undefined: none is known. */
  port(): GatePort | undefined;
  /** Asks for the root, briefly. @throws PoolError */
  probe(): Promise<void>;
};

type Gate = { readonly reads: GateClient; readonly probes: GateClient };

export function createGateSource(configured: GateConfig | undefined): GateSource {
  let settings = configured;
  let gate = configured === undefined ? undefined : openGate(configured);

  function current(): Gate {
    if (gate === undefined) {
      // A job that began with a gate waits for one; it does not fail because the platform forgot for a while.
      throw new PoolError('gate_unreachable', 'the platform vends no pool-gate now', {
        status: 503,
        retryable: true,
      });
    }
    return gate;
  }

  return {
    update(vended) {
      if (configured !== undefined) {
        return;
      }
      const next = readVended(vended);
      // The same settings keep their client, and with it the access token.
      if (!isSame(settings, next)) {
        settings = next;
        gate = next === undefined ? undefined : openGate(next);
      }
    },
    isConfigured: () => gate !== undefined,
    port: () =>
      gate === undefined
        ? undefined
        : {
            async paths(walletIds) {
              const { root, paths, missing } = await current().reads.paths(walletIds);
              return { root: parseHex32(root), paths, missing };
            },
          },
    async probe() {
      await current().probes.root();
    },
  };
}

function openGate({ url, ...oauth }: GateConfig): Gate {
  return {
    reads: createGateClient({ url, oauth }),
    probes: createGateClient({ url, oauth, timeoutMs: probeTimeoutMs }),
  };
}

function readVended(vended: Bootstrap['gate']): GateConfig | undefined {
  if (vended?.oauth === undefined) {
    return undefined;
  }
  const { clientSecret, ...oauth } = vended.oauth;
  return { url: vended.url, ...oauth, clientSecret: new Secret(clientSecret) };
}

function isSame(left: GateConfig | undefined, right: GateConfig | undefined): boolean {
  if (left === undefined || right === undefined) {
    return left === right;
  }
  return (
    left.url === right.url &&
    left.tokenUrl === right.tokenUrl &&
    left.clientId === right.clientId &&
    left.scope === right.scope &&
    left.clientSecret.reveal() === right.clientSecret.reveal()
  );
}
