/**
 * What all steps of a spend share: its ports and settings, and how it retries, waits and is interrupted.
 *
 * @module
 */
import { type ErrorDetails, errorCodeOf, type Hex32, PoolError } from '@pool/core';
import { passPoint, retryWork } from '@pool/idempotency/engine';
import type { HolderSigner } from '@pool/signers/holder-signer';
import {
  type ArchivedSpend,
  changeSpendState,
  type SpendArchive,
  type SpendOwner,
} from '../archive/spend-archive.ts';
import { type SpendFaultPoint, type SpendState, spendPhases } from '../archive/spend-state.ts';
import type { Clock } from '../ports.ts';
import type { SpendCheckDeps } from './check-spend.ts';
import type { SpendJournal } from './spend-journal.ts';
import type {
  HolderNotesPort,
  SpendContext,
  SpendGatePort,
  SpendPlatformPort,
  SpendProverPort,
} from './spend-ports.ts';

/** `awaiting-approval`: people or a policy vote on the holder's signature, which can take long. */
export type SpendStage = 'checking' | 'signing' | 'awaiting-approval' | 'proving' | 'settling';

/** Something that happened in a spend, for logs and terminals. Codes are never confidential. A message can name an account, so logs leave it out. */
export type SpendEvent =
  | { readonly kind: 'stage'; readonly stage: SpendStage }
  | { readonly kind: 'progress'; readonly stage: 'proving'; readonly fraction: number }
  | { readonly kind: 'retry'; readonly code: string }
  /** Platform or relayer refuse a spend that was sent. */
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      readonly details?: ErrorDetails;
    }
  /** A spend is given up, and its request does not wait for votes any more. */
  | { readonly kind: 'withdrawn' }
  /** A spend is given up, and its request may still wait for votes. They have no effect. */
  | { readonly kind: 'not-withdrawn'; readonly code: string }
  /** The chain has decided, or the spend failed before anything left. */
  | { readonly kind: 'outcome'; readonly state: string };

export type SpendDeps = SpendCheckDeps & {
  readonly clock: Clock;
  /** This process. */
  readonly owner: SpendOwner;
  /** Undefined: the chain is not configured any more. */
  readonly findChain: (key: string) => SpendContext | undefined;
  readonly signer: Pick<HolderSigner, 'signSpend' | 'withdrawSpend' | 'needsVote' | 'isRemote'>;
  readonly notes: HolderNotesPort;
  /** By operation: each is called with the credential of its own role. */
  readonly platform: Readonly<Record<'transfer' | 'send', SpendPlatformPort>>;
  /** Undefined: the deployment has no gate. */
  readonly gate: SpendGatePort | undefined;
  readonly prover: SpendProverPort;
  readonly archive: SpendArchive;
  readonly journal: SpendJournal;
  /** @throws PoolError `restored_recently` while a spend that the archive does not have can land: then no earlier one may leave */
  readonly assertSpendsKnown: () => void;
  /** Waits until no other proof of this process is made. @returns how to release */
  readonly acquireAccelerator: (signal: AbortSignal) => Promise<() => void>;
  readonly randomBytes: (length: number) => Uint8Array;
  /** Window of a spend; {@link defaultSpendDeadlineSeconds} in production, and a signer's vote limit on top. */
  readonly deadlineSeconds: number;
  /** Pause between two readings of chain and platform. */
  readonly pollMs: number;
  /** How long one call may keep failing before a spend that was not sent fails with its error. */
  readonly patienceMs: number;
  /** Aborted when the agent stops. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: SpendEvent) => void;
  /** Called at each {@link SpendFaultPoint}. Tests end the process there. */
  readonly onFaultPoint: (point: SpendFaultPoint) => Promise<void>;
};

/** The same deps for one spend, whose events also go to its caller. */
export function withEvents(deps: SpendDeps, onEvent: SpendDeps['onEvent'] | undefined): SpendDeps {
  if (onEvent === undefined) {
    return deps;
  }
  return {
    ...deps,
    // Getters stay getters: the gate can be another one when the spend is sent again.
    get hasGate() {
      return deps.hasGate;
    },
    get gate() {
      return deps.gate;
    },
    onEvent(event) {
      deps.onEvent(event);
      onEvent(event);
    },
  };
}

/** Which spends nobody performs any more. */
export type OrphanRule = {
  /** The process that performs the spend has ended, and this directory knows everything that was sent. */
  readonly isOrphan: (owner: SpendOwner | undefined) => boolean;
  /** The signer is outside this process: it may have signed what it was asked for. */
  readonly isRemote: boolean;
};

/** What watching needs: the chain decides, and nobody's key is involved. */
export type FollowDeps = Pick<
  SpendDeps,
  | 'archive'
  | 'clock'
  | 'findChain'
  | 'platform'
  | 'patienceMs'
  | 'signal'
  | 'onEvent'
  | 'onFaultPoint'
> & {
  /** Takes back the request of a spend that no block can take any more. Never throws. Absent: there is no signer. */
  readonly withdraw?: (spend: ArchivedSpend) => Promise<void>;
  /** Absent: a spend of a process that ended keeps its notes until its deadline. */
  readonly orphans?: OrphanRule;
};

/** Tries again while the error is retryable, for `patienceMs`. */
export function retrySpend<T>(
  deps: Pick<SpendDeps, 'clock' | 'patienceMs' | 'signal' | 'onEvent'>,
  work: () => Promise<T>,
): Promise<T> {
  const { clock, patienceMs, signal } = deps;
  const onRetry = (error: unknown): void => reportRetry(deps, error);
  return retryWork({ clock, patienceMs, signal, onRetry }, work);
}

/** Stores the state of a spend, unless another process was faster. @throws InterruptedRunError when a test ends the process there */
export async function storeSpendState(
  { archive, onFaultPoint }: Pick<SpendDeps, 'archive' | 'onFaultPoint'>,
  outRoot: Hex32,
  kind: SpendState['kind'],
  next: (state: SpendState) => SpendState | undefined,
  facts: Pick<ArchivedSpend, 'concludedAtMs'> = {},
): Promise<ArchivedSpend> {
  await passStored(onFaultPoint, kind, 'before');
  const stored = await changeSpendState(archive, outRoot, next, facts);
  await passStored(onFaultPoint, kind, 'after');
  return stored;
}

/** Passes the fault point just before or after a state is stored. */
export async function passStored(
  onFaultPoint: SpendDeps['onFaultPoint'],
  kind: SpendState['kind'],
  when: 'before' | 'after',
): Promise<void> {
  const points: { readonly before?: SpendFaultPoint; readonly after?: SpendFaultPoint } =
    spendPhases[kind].stored;
  const point = points[when];
  if (point !== undefined) {
    await passPoint(onFaultPoint, point);
  }
}

/** Reports a code only, because the text of an unknown error may quote confidential values. */
export function reportRetry(deps: Pick<SpendDeps, 'onEvent'>, error: unknown): void {
  deps.onEvent({ kind: 'retry', code: errorCodeOf(error) ?? 'internal_error' });
}

/** The later of our clock and the chain's newest block, Unix seconds. */
export async function fetchNow(deps: SpendDeps, { chain }: SpendContext): Promise<number> {
  const head = await chain.fetchHeadTimestamp();
  return Math.max(head, Math.floor(deps.clock.nowMs() / 1000));
}

/**
 * The chain that a spend was archived for, if the settings still name the same pool. Another pool would say that no nullifier is used.
 */
export function findSpendContext(
  deps: Pick<SpendDeps, 'findChain'>,
  spend: { readonly chain: string; readonly chainId: number; readonly pool: string },
): SpendContext | undefined {
  const context = deps.findChain(spend.chain);
  const isSame =
    context?.settings.chainId === spend.chainId && context.settings.pool === spend.pool;
  return isSame ? context : undefined;
}

/** @throws PoolError `configuration_changed` */
export function requireSpendContext(
  deps: SpendDeps,
  spend: Parameters<typeof findSpendContext>[1],
): SpendContext {
  const context = findSpendContext(deps, spend);
  if (context === undefined) {
    throw new PoolError(
      'configuration_changed',
      'the spend of this key began with another chain or pool than the agent has now; restore those settings to learn its outcome, and do not pay again under a new key before',
    );
  }
  return context;
}

/** The key of a spend at the platform. The caller's key stays here: after a restart it may stand for another spend. */
export function computePlatformKey({ outRoot }: { readonly outRoot: Hex32 }): string {
  return `spend-${outRoot}`;
}

/** 15 minutes. A signer that requires a vote adds its time limit. */
export const defaultSpendDeadlineSeconds = 900;

/**
 * How long a replaced eligibility root must stay accepted for a transfer that keeps all its times, in seconds: 15 minutes until the root's
 * block is final, 5 for the proof, and 30 until the latest deadline (docs/decisions/0005).
 */
export const neededGraceSeconds = 900 + 300 + 2 * defaultSpendDeadlineSeconds;
