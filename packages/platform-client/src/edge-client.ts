/**
 * Client of the platform's `/agent-edge` (ARCHITECTURE.md): bootstrap, recipient look-up and settlements with an agent's edge
 * token; served notes with a `holder.read` key.
 *
 * @module
 */
import {
  type BatchesResponse,
  type Bootstrap,
  type Delivery,
  type EligibilityPathsRequest,
  edgeRoutes,
  type NotePathsRequest,
  type NotePathsResponse,
  type NotesResponse,
  type RecipientRecord,
  type Route,
  type SettlementRecord,
  type SettlementRequest,
  type SpendRecord,
  type SpendRequest,
  type VoidRequest,
} from '@pool/api';
import {
  cleanMessage,
  type EvmAddress,
  formatIdempotencyKey,
  joinUrl,
  PoolError,
  parseHex32,
  parseServiceUrl,
  type Secret,
} from '@pool/core';
import type { Fetch } from '@pool/http-client';
import { callJson, fillPath, type RouteValue } from './json-call.ts';

export type EdgeClientOptions = {
  /** Base URL of the edge, for example `https://platform.example/agent-edge` (`DISBURSE_PLATFORM_URL`). */
  readonly url: string;
  /** The agent's edge token, or a holder's key: `holder.read` for {@link EdgeClient.getNotes}, `holder.transfer`
   * or `holder.send` for spends, `holder.transfer` for {@link EdgeClient.findEligibilityPaths}, any for {@link EdgeClient.getBatches}. */
  readonly token: Secret;
  readonly fetch?: Fetch;
  readonly timeoutMs?: number;
};

export type NotesQuery = {
  readonly chain: string;
  /** Token symbol. */
  readonly token: string;
  /** `cursor` of the previous page. */
  readonly cursor?: string;
};

/** Every call throws `PoolError`: the platform's code, `platform_unreachable`, `platform_invalid_response`. */
export type EdgeClient = {
  bootstrap(): Promise<Bootstrap>;
  /** Records in the order of `addresses`. Each contains the address that was looked up. At most 256 addresses. */
  lookupRecipients(chain: string, addresses: readonly string[]): Promise<RecipientRecord[]>;
  /** @param key - the job's Idempotency-Key without quotes. It is sent in the quoted form */
  postSettlement(key: string, request: SettlementRequest): Promise<SettlementRecord>;
  /** The settlement of a key. Undefined if the platform has none. */
  getSettlement(key: string): Promise<SettlementRecord | undefined>;
  /** Sends the funder's signed withdrawal of a batch. 404 `not_found`: the platform has no such settlement. */
  postVoid(key: string, request: VoidRequest): Promise<SettlementRecord>;
  /** Sends the sealed notes of a settled batch again. 409 `not_settled`: the batch is not on the chain. */
  redeliverNotes(key: string, delivery: Delivery): Promise<SettlementRecord>;
  getNotes(query: NotesQuery): Promise<NotesResponse>;
  /**
   * Posts a transfer (with a `holder.transfer` key) or a withdrawal (`holder.send`).
   * @param key - the Idempotency-Key without quotes
   */
  postSpend(key: string, request: SpendRequest): Promise<SpendRecord>;
  /** The spend of a key. Undefined if the platform has none that this API key may see. */
  getSpend(key: string): Promise<SpendRecord | undefined>;
  /**
   * What the note tree contains, from a leaf on. The platform may lie: compute the roots and compare them with the chain.
   * @param from - index of the first leaf: 0, or `next` of the page before
   * @param pool - the chain's pool. With it a cache in front of the platform may answer
   */
  getBatches(chain: string, from: number, pool?: EvmAddress): Promise<BatchesResponse>;
  /**
   * Paths of notes, where the operator allows it: the platform learns which notes are spent. The caller verifies the paths, and
   * that the root is known on chain.
   */
  findNotePaths(request: NotePathsRequest): Promise<NotePathsResponse>;
  /**
   * Eligibility paths of the payees of a transfer, for a wallet that cannot call the pool-gate. The platform may lie: read the root from the
   * chain, and verify each path against it. `missing` are not on the list. Also throws `gate_unreachable` (retryable), `no_gate`, and
   * `eligibility_root_too_old` or `eligibility_root_unknown` (retryable): the gate has no list of the root.
   */
  findEligibilityPaths(request: EligibilityPathsRequest): Promise<EligibilityPaths>;
};

/** Paths and missing wallets under one root. */
export type EligibilityPaths = RouteValue<typeof edgeRoutes.findEligibilityPaths>;

/**
 * A client of the platform's agent edge.
 *
 * @example
 * const edge = createEdgeClient({ url: 'https://platform.example/agent-edge', token });
 * const [recipient] = await edge.lookupRecipients('base', [address]);
 *
 * @throws PoolError `invalid_configuration`
 */
export function createEdgeClient(options: EdgeClientOptions): EdgeClient {
  const base = parseServiceUrl(options.url, 'the edge url');
  const send = options.fetch ?? fetch;

  async function call<R extends Route>(
    route: R,
    rest: {
      params?: Record<string, string>;
      body?: unknown;
      key?: string;
      query?: Record<string, string>;
    } = {},
  ): Promise<RouteValue<R>> {
    const { params, body, key, query } = rest;
    // The base names the edge already.
    const path = fillPath(route.path.replace('/agent-edge', ''), params);
    const answer = await callJson({
      fetch: send,
      service: 'platform',
      route,
      url: joinUrl(base, path, query),
      headers: {
        ...(key === undefined ? {} : { 'idempotency-key': formatIdempotencyKey(key) }),
        authorization: `Bearer ${options.token.reveal()}`,
      },
      body,
      timeoutMs: options.timeoutMs,
    });
    return answer.value;
  }

  return {
    bootstrap: () => call(edgeRoutes.bootstrap, { body: {} }),

    async lookupRecipients(chain, addresses) {
      const body = { chain, addresses };
      const { recipients } = await call(edgeRoutes.lookupRecipients, { body });
      const answersTheQuestion =
        recipients.length === addresses.length &&
        recipients.every((record, index) => record.address === addresses[index]);
      if (!answersTheQuestion) {
        throw new PoolError(
          'platform_invalid_response',
          'the platform answered for other addresses than those requested',
        );
      }
      return recipients;
    },

    postSettlement: async (key, body) =>
      cleanRecord(await call(edgeRoutes.postSettlement, { body, key })),
    getSettlement: (key) =>
      findRecord('settlement_not_found', () => call(edgeRoutes.getSettlement, { params: { key } })),
    postVoid: async (key, body) =>
      cleanRecord(await call(edgeRoutes.postVoid, { params: { key }, body })),
    redeliverNotes: async (key, body) =>
      cleanRecord(await call(edgeRoutes.redeliverNotes, { params: { key }, body })),

    getNotes({ chain, token, cursor }) {
      const query = { chain, token, ...(cursor === undefined ? {} : { cursor }) };
      return call(edgeRoutes.getNotes, { query });
    },

    postSpend: async (key, body) => cleanRecord(await call(edgeRoutes.postSpend, { body, key })),
    getSpend: (key) =>
      findRecord('spend_not_found', () => call(edgeRoutes.getSpend, { params: { key } })),

    findNotePaths: (body) => call(edgeRoutes.findNotePaths, { body }),

    async findEligibilityPaths(body) {
      const answer = await call(edgeRoutes.findEligibilityPaths, { body });
      if (answer.root !== body.root) {
        throw new PoolError(
          'platform_invalid_response',
          'the platform answered paths under another root than the one requested',
        );
      }
      return answer;
    },

    async getBatches(chain, from, pool) {
      const query = { chain, from: String(from), ...(pool === undefined ? {} : { pool }) };
      const page = await call(edgeRoutes.getBatches, { query });
      const end = from + page.batches.length;
      const isInOrder = page.batches.every(({ index }, place) => index === from + place);
      // A page that leads back, or nowhere, would be read for ever.
      if (!isInOrder || (page.next !== undefined && (page.next !== end || end === from))) {
        throw new PoolError(
          'platform_invalid_response',
          'the platform answered with other batches than those requested',
        );
      }
      return page;
    },
  };
}

/**
 * The eligibility of payees, read through the platform: what a wallet in a page takes as its gate (`SpendGatePort` of @pool/wallet). A page
 * has no client of the pool-gate.
 *
 * @param chain - key of the chain of the transfers
 * @param edge - with a `holder.transfer` key of the holder
 *
 * @example
 * const { paths, missing } = await createEdgeGate('base', edge).paths([walletId], root);
 */
export function createEdgeGate(chain: string, edge: Pick<EdgeClient, 'findEligibilityPaths'>) {
  return {
    /** @param root - that all paths must lead to. @throws PoolError as {@link EdgeClient.findEligibilityPaths} */
    paths: (walletIds: readonly string[], root: string): Promise<EligibilityPaths> =>
      edge.findEligibilityPaths({
        chain,
        walletIds: walletIds.map(parseHex32),
        root: parseHex32(root),
      }),
  };
}

// Only a 404 with the platform's own code means that the key has no row. A proxy, or a platform without this route, also
// answers 404.
async function findRecord<T extends SettlementRecord | SpendRecord>(
  code: 'settlement_not_found' | 'spend_not_found',
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return cleanRecord(await read());
  } catch (error) {
    if (error instanceof PoolError && error.status === 404 && error.code === code) {
      return undefined;
    }
    throw error;
  }
}

// The message is shown in logs, terminals and the agent's own answers.
function cleanRecord<T extends SettlementRecord | SpendRecord>(record: T): T {
  const { error } = record;
  return error === undefined
    ? record
    : { ...record, error: { code: error.code, message: cleanMessage(error.message) } };
}
