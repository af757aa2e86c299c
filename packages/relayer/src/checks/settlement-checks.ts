/**
 * The checks of a settlement or a spend that take long: asking a funder's contract, the arithmetic of a batch or a spend, its
 * proof. Each has a thread or a chain that works on it, and employers and holders take turns there.
 *
 * @module
 */
import type { Delivery, SettlementRequest, SpendRequest } from '@pool/api';
import type { EvmChainSettings } from '@pool/core';
import type { PoolChain } from '../chain/pool-chain.ts';
import type { BatchChecker } from './batch-checker.ts';
import { assertFunderSigned, type FunderClaim } from './check-funder.ts';
import type { ProofCheck } from './check-proof.ts';
import type { SpendForm } from './check-spend-form.ts';
import { createTurns, type Turns } from './turns.ts';

export type SettlementChecks = {
  /**
   * Checks that the contract accepts the signature as the funder's.
   * @throws PoolError `invalid_settlement` (400), `rate_limited` (429), `chain_unreachable`,
   *   `verifier_unavailable` (503)
   */
  assertSigned(
    employerId: string,
    chain: Pick<PoolChain, 'key' | 'checkFunderContract'>,
    claim: FunderClaim,
  ): Promise<void>;
  /** @throws PoolError `invalid_settlement` (400), `rate_limited` (429), `verifier_unavailable` (503) */
  assertBatch(employerId: string, delivery: Delivery, settings: EvmChainSettings): Promise<void>;
  /**
   * The batch, and the proof about it.
   * @throws PoolError as `assertBatch`, and `proof_invalid`, `size_unsupported` (400)
   */
  assertProven(
    employerId: string,
    request: SettlementRequest,
    settings: EvmChainSettings,
  ): Promise<void>;
  /**
   * A spend that `assertSpendForm` has passed, and the proof about it.
   * @param holder - address of the account that posted it
   * @throws PoolError `invalid_spend`, `proof_invalid`, `size_unsupported` (400), `rate_limited` (429),
   *   `verifier_unavailable` (503)
   */
  assertSpendProven(
    holder: string,
    request: SpendRequest,
    form: SpendForm,
    settings: EvmChainSettings,
  ): Promise<void>;
};

/** Of one chain. A contract that burns its gas, or a slow node, keeps one place for some seconds. */
const questionsAtOnce = 8;

export function createSettlementChecks({
  batches,
  proofs,
}: {
  readonly batches: BatchChecker;
  readonly proofs: ProofCheck;
}): SettlementChecks {
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
    assertSigned: (employerId, chain, claim) =>
      assertFunderSigned(claim, (subject) =>
        questionsOf(chain.key).run(employerId, () => chain.checkFunderContract(subject)),
      ),
    assertBatch: (employerId, delivery, settings) =>
      turns.run(employerId, async () => {
        await batches.check(delivery, settings);
      }),
    async assertProven(employerId, request, settings) {
      const proven = { kind: 'settlement', size: request.batch.commitments.length } as const;
      proofs.assertSupported(proven);
      await turns.run(employerId, async () => {
        const inputs = await batches.check(request, settings);
        await proofs.assertProof(proven, inputs, request.proof);
      });
    },
    async assertSpendProven(holder, request, form, settings) {
      const proven = { kind: 'spend', circuit: form.circuit } as const;
      proofs.assertSupported(proven);
      await spendTurns.run(holder, async () => {
        const inputs = await batches.checkSpend(request, form, settings);
        await proofs.assertProof(proven, inputs, request.proof);
      });
    },
  };
}
