/**
 * Client of the pool-gate (protocol §4): eligibility paths and root with the scope `gate.read`, changes of the list with
 * `gate.write`.
 *
 * @module
 */
import { type GateReaderState, type GateWallet, gateRoutes, type Route } from '@pool/api';
import { joinUrl, PoolError, parseServiceUrl } from '@pool/core';
import type { Fetch } from '@pool/http-client';
import { createGateTokenSource, type GateCredentials } from './gate-token.ts';
import { callJson, fillPath, type RouteValue } from './json-call.ts';

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

export type GatePaths = RouteValue<typeof gateRoutes.findPaths>;
export type GateRoot = RouteValue<typeof gateRoutes.getRoot>;
export type GateCapacity = RouteValue<typeof gateRoutes.getCapacity>;

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

  async function call<R extends Route>(
    route: R,
    rest: { params?: Record<string, string>; body?: unknown; timeoutMs?: number } = {},
  ): Promise<RouteValue<R>> {
    const attempt = async (): Promise<RouteValue<R>> => {
      const token = await tokens.get();
      const answer = await callJson({
        fetch: send,
        service: 'gate',
        route,
        url: joinUrl(base, fillPath(route.path, rest.params)),
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
      const body = { walletIds, ...(root === undefined ? {} : { root }) };
      const answer = await call(gateRoutes.findPaths, { body });
      if (root !== undefined && answer.root !== root) {
        throw new PoolError(
          'gate_invalid_response',
          'the gate answered paths under another root than the one requested',
        );
      }
      return answer;
    },
    root: () => call(gateRoutes.getRoot),
    capacity: () => call(gateRoutes.getCapacity),
    putWallet: (walletId, walletPub) =>
      call(gateRoutes.putWallet, {
        params: { walletId },
        body: { walletPub },
        timeoutMs: writeTimeoutMs,
      }),
    async putReader(clientId, state) {
      await call(gateRoutes.putReader, { params: { clientId }, body: state });
    },
    deleteWallet: (walletId) =>
      call(gateRoutes.removeWallet, { params: { walletId }, timeoutMs: writeTimeoutMs }),
  };
}
