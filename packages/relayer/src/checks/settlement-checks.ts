/**
 * The checks of a settlement or a spend that take long: asking a funder's contract, the arithmetic of a batch or a spend, its
 * proof. Each has a thread or a chain that works on it, and employers and holders take turns there.
 *
 * @module
 */
import type { Delivery, SettlementRequest, SpendRequest } from '@pool/api';
import type { ContractSignature, ContractVerdict } from '@pool/contracts';
import type { EvmChainSettings } from '@pool/core';
import {
  type EvmAddress,
  type Hex,
  type Hex32,
  hexToBytes,
  PoolError,
  parseEvmAddress,
} from '@pool/core';
import { recoverAddress } from 'ethers';
import type { PoolChain } from '../chain/pool-chain.ts';
import type { BatchChecker } from './batch-checker.ts';
import type { SpendForm } from './check-form.ts';
import type { ProofCheck } from './check-proof.ts';
import { settlementRefusals } from './refuse-settlement.ts';

// Decides whose settlement is checked next. Employers take turns, so an employer who posts many settlements does not delay
// the others, and each has at most one check under way. When all places are taken, the longest line loses its last one, so a few
// employers with full lines do not close the others out.

type Turns = ReturnType<typeof createTurns>;

export type TurnLimits = {
  /** Of different callers. */
  readonly atOnce: number;
  readonly maxWaiting: number;
  readonly maxWaitingOfCaller: number;
  readonly waitMs: number;
};

/** Checking one proof and one batch takes about 60 ms. */
const defaultLimits: TurnLimits = {
  atOnce: 1,
  maxWaiting: 64,
  maxWaitingOfCaller: 8,
  waitMs: 15_000,
};

type Waiting = { readonly begin: () => void; readonly refuse: (reason: PoolError) => void };

export function createTurns(limits: Partial<TurnLimits> = {}) {
  const { atOnce, maxWaiting, maxWaitingOfCaller, waitMs } = { ...defaultLimits, ...limits };
  /** Lines of the callers, in the order in which their turns come. */
  const lines = new Map<string, Waiting[]>();
  const busy = new Set<string>();
  let waiting = 0;

  function beginNext(): void {
    for (const [caller, line] of lines) {
      if (busy.size >= atOnce) {
        return;
      }
      const next = busy.has(caller) ? undefined : line.shift();
      if (next !== undefined) {
        // Goes to the end of the line if more of it waits.
        lines.delete(caller);
        if (line.length > 0) {
          lines.set(caller, line);
        }
        waiting -= 1;
        busy.add(caller);
        next.begin();
      }
    }
  }

  function leave(caller: string, one: Waiting): void {
    const line = lines.get(caller) ?? [];
    line.splice(line.indexOf(one), 1);
    waiting -= 1;
    if (line.length === 0) {
      lines.delete(caller);
    }
  }

  /** @param own - places of the caller who asks. Nobody is left with fewer than this caller then has */
  function makeRoom(own: number): boolean {
    const [caller = '', line = []] =
      [...lines].toSorted(([, one], [, other]) => other.length - one.length)[0] ?? [];
    const last = line.at(-1);
    if (last === undefined || line.length - 1 <= own) {
      return false;
    }
    leave(caller, last);
    last.refuse(unavailable('too many settlements wait to be checked'));
    return true;
  }

  async function wait(caller: string): Promise<void> {
    const line = lines.get(caller) ?? [];
    if (line.length >= maxWaitingOfCaller) {
      throw new PoolError(
        'rate_limited',
        'too many settlements of this employer wait to be checked; try again in 1 s',
        { details: { retryAfterSeconds: 1 } },
      );
    }
    if (waiting >= maxWaiting && !makeRoom(line.length)) {
      throw unavailable('too many settlements wait to be checked');
    }
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const one: Waiting = { begin: () => resolve(undefined), refuse: reject };
    const timer = setTimeout(() => {
      leave(caller, one);
      reject(unavailable('the settlement waited too long to be checked'));
    }, waitMs);
    line.push(one);
    lines.set(caller, line);
    waiting += 1;
    beginNext();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    /**
     * Runs the work when the caller's turn comes.
     * @throws PoolError `rate_limited` (429) when too many of this caller wait, `verifier_unavailable` (503, retryable)
     *   when too many wait or the turn does not come in time; what the work throws
     */
    async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
      await wait(caller);
      try {
        return await work();
      } finally {
        busy.delete(caller);
        beginNext();
      }
    },
  };
}

function unavailable(reason: string): PoolError {
  return new PoolError('verifier_unavailable', `${reason}; try again shortly`);
}

// Whether a funder signed, as the pool's contract decides it (FunderSignature.sol): the key of its address first, then
// the contract at its address (ERC-1271). A settlement that its funder did not sign could only block one that it signed.

type FunderClaim = {
  readonly funder: EvmAddress;
  /** What was signed (EIP-712). */
  readonly digest: Hex32;
  readonly signature: Hex;
};

const signatureBytes = 65;
/** Half of the order of secp256k1's group: the contract accepts no greater s. */
const greatestS = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * @param ask - asks the contract at the funder's address about the signature
 * @throws PoolError `invalid_settlement` (400), what `ask` throws
 */
export async function assertFunderSigned(
  { funder, digest, signature }: FunderClaim,
  ask: (subject: ContractSignature) => Promise<ContractVerdict>,
): Promise<void> {
  if (recoverSigner(digest, signature) === funder) {
    return;
  }
  const verdict = await ask({ address: funder, digest, signature });
  switch (verdict) {
    case 'valid':
      return;
    case 'invalid':
      throw settlementRefusals.refuse(
        'neither the funder’s key nor the contract at its address made this signature',
      );
    case 'no-contract':
    case 'delegated-account':
      throw settlementRefusals.refuse(
        'the funder’s key did not make this signature, and there is no contract at its address',
      );
  }
}

/** As `ECDSA.tryRecover`: 65 bytes, s in the lower half, v of 27 or 28. Undefined: no valid signature. */
export function recoverSigner(digest: Hex32, signature: Hex): EvmAddress | undefined {
  const bytes = hexToBytes(signature);
  const v = bytes[signatureBytes - 1];
  if (bytes.length !== signatureBytes || (v !== 27 && v !== 28)) {
    return undefined;
  }
  const [r, s] = [`0x${signature.slice(2, 66)}`, `0x${signature.slice(66, 130)}`];
  if (BigInt(s) > greatestS) {
    return undefined;
  }
  try {
    return parseEvmAddress(recoverAddress(digest, { r, s, v }));
  } catch {
    return undefined;
  }
}

export type SettlementChecks = ReturnType<typeof createSettlementChecks>;

/** Of one chain. A contract that burns its gas, or a slow node, keeps one place for some seconds. */
const questionsAtOnce = 8;

export function createSettlementChecks({
  batches,
  proofs,
}: {
  readonly batches: BatchChecker;
  readonly proofs: ProofCheck;
}) {
  // One queue for both threads: a proof is verified after its batch is checked, in the same turn. Spends have a queue of their
  // own, so that no number of holders takes the places of employers.
  const turns = createTurns();
  const spendTurns = createTurns();
  const questions = new Map<string, Turns>();

  function questionsOf(chain: string): Turns {
    const known = questions.get(chain) ?? createTurns({ atOnce: questionsAtOnce });
    questions.set(chain, known);
    return known;
  }

  return {
    /**
     * Checks that the contract accepts the signature as the funder's.
     * @throws PoolError `invalid_settlement` (400), `rate_limited` (429), `chain_unreachable`,
     *   `verifier_unavailable` (503)
     */
    assertSigned: (
      employerId: string,
      chain: Pick<PoolChain, 'key' | 'checkFunderContract'>,
      claim: FunderClaim,
    ): Promise<void> =>
      assertFunderSigned(claim, (subject) =>
        questionsOf(chain.key).run(employerId, () => chain.checkFunderContract(subject)),
      ),
    /** @throws PoolError `invalid_settlement` (400), `rate_limited` (429), `verifier_unavailable` (503) */
    assertBatch: (employerId: string, delivery: Delivery, settings: EvmChainSettings) =>
      turns.run(employerId, async () => {
        await batches.check(delivery, settings);
      }),
    /** The batch, and the proof about it. @throws PoolError as `assertBatch`, and `proof_invalid`, `size_unsupported` (400) */
    async assertProven(
      employerId: string,
      request: SettlementRequest,
      settings: EvmChainSettings,
    ): Promise<void> {
      const proven = { kind: 'settlement', size: request.batch.commitments.length } as const;
      proofs.assertSupported(proven);
      await turns.run(employerId, async () => {
        const inputs = await batches.check(request, settings);
        await proofs.assertProof(proven, inputs, request.proof);
      });
    },
    /**
     * A spend that `assertSpendForm` has passed, and the proof about it.
     * @param holder - address of the account that posted it
     * @throws PoolError `invalid_spend`, `proof_invalid`, `size_unsupported` (400), `rate_limited` (429),
     *   `verifier_unavailable` (503)
     */
    async assertSpendProven(
      holder: string,
      request: SpendRequest,
      form: SpendForm,
      settings: EvmChainSettings,
    ): Promise<void> {
      const proven = { kind: 'spend', circuit: form.circuit } as const;
      proofs.assertSupported(proven);
      await spendTurns.run(holder, async () => {
        const inputs = await batches.checkSpend(request, form, settings);
        await proofs.assertProof(proven, inputs, request.proof);
      });
    },
  };
}
