/**
 * One run of one job: what the engine gives to every run ({@link OpenJob}), and what a disbursement needs beside it.
 *
 * @module
 */
import { type EvmAddress, type Hex, type Hex32, type JobStage, PoolError } from '@pool/core';
import { createHold, type Hold, type JobNotice, type OpenJob } from '@pool/idempotency/engine';
import type { Clock, ComputeQueue, KeyLock, Pace } from '@pool/wallet';
import type {
  ChainContext,
  ChainPort,
  FunderPort,
  GatePort,
  JobJournal,
  PaidKeys,
  PlatformPort,
  ProverPort,
} from '../../ports.ts';
import type { PaymentWindows } from '../../releases/payment-windows.ts';
import type { ReleaseDeps } from '../../releases/release-state.ts';
import type { Fingerprinter } from './body-fingerprint.ts';
import type {
  Asked,
  EndPhase,
  FaultPoint,
  Grant,
  Landing,
  OpenPhase,
  RecordedVote,
} from './phases.ts';
import { type Batch, computeJobNonce, type DisbursementRecord } from './record.ts';

/** Something that happened in a run, for logs, terminals and measurements. Never confidential. */
export type RunEvent =
  | JobNotice<JobStage>
  | { readonly kind: 'progress'; readonly stage: JobStage; readonly fraction: number }
  /** The settlement of a released batch was refused or reverted, or its key was used elsewhere. */
  | { readonly kind: 'refused'; readonly stage: JobStage | undefined; readonly code: string }
  /** The job ends, and a request of it does not wait for votes any more. */
  | { readonly kind: 'withdrawn'; readonly request: RecordedVote['kind'] }
  /** The job ends, and a request of it may still wait for votes. They have no effect. */
  | {
      readonly kind: 'not-withdrawn';
      readonly request: RecordedVote['kind'];
      readonly code: string;
    };

export type DisbursementDeps = {
  readonly clock: Clock;
  /** Undefined: the chain is not routable. */
  readonly findChain: (key: string) => ChainContext | undefined;
  readonly platform: PlatformPort;
  readonly paidKeys: PaidKeys;
  /** For comparing this request with the request of another agent under the same key. */
  readonly fingerprints: Fingerprinter;
  /** Undefined: the deployment has no gate. */
  readonly gate: GatePort | undefined;
  readonly prover: ProverPort;
  /** Many processes prove, so no proof waits here for another one. Default: one proof at a time. */
  readonly makesProofsAtOnce?: boolean;
  /** Undefined: no funder key is configured. */
  readonly funder: FunderPort | undefined;
  /** Undefined: no release policy is configured, and a batch waits for nobody. */
  readonly releases?: ReleaseDeps | undefined;
  /** The times of scheduled batches. Default: no batch is scheduled. */
  readonly windows?: Pick<PaymentWindows, 'find'>;
  /** Shared by all runs of the process: the accelerator. */
  readonly locks: KeyLock;
  /** The turn of each (chain, token, funder), shared by all runs of all agents of the job store. */
  readonly turns: KeyLock;
  /** Shared by all runs of the process: one job computes at a time. */
  readonly computeQueue: ComputeQueue;
  readonly randomBytes: (length: number) => Uint8Array;
  /** Window of an authorisation; {@link defaultBatchDeadlineSeconds} in production. */
  readonly batchDeadlineSeconds: number;
  /** How long a signer that needs a vote may take. Part of the deadline of what it signs. */
  readonly voteLimitSeconds: number;
  /** Pause between two readings of chain and platform. */
  readonly pollMs: number;
  /** How long one call may keep failing before an unreleased job fails with its error. */
  readonly patienceMs: number;
  readonly onEvent: (event: RunEvent) => void;
  /** Called at each {@link FaultPoint}. Tests end the run there. */
  readonly onFaultPoint: (point: FaultPoint) => Promise<void>;
};

/** A stage in which the agent works. The other stages name what a job waits for. */
type WorkStage = Exclude<
  JobStage,
  | 'awaiting-release'
  | 'awaiting-approval'
  | 'awaiting-turn'
  | 'awaiting-finality'
  | 'settlement-refused'
  | 'cancelling'
  | 'configuration-changed'
>;

/** A job in one of these stages waits for people. */
export const peopleStages: readonly JobStage[] = ['awaiting-release', 'awaiting-approval'];

/** What the engine knows of a disbursement. */
export type DisbursementTypes = {
  readonly record: DisbursementRecord;
  readonly open: OpenPhase;
  readonly end: EndPhase;
  readonly noted: 'allowanceState' | 'foreign' | 'blocked' | 'stage';
  readonly workStage: WorkStage;
  readonly point: FaultPoint;
};

/** The job of a run. It does not need the settings of a chain. */
export type OpenDisbursement = OpenJob<DisbursementTypes>;

export type RunInput = {
  readonly record: DisbursementRecord;
  readonly journal: JobJournal;
  /** Aborted on shutdown and on a lost lease. */
  readonly signal: AbortSignal;
};

/** What a run needs from a routable chain and a configured funder. */
export type RunBase = {
  readonly context: ChainContext;
  readonly funder: FunderPort;
  readonly token: EvmAddress;
  readonly tokenSettings: ChainContext['settings']['tokens'][string];
};

export type Run = OpenDisbursement &
  RunBase & {
    readonly deps: DisbursementDeps;
    readonly signal: AbortSignal;
    /** Sum of the recipients, base units. */
    readonly total: bigint;
    /** {@link computeJobNonce} under the current settings. */
    readonly batchNonce: Hex32;
    /** Chain and platform, asked again through an outage, for `patienceMs`. `context.chain` and `deps.platform` are asked once. */
    readonly chain: ChainPort;
    readonly platform: PlatformPort;
    /** What the signer was asked for and has given. Nothing before the proof. */
    readonly given: Asked & Grant & { readonly signature?: Hex };
    /** What became of the authorisation. Nothing before its release. */
    readonly landing: Landing;
    /** True while an approval of the job may still be given, or be mined: then no other batch may count on the allowance. */
    readonly mayChangeAllowance: boolean;
    /** The batch, if this run has built it. */
    batch: Batch | undefined;
    /** For the steps before the release. @throws PoolError `cancelled` */
    assertNotCancelled(): Promise<void>;
    /**
     * Waits for {@link Run.hold}: one batch of a chain, token and funder at a time, so that two do not count on the same money. Announces
     * the wait, because another batch holds the lock until it is in a block. Does nothing while this run holds it.
     * @param next - announced after a wait. Default: the caller announces its own stage
     */
    awaitTurn(next?: WorkStage): Promise<void>;
    /**
     * The lock on this chain, token and funder. Only its holder decides what the balance of the funder still covers and what the pool
     * may take. A batch holds it from that decision until a block has taken its money, it has ended, or the relayer says that nothing of
     * it is out. A batch that loses its block queues for the lock again, and one that is sent again takes it first (docs/decisions/0007).
     */
    readonly hold: Hold;
    /** The lock on the funder's account on this chain, for approval transactions of any token. Acquired under `hold` only. */
    readonly approvalHold: Hold;
    /** Awaited between two pieces of computing. */
    readonly pace: Pace;
    /** The later of our clock and the chain's newest block, Unix seconds. */
    now(): Promise<number>;
  };

export function createRun(
  job: OpenDisbursement,
  signal: AbortSignal,
  base: RunBase,
  deps: DisbursementDeps,
): Run {
  const { context, funder, token } = base;
  const { clock, turns } = deps;
  const { recipients, employerId, key } = job.record;
  const holdOf = (name: string): Hold =>
    createHold({
      acquire: () => turns.acquire(name, signal, job.announceRetry),
      orStop: job.orStop,
      // Not given up halfway: a turn that comes after that would never end.
      tryAcquire: () => turns.tryAcquire(name),
      isTaken: () => turns.isTaken(name),
    });
  const run: Run = {
    ...job,
    ...base,
    ...{ deps, signal },
    total: recipients.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
    batchNonce: computeJobNonce(base, employerId, key),
    chain: job.askAgain(context.chain),
    platform: job.askAgain(deps.platform),
    get record() {
      return job.record;
    },
    get phase() {
      return job.phase;
    },
    get given() {
      return { votes: [], approvals: [], ...job.phase };
    },
    get landing() {
      const { phase } = job;
      return 'releasedAtMs' in phase || phase.kind === 'abandoned' ? phase : {};
    },
    get mayChangeAllowance() {
      const { approvalRequest, approvals } = run.given;
      return approvalRequest !== undefined || approvals.at(-1)?.mined === false;
    },
    batch: undefined,
    async assertNotCancelled() {
      if (await run.isCancelled()) {
        throw new PoolError(
          'cancelled',
          'the job was cancelled before its batch left this agent, and nothing was paid; to pay after all, use a new Idempotency-Key',
        );
      }
    },
    async awaitTurn(next) {
      const mustWait = !(await run.hold.tryAcquire());
      if (mustWait) {
        await run.announce('awaiting-turn');
      }
      await run.hold.acquire();
      if (mustWait && next !== undefined) {
        await run.announce(next);
      }
    },
    hold: holdOf(`allowance ${context.key} ${token} ${funder.address}`),
    approvalHold: holdOf(`approval ${context.key} ${funder.address}`),
    pace: deps.computeQueue.createJobPace(),
    async now() {
      const head = await context.chain.fetchHeadTimestamp();
      return Math.max(head, Math.floor(clock.nowMs() / 1000));
    },
  };
  return run;
}
