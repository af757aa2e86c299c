/**
 * The pool-gate of this agent: the configured one, else the one that bootstrap vends, which can change while jobs run.
 *
 * @module
 */
import type { Bootstrap } from '@pool/api';
import { PoolError, parseHex32, Secret } from '@pool/core';
import { createGateClient, type GateClient, type GateCredentials } from '@pool/platform-client';
import type { SpendGatePort } from '@pool/wallet';
import type { GatePort } from '../ports.ts';
import { probeTimeoutMs } from './readiness.ts';

/** A gate and the credentials of its client. */
export type GateConfig = GateCredentials & { readonly url: string };

export type GateSource = {
  /** Adopts the gate that bootstrap vends. A configured gate has precedence. */
  update(vended: Bootstrap['gate']): void;
  isConfigured(): boolean;
  /** For jobs and spends: each call uses the gate that is known then. Undefined: no gate is known. */
  port(): (GatePort & SpendGatePort) | undefined;
  /** Reads the root, with a short timeout. @throws PoolError */
  probe(): Promise<void>;
};

type Gate = { readonly reads: GateClient; readonly probes: GateClient };

export function createGateSource(configured: GateConfig | undefined): GateSource {
  let settings = configured;
  let gate = configured === undefined ? undefined : openGate(configured);

  function current(): Gate {
    if (gate === undefined) {
      // Retryable: a job that began with a gate waits for one while the platform vends none.
      throw new PoolError('gate_unreachable', 'the platform vends no pool-gate now');
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
            async paths(walletIds: readonly string[], underRoot?: string) {
              const answer = await current().reads.paths(walletIds, underRoot);
              const { root, paths, missing } = answer;
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
