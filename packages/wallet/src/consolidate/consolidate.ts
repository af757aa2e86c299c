/**
 * Merges notes of the holder, so that one spend can cover more (protocol §6). A step is a spend that pays nobody: it consumes up to 16 notes
 * and makes one, its change. Nothing of the amounts leaves the holder.
 *
 * A call performs one step and answers when a final block has it. The plan is made again before every step, from the notes as the chain
 * shows them, so nothing has to be remembered between two steps. A step that an earlier process began is finished first. One step runs at
 * a time, on its own: it is never part of a spend, because its inputs would tell how many notes the holder has.
 *
 * @module
 */
import {
  type Amount,
  type ConsolidateRequest,
  type Consolidation,
  consolidateRequestSchema,
  fieldToHex,
  maxSpendInputs,
  PoolError,
  parseAmount,
  parseWire,
  type SpendReceipt,
} from '@pool/core';
import { type ConsolidationStep, planConsolidation } from '@pool/notes';
import type { ArchivedSpend } from '../archive/spend-archive.ts';
import {
  type CandidateNote,
  createOwnIntent,
  findToken,
  type SpendIntent,
} from '../spend/check-spend.ts';
import { createReceipt } from '../spend/conclude-spend.ts';
import { finishSpend } from '../spend/perform-spend.ts';
import {
  archiveSpend,
  createInsufficient,
  listCandidates,
  planArchived,
} from '../spend/plan-spend.ts';
import { fetchNow, retrySpend, type SpendDeps } from '../spend/spend-deps.ts';

export type Consolidator = {
  /**
   * @param body - as it was parsed from JSON
   * @param chain - one of the agent's chains; undefined: the chain of the holder
   * @throws PoolError as a transfer does; `insufficient_funds` if the notes do not hold `until`
   */
  consolidate(body: unknown, chain?: string): Promise<Consolidation>;
};

/** A proof of the larger circuit on two cores, and the time until the relayer's transaction is mined. For the estimate only. */
const proofSeconds = 8;
const minedSeconds = 15;

/** How long the new note may take to arrive after its step is final. */
const arrivalPatienceMs = 120_000;

/** Created once per process. */
export function createConsolidator(deps: SpendDeps): Consolidator {
  // By chain and token. A call that arrives meanwhile gets the same step.
  const running = new Map<string, Promise<Consolidation>>();
  return {
    async consolidate(body, chain) {
      const request = parseWire(consolidateRequestSchema, body, 'the request body');
      const checked = checkMerge(request, deps, chain);
      if (request.dryRun === true) {
        return describe(checked, await planMerges(checked, deps), deps);
      }
      const key = `${checked.context.key}/${checked.token}`;
      const known = running.get(key);
      if (known !== undefined) {
        return known;
      }
      const step = performStep(checked, deps).finally(() => running.delete(key));
      running.set(key, step);
      return step;
    },
  };
}

/** A spend that pays only its own change, and what one spend must cover afterwards. */
type Merge = SpendIntent & { readonly until: Amount | undefined };

async function planMerges(
  merge: Merge,
  deps: SpendDeps,
): Promise<readonly ConsolidationStep<CandidateNote>[]> {
  return planSteps(await listCandidates(merge, deps), merge, deps);
}

/** The merges after which one spend covers the amount. @throws PoolError `insufficient_funds` */
function planSteps(
  notes: readonly CandidateNote[],
  { until, context, token }: Pick<Merge, 'until' | 'context' | 'token'>,
  { holder }: Pick<SpendDeps, 'holder'>,
): readonly ConsolidationStep<CandidateNote>[] {
  const planned = planConsolidation(notes, {
    maxInputs: maxSpendInputs,
    changeKey: holder.changeKey,
    ...(until === undefined ? {} : { until }),
  });
  if (planned.kind === 'insufficient') {
    throw createInsufficient(planned.spendable, notes, { context, token });
  }
  return planned.steps;
}

function checkMerge(
  { token: symbol, until }: ConsolidateRequest,
  deps: SpendDeps,
  chain: string | undefined,
): Merge {
  const context = deps.route(chain);
  const token = findToken(context, symbol);
  const merge = { context, token, until: until === undefined ? undefined : parseAmount(until) };
  // The first merge of the plan, which spends existing notes only.
  const choose = (notes: readonly CandidateNote[]) => planSteps(notes, merge, deps)[0]?.notes;
  return { ...createOwnIntent(context, token, choose), until: merge.until };
}

async function performStep(checked: Merge, deps: SpendDeps): Promise<Consolidation> {
  if (deps.prover.mode === 'mock') {
    throw new PoolError(
      'prover_mock',
      'DISBURSE_PROVER=mock proves nothing: unset it to merge notes; dry runs work with it',
    );
  }
  const open = (await deps.archive.listOpen()).find((spend) => isMergeOf(spend, checked, deps));
  if (open !== undefined) {
    // Its notes are locked, so it is not in a plan, and the amount may not be there without them.
    const { inputNullifiers, changeAmount } = open;
    const receipt = await finishStep(open, true, checked, deps);
    const rest = await describe(checked, await planMerges(checked, deps), deps);
    const begun = { notes: inputNullifiers.length, amount: changeAmount };
    return { ...rest, steps: [begun, ...rest.steps], receipt };
  }
  const steps = await planMerges(checked, deps);
  const plan = await describe(checked, steps, deps);
  if (steps.length === 0) {
    return plan;
  }
  const receipt = await finishStep(await archiveSpend(checked, deps), false, checked, deps);
  return { ...plan, receipt };
}

async function finishStep(
  spend: ArchivedSpend,
  isOld: boolean,
  checked: Merge,
  deps: SpendDeps,
): Promise<SpendReceipt> {
  const ended = await finishSpend(spend, isOld, deps);
  const receipt = createReceipt(ended);
  if (receipt.status === 'success') {
    await waitForOutput(ended, checked, deps);
  }
  return receipt;
}

/** True for a step of this holder in this token that the chain has not decided. */
function isMergeOf(
  { chain, chainId, pool, secrets }: ArchivedSpend,
  { context, token }: Merge,
  { holder }: SpendDeps,
): boolean {
  const manifest = secrets?.manifest;
  return (
    chain === context.key &&
    chainId === context.settings.chainId &&
    pool === context.settings.pool &&
    manifest?.walletPub === holder.walletPub &&
    manifest.token === token &&
    manifest.outputs.length === 0 &&
    manifest.withdrawAmount === '0'
  );
}

/** The next plan must see the new note. Without it the holder would seem to have less. */
async function waitForOutput(
  spend: ArchivedSpend,
  { assetId }: Merge,
  deps: SpendDeps,
): Promise<void> {
  const [commitment] = planArchived(spend, deps).plan.commitments;
  const giveUpAtMs = deps.clock.steadyMs() + arrivalPatienceMs;
  for (;;) {
    const owned = await retrySpend(deps, () => deps.notes.listSpendable(assetId));
    if (commitment === undefined || owned.some((note) => note.commitment === commitment)) {
      return;
    }
    if (deps.clock.steadyMs() >= giveUpAtMs) {
      throw new PoolError(
        'notes_unavailable',
        `the step is final, and its note ${fieldToHex(commitment)} did not arrive yet; run the same command again`,
        { status: 503, retryable: true },
      );
    }
    await deps.clock.sleep(deps.pollMs, deps.signal);
  }
}

async function describe(
  { context }: Merge,
  steps: readonly ConsolidationStep<CandidateNote>[],
  deps: SpendDeps,
): Promise<Consolidation> {
  return {
    chain: context.key,
    steps: steps.map(({ notes, outputsOf, amount }) => ({
      notes: notes.length + outputsOf.length,
      amount: amount.toString(),
    })),
    seconds: steps.length * (await estimateStep(context, deps)),
  };
}

/** A step waits until its block is final, so the distance between head and final block counts. */
async function estimateStep(context: Merge['context'], deps: SpendDeps): Promise<number> {
  const nowSeconds = await retrySpend(deps, () => fetchNow(deps, context));
  const { finalBlock } = await retrySpend(deps, () => context.chain.fetchNullifierState([]));
  return proofSeconds + minedSeconds + Math.max(0, nowSeconds - finalBlock.timestampSeconds);
}
