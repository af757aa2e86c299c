/**
 * Client of the pool-gate (protocol §4): eligibility paths and root with the scope `gate.read`, changes of the list with
 * `gate.write`.
 *
 * @module
 */
import {
  type GateReaderState,
  type GateWallet,
  gateCapacityResponseSchema,
  gatePathsResponseSchema,
  gateReaderResponseSchema,
  gateRootResponseSchema,
  gateWalletResponseSchema,
} from '@pool/api';
import { joinUrl, PoolError, parseServiceUrl } from '@pool/core';
import type { Fetch } from '@pool/http-client';
import type { GenericSchema, InferOutput } from 'valibot';
import { createGateTokenSource, type GateCredentials } from './gate-token.ts';
import { callJson } from './json-call.ts';

export type GateClientOptions = {
  readonly url: string;
  readonly oauth: GateCredentials;
  readonly fetch?: Fetch;
  /** Time limit of reads. Default: 30 s. */
  readonly timeoutMs?: number;
  /** Time limit of writes, which wait for finality. Default: 180 s. */
  readonly writeTimeoutMs?: number;
  /** Current time. Default: the system clock. */
  readonly nowMs?: () => number;
};

export type GatePaths = InferOutput<typeof gatePathsResponseSchema>;
export type GateRoot = InferOutput<typeof gateRootResponseSchema>;
export type GateCapacity = InferOutput<typeof gateCapacityResponseSchema>;

/** Every call throws `PoolError`: the gate's code, `gate_unreachable`, `gate_unauthorized`, `gate_invalid_response`. */
export type GateClient = {
  /**
   * @param walletIds - 32-byte hex field elements, at most 256
   * @param root - that the paths must lead to, 32-byte hex; absent: the gate's last one. `eligibility_root_too_old`,
   *   `eligibility_root_unknown`: the gate has no list of it
   */
  paths(walletIds: readonly string[], root?: string): Promise<GatePaths>;
  root(): Promise<GateRoot>;
  /** Number of used leaves and capacity of the eligibility tree. */
  capacity(): Promise<GateCapacity>;
  /** Resolves when the root that contains the wallet is final on chain. Scope `gate.write`. */
  putWallet(walletId: string, walletPub: string): Promise<GateWallet>;
  /** Creates an employer's reader, changes its secret, or revokes it. Scope `gate.write`. */
  putReader(clientId: string, state: GateReaderState): Promise<void>;
  /** Resolves when the root without the wallet is final on chain. Scope `gate.write`. */
  deleteWallet(walletId: string): Promise<GateWallet>;
};

/**
 * A client of pool-gate. It fetches its own access tokens and renews them.
 *
 * @example
 * const gate = createGateClient({ url, oauth: { tokenUrl, clientId, clientSecret } });
 * const { root, paths, missing } = await gate.paths(walletIds);
 *
 * @throws PoolError `invalid_configuration`
 */
export function createGateClient(options: GateClientOptions): GateClient {
  const base = parseServiceUrl(options.url, 'the gate url');
  const send = options.fetch ?? fetch;
  const tokens = createGateTokenSource(options.oauth, send, options.nowMs ?? Date.now);
  const writeTimeoutMs = options.writeTimeoutMs ?? 180_000;

  async function call<TSchema extends GenericSchema>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    response: TSchema,
    rest: { body?: unknown; timeoutMs?: number } = {},
  ): Promise<InferOutput<TSchema>> {
    const attempt = async (): Promise<InferOutput<TSchema>> => {
      const token = await tokens.get();
      const answer = await callJson({
        fetch: send,
        service: 'gate',
        method,
        url: joinUrl(base, path),
        response,
        headers: { authorization: `Bearer ${token.reveal()}` },
        body: rest.body,
        timeoutMs: rest.timeoutMs ?? options.timeoutMs,
      });
      return answer.value;
    };
    try {
      return await attempt();
    } catch (error) {
      // A restarted gate does not know the token any more. Request another one, once.
      if (!(error instanceof PoolError) || error.status !== 401) {
        throw error;
      }
      tokens.forget();
      return await attempt();
    }
  }

  return {
    async paths(walletIds, root) {
      const answer = await call('POST', '/v1/paths', gatePathsResponseSchema, {
        body: { walletIds, ...(root === undefined ? {} : { root }) },
      });
      if (root !== undefined && answer.root !== root) {
        throw new PoolError(
          'gate_invalid_response',
          'the gate answered paths under another root than the one requested',
        );
      }
      return answer;
    },
    root: () => call('GET', '/v1/root', gateRootResponseSchema),
    capacity: () => call('GET', '/v1/capacity', gateCapacityResponseSchema),
    putWallet: (walletId, walletPub) =>
      call('PUT', `/v1/wallets/${encodeURIComponent(walletId)}`, gateWalletResponseSchema, {
        body: { walletPub },
        timeoutMs: writeTimeoutMs,
      }),
    async putReader(clientId, state) {
      await call('PUT', `/v1/readers/${encodeURIComponent(clientId)}`, gateReaderResponseSchema, {
        body: state,
      });
    },
    deleteWallet: (walletId) =>
      call('DELETE', `/v1/wallets/${encodeURIComponent(walletId)}`, gateWalletResponseSchema, {
        timeoutMs: writeTimeoutMs,
      }),
  };
}
