/**
 * What a payer needs: the agent, its checks, a terminal.
 *
 * @module
 */
import type { InvitationLink } from '@pool/api';
import {
  type DisbursementJob,
  type DisburseRequest,
  type ErrorBody,
  type EvmAddress,
  type EvmChainSettings,
  jobStages,
  type SkippedRecipient,
} from '@pool/core';
import type { JobStorePlace } from '@pool/idempotency';
import type { RecipientStanding, ValidationReport } from '@pool/operations';
import * as v from 'valibot';

export type Terminal = { readonly isTty: boolean; write(text: string): void };

/** Asks the user at the terminal. @returns the answer; undefined: the user ended the input */
export type Ask = (question: string) => Promise<string | undefined>;

export type Output = {
  /** Standard output: only the outcome, as text, or with `--json` as a document, which gets its envelope here. */
  out(outcome: string | object): void;
  /** Standard error: progress and notes. */
  readonly terminal: Terminal;
  /** Absent: there is no user who can answer. */
  readonly ask?: Ask | undefined;
};

/** Where an agent's ledger is: beside its jobs on a server, else in its directory. */
export type LedgerPlace = { readonly home: string; readonly jobs: JobStorePlace };

/** A person whom this machine has invited. */
export type Invitee = {
  /** Reference of the person's first link. It stays when the person gets another link. */
  readonly person: string;
  /** For the payer's own terminal: the name and the e-mail address that this machine knows. */
  readonly label: string;
};

/** What became of a person's newest link. */
export type InviteeState = Invitee & {
  /** `unknown`: the platform has no such link. `elsewhere`: this machine has not invited the person, so it knows no wallet. */
  readonly state: InvitationLink['state'] | 'unknown' | 'elsewhere';
  /** When the link ends, if its wallet has not enrolled by then. ISO 8601 in UTC. */
  readonly expiresAt?: string;
  /**
   * The wallet that accepted the link, by the platform's word alone. It was pinned when it was first seen here.
   */
  readonly address?: string;
  /** The payer has not confirmed it. */
  readonly isNew?: boolean;
  /** The platform names another wallet than the pinned one. `address` is absent then. */
  readonly changed?: { readonly pinned: string; readonly named: string };
};

/** The people whom this machine has invited. Their names and e-mail addresses leave it through none of these. */
export type Invitations = {
  /** @param text - a reference, an e-mail address or a name. @returns everybody whom it can mean */
  find(text: string): readonly Invitee[];
  /**
   * Signs in to the platform, asks for the links, and pins the wallets that are new.
   * @param people - as in {@link Invitee}. @returns by person
   */
  readStates(people: readonly string[]): Promise<ReadonlyMap<string, InviteeState>>;
  /** Keeps that the payer has confirmed these wallets, by person: they are not new any more. */
  confirm(wallets: ReadonlyMap<string, string>): Promise<void>;
};

/** The agent of a payer: its own settings, so that keys are the same on every run, and how it is asked. */
export type Payer = {
  /** Where the ledger is. */
  readonly ledger: LedgerPlace;
  /** The configured default. */
  readonly chain: string | undefined;
  /** The chains with a pool. @throws PoolError `invalid_configuration` */
  readChains(): Readonly<Record<string, EvmChainSettings>>;
  /** Base URL of the running agent. */
  readonly agentUrl: string;
  /** A client of the running agent. @throws PoolError if the directory never had an agent */
  openAgent(): AgentClient;
  readonly withChecks: WithChecks;
  readonly invitations: Invitations;
};

/** The agent's checks without a running agent. They send only read requests. */
export type LocalChecks = {
  validate(request: DisburseRequest): Promise<ValidationReport>;
  /**
   * Maximum number of recipients of one call.
   * @throws PoolError `invalid-chain`, or 503 when the platform does not answer
   */
  readCeiling(chain: string): number;
  /**
   * The reason why a payment under this key would not be paid: the key has a settlement under other settings, which was
   * or may be paid. Undefined: it has none, or the platform does not answer.
   */
  findForeignUse(chain: string, key: string): Promise<ErrorBody | undefined>;
  /** Which recipients can be paid on the chain. @throws PoolError 503 when the platform does not answer */
  inspect(chain: string, addresses: readonly EvmAddress[]): Promise<readonly RecipientStanding[]>;
};

/** Opens the checks, and closes them after the work. */
export type WithChecks = <T>(work: (checks: LocalChecks) => Promise<T>) => Promise<T>;

export type AgentClient = {
  submit(key: string, request: DisburseRequest): Promise<DisbursementJob>;
  job(key: string): Promise<DisbursementJob>;
  /** Undefined: the agent does not know the key. */
  find(key: string): Promise<DisbursementJob | undefined>;
  /** The agent's own dry run. */
  validate(request: DisburseRequest): Promise<CheckedRequest>;
  trace(key: string): Promise<JobTrace>;
  /** Cancels a job and returns it when it has ended. Retryable errors while that takes longer than one request. */
  cancel(key: string): Promise<DisbursementJob>;
};

/** The part of a validation report that commands read. */
export type CheckedRequest = {
  readonly ok: boolean;
  readonly issues: readonly {
    readonly requestIndex: number;
    readonly code: string;
    readonly message: string;
  }[];
  readonly preflight?:
    | readonly {
        readonly code: string;
        readonly message: string;
        readonly severity?: string | undefined;
      }[]
    | undefined;
  readonly skipped?: readonly SkippedRecipient[] | undefined;
};

const stageSchema = v.picklist(jobStages);

/**
 * What a terminal shows in addition to the job object: progress, seconds per stage, gas. The shape of the job object is
 * fixed and allows no further fields (docs/decisions/0007).
 */
export const jobTraceSchema = v.strictObject({
  progress: v.optional(
    v.strictObject({
      stage: stageSchema,
      fraction: v.optional(v.number()),
      seconds: v.number(),
    }),
  ),
  /** Seconds of work per stage, in order, summed over all runs of the job. */
  timings: v.array(v.strictObject({ stage: stageSchema, seconds: v.number() })),
  /** The device on which this agent proves. */
  prover: v.strictObject({ kind: v.string(), detail: v.string() }),
  /** As observed before proving. */
  allowance: v.optional(v.picklist(['sufficient', 'insufficient', 'unknown'])),
  /** Why the job waits: the platform does not send its batch, or it began under other settings of this agent. */
  refusal: v.optional(v.strictObject({ code: v.string(), message: v.string() })),
  /** Why the signer, or the approve process beside it, cannot decide now. A job that waits for people has none. */
  outage: v.optional(v.strictObject({ code: v.string(), message: v.string() })),
  /** Advice about an allowance that may be left. The error of a failed job contains it. */
  remainder: v.optional(v.string()),
  settlement: v.optional(
    v.strictObject({
      txHash: v.string(),
      blockNumber: v.number(),
      gasUsed: v.optional(v.string()),
    }),
  ),
});
export type JobTrace = v.InferOutput<typeof jobTraceSchema>;
