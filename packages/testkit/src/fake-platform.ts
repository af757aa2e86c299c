/**
 * A fake platform edge over a fake chain: look-up, settlements, and a relayer that can be slow, forgetful
 * or dishonest.
 *
 * @module
 */

import type { RecipientRecord, SettlementRecord, SettlementRequest, VoidRequest } from '@pool/api';
import {
  type EligibilityPathWire,
  fieldToHex,
  type Hex32,
  PoolError,
  parseEvmAddress,
  parseField,
} from '@pool/core';
import { createEligibilityTree } from '@pool/notes';
import type { FakeHolder } from './fake-holder.ts';
import type { FakePoolChain } from './fake-pool-chain.ts';

export type FakePlatform = ReturnType<typeof createFakePlatform>;

export function createFakePlatform(chain: FakePoolChain) {
  const rows = new Map<string, SettlementRecord>();
  const records = new Map<string, RecipientRecord>();
  let outages = 0;

  async function answer<T>(work: () => T): Promise<T> {
    if (outages > 0) {
      outages -= 1;
      throw new PoolError('platform_unreachable', 'the platform is down');
    }
    return work();
  }

  const platform = {
    posts: 0,
    /** Accepted withdrawals, newest last. */
    voids: [] as VoidRequest[],
    /** The relayer keeps withdrawals and sends none. */
    holdBackVoids: false,
    /** Batch roots ever posted, under any key. */
    postedRoots: new Set<string>(),
    lookups: 0,
    rows,
    /** Runs between the relayer's simulation and the inclusion of its transaction. */
    beforeInclusion: undefined as (() => void) | undefined,
    /** The relayer keeps what it gets and sends nothing. */
    holdBack: false,
    /** Seconds from now to the latest deadline that a new settlement may have. Undefined: no limit. */
    deadlineSeconds: undefined as number | undefined,
    /** The answer to the next this many posts is lost on the way. */
    loseAnswers: 0,
    failCalls(count: number): void {
      outages = count;
    },
    enroll(holder: FakeHolder, changes: Partial<RecipientRecord> = {}): void {
      records.set(holder.address, {
        address: holder.address,
        readiness: 'ready',
        walletPub: holder.walletPub,
        encryptionPublicKey: holder.encryptionPublicKey,
        evidence: { ...holder.evidence },
        ...changes,
      });
    },

    lookupRecipients: (_chain: string, addresses: readonly string[]) =>
      answer(() => {
        platform.lookups += 1;
        // As the schema of the route does.
        if (addresses.length === 0 || addresses.length > 256) {
          throw new PoolError('invalid_request', 'a look-up must have 1 to 256 addresses');
        }
        return addresses.map(
          (address): RecipientRecord =>
            records.get(address) ?? { address, readiness: 'not_enrolled' },
        );
      }),
    getSettlement: (key: string) => answer(() => rows.get(key)),
    postSettlement: (key: string, request: SettlementRequest) =>
      answer(() => {
        platform.posts += 1;
        platform.postedRoots.add(request.batch.batchRoot);
        const standing = rows.get(key);
        // Like the real one: another batch nonce replaces a dead authorisation.
        const known = standing !== undefined && mayFollow(standing, request) ? undefined : standing;
        if (known !== undefined && known.batch.batchRoot !== request.batch.batchRoot) {
          throw new PoolError('idempotency_conflict', 'another batch has this key');
        }
        const isReplay = known !== undefined && known.state !== 'reverted';
        const { deadlineSeconds = Number.POSITIVE_INFINITY } = platform;
        if (!isReplay && request.batch.deadline > chain.headSeconds() + deadlineSeconds) {
          throw new PoolError('deadline_too_far', 'settlement refused: sign for less time');
        }
        const row = isReplay ? known : relay(key, request, known);
        rows.set(key, row);
        if (platform.loseAnswers > 0) {
          platform.loseAnswers -= 1;
          throw new PoolError('platform_unreachable', 'the answer was lost');
        }
        return row;
      }),
    postVoid: (key: string, request: VoidRequest) =>
      answer(() => {
        const row = rows.get(key) ?? storeWithdrawn(key, request);
        if (row === undefined || row.batch.batchNonce !== request.batchNonce) {
          throw new PoolError('not_found', 'the platform has no such settlement');
        }
        platform.voids.push(request);
        if (!platform.holdBackVoids) {
          chain.voidBatch(parseEvmAddress(row.batch.funder), request.batchNonce);
        }
        return row;
      }),
  };

  /** Like the real one: the withdrawal of a batch that was never posted brings the batch along. */
  function storeWithdrawn(key: string, { chain: name, batch }: VoidRequest) {
    if (batch === undefined) {
      return undefined;
    }
    const row: SettlementRecord = { key, chain: name, batch, state: 'accepted', sealedNotes: [] };
    rows.set(key, row);
    return row;
  }

  function mayFollow(standing: SettlementRecord, { batch }: SettlementRequest): boolean {
    const refusal = chain.simulateFund(standing.batch, undefined)?.code ?? '';
    return (
      standing.batch.batchNonce !== batch.batchNonce &&
      standing.state !== 'settled' &&
      ['authorization-expired', 'batch-is-voided'].includes(refusal)
    );
  }

  function relay(
    key: string,
    request: SettlementRequest,
    known: SettlementRecord | undefined,
  ): SettlementRecord {
    const base = {
      key,
      chain: request.chain,
      batch: request.batch,
      ...(request.bodyFingerprint === undefined
        ? {}
        : { bodyFingerprint: request.bodyFingerprint }),
      sealedNotes: request.sealedNotes,
    };
    if (platform.holdBack) {
      return { ...base, state: 'accepted' };
    }
    const refusal = chain.simulateFund(request.batch, request.permit);
    if (refusal !== undefined) {
      const txHash = known?.txHash;
      return {
        ...base,
        state: 'reverted',
        error: refusal,
        ...(txHash === undefined ? {} : { txHash }),
      };
    }
    platform.beforeInclusion?.();
    const { txHash, blockNumber, error } = chain.mineFund(request.batch, request.permit);
    return {
      ...base,
      state: error === undefined ? 'settled' : 'reverted',
      txHash: txHash,
      blockNumber,
      gasUsed: '500000',
      ...(error === undefined ? {} : { error }),
    };
  }

  return platform;
}

export type FakeGate = ReturnType<typeof createFakeGate>;

/** A fake pool-gate over a real eligibility tree; every change is on chain at once. */
export function createFakeGate(chain: FakePoolChain) {
  const tree = createEligibilityTree();
  let outages = 0;
  const publish = (): void => chain.acceptRoot(fieldToHex(tree.root));
  return {
    root: (): Hex32 => fieldToHex(tree.root),
    admit(holder: FakeHolder): void {
      tree.insert(holder.walletId);
      publish();
    },
    expel(holder: FakeHolder): void {
      chain.refuseRoot(fieldToHex(tree.root));
      tree.remove(holder.walletId);
      publish();
    },
    failCalls(count: number): void {
      outages = count;
    },
    async paths(walletIds: readonly string[]) {
      if (outages > 0) {
        outages -= 1;
        throw new PoolError('gate_unreachable', 'the gate is down');
      }
      const found = walletIds.filter((id) => tree.has(parseField(id)));
      return {
        root: fieldToHex(tree.root),
        paths: found.map((id): EligibilityPathWire => tree.path(parseField(id))),
        missing: walletIds.filter((id) => !tree.has(parseField(id))),
      };
    },
  };
}
