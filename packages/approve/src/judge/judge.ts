/**
 * From what a custodian asks to a vote that is stored: the manifest is found and rebuilt, facts are read, and the ledger decides and
 * writes in one transaction. Nothing here talks to the custodian.
 *
 * @module
 */
import { computeWalletAddress, type EvmAddress, type Hex32, parseWalletPub } from '@pool/core';
import {
  computeGuardDigest,
  type DecideInput,
  type Decision,
  type DecisionReason,
  decide,
  decisionReasons,
  type Ledger,
  type LedgerView,
  listFactQuestions,
  type Origin,
  type Policy,
  type RebuiltManifest,
  type SignRequest,
  type Vote,
  viewAsStored,
} from '@pool/policy';
import type { GateLog } from '../config/gate-home.ts';
import { listClockPlaces } from '../config/settings-files.ts';
import type { FaultPoint } from '../config/variables.ts';
import type { Preimage } from '../preimage/preimage.ts';
import { toSignRequest } from '../preimage/to-request.ts';
import type { FactSource } from './facts.ts';
import type { Rebuilds } from './rebuilds.ts';

/** A request as a transport read it. */
export type Asked = {
  /** The custodian's id of the approval or the callback. */
  readonly requestId: string;
  /** The custodian's id of the transaction, where a request has an id of its own. */
  readonly transactionId?: string | undefined;
  readonly origin: Extract<Origin, { readonly kind: 'custodian' }>;
  readonly preimage: Preimage;
  /** What the custodian says it signs. It must follow from the preimage. */
  readonly signedDigest?: Hex32;
};

export type Judgement =
  /** Stored. It must reach the custodian. */
  | { readonly kind: 'vote'; readonly vote: Vote; readonly message: string }
  /** Denied without a place in the ledger, because it is no request that a ledger could describe. The same again is denied again. */
  | { readonly kind: 'foreign'; readonly message: string }
  | { readonly kind: 'later'; readonly reason: string; readonly message: string }
  /** Of a dry run: nothing was stored, and nothing may reach the custodian, a vote of an earlier run neither. */
  | {
      readonly kind: 'dry-run';
      readonly would: Decision['kind'];
      readonly reason: DecisionReason | undefined;
    };

export type Judge = ReturnType<typeof createJudge>;

export type JudgeDeps = {
  readonly ledger: Ledger;
  readonly policy: () => Policy;
  readonly rebuilds: Rebuilds;
  readonly facts: FactSource;
  /**
   * False: nothing is voted, neither yes nor no. Asked again right before a decision is stored: another policy may have been read while
   * facts were.
   */
  readonly mayVote: () => boolean;
  readonly nowMs: () => number;
  readonly isDryRun: boolean;
};

/** What the transport of a custodian needs to vote. */
export type VotingDeps = Pick<JudgeDeps, 'ledger' | 'mayVote' | 'isDryRun' | 'nowMs'> & {
  readonly judge: Judge;
  readonly log: GateLog;
  readonly fault: (point: FaultPoint) => void;
  /** For metrics. */
  readonly onAnswer: (value: 'approve' | 'deny' | 'retry') => void;
};

export function createJudge(deps: JudgeDeps) {
  const { ledger, rebuilds, nowMs } = deps;

  async function findManifest(digest: Hex32 | undefined): Promise<RebuiltManifest | undefined> {
    return digest === undefined ? undefined : await rebuilds.find(digest);
  }

  async function readInput(
    request: SignRequest,
    origin: Origin,
    manifest: RebuiltManifest | undefined,
  ): Promise<(view: LedgerView) => DecideInput> {
    const facts =
      manifest === undefined
        ? {}
        : await deps.facts.read(
            ledger.read((view) => listFactQuestions(manifest, view)),
            nowMs(),
          );
    const clock = await deps.facts.readClock(
      listClockPlaces(deps.policy(), manifest?.chainId ?? findChainId(request)),
    );
    return (view) => ({
      request,
      origin,
      manifest,
      // The policy of this moment: another one may have been read while the nodes were asked.
      policy: deps.policy(),
      ledger: view,
      facts: { ...facts, clock },
      signer: { deterministic: false },
      nowMs: nowMs(),
    });
  }

  return {
    /** @throws errors of the ledger, for example a full disk: then nothing may be voted */
    async judge(asked: Asked): Promise<Judgement> {
      const { requestId, transactionId, origin, preimage, signedDigest } = asked;
      const signer = findSigner(deps.policy(), origin.wallet);
      if (signer === undefined) {
        return { kind: 'foreign', message: decisionReasons['wallet-not-listed'] };
      }
      const stored = await findManifest(findByDigest(ledger, preimage));
      const request = toSignRequest(preimage, signer, stored, signedDigest);
      if (request.kind === 'foreign') {
        return request;
      }
      const known = ledger.findVote(requestId);
      if (known !== undefined) {
        const repeated = repeatVote(known, request);
        if (repeated.kind !== 'vote') {
          return repeated;
        }
        if (deps.isDryRun) {
          return { kind: 'dry-run', would: known.value, reason: known.reason };
        }
        // The stage before may have shown a digest alone.
        if (transactionId !== undefined && known.transactionId === undefined) {
          ledger.noteTransaction(known.id, transactionId);
        }
        return repeated;
      }
      const manifest =
        stored ?? (await findManifest(ledger.findManifestFor(request)?.manifestDigest));
      const input = await readInput(request, origin, manifest);
      if (deps.isDryRun) {
        const decision = ledger.read((view) => decide(input(view)));
        const reason = decision.kind === 'approve' ? undefined : decision.reason;
        return { kind: 'dry-run', would: decision.kind, reason };
      }
      if (!deps.mayVote()) {
        return { kind: 'later', ...notVoting };
      }
      const question = {
        requestId,
        transactionId,
        request,
        manifestDigest: manifest?.manifestDigest,
        nowMs: nowMs(),
      };
      let message = '';
      const voted = ledger.decide(question, (view) => {
        const decision = decide(input(view));
        message = decision.kind === 'approve' ? '' : decision.message;
        return decision;
      });
      return voted.kind === 'vote' ? { kind: 'vote', vote: voted.vote, message } : voted;
    },
    /** Decides and stores nothing, for `approve check`. A manifest that is not stored is judged as if it were. */
    async explain(
      request: SignRequest,
      origin: Origin,
      manifest: RebuiltManifest,
    ): Promise<Decision> {
      const input = await readInput(request, origin, manifest);
      return ledger.read((view) => {
        const { facts, ...given } = input(viewAsStored(view, manifest, nowMs()));
        // Without a node the other rules are explained all the same.
        return decide({ ...given, facts: { ...facts, clock: facts.clock ?? [] } });
      });
    },
  };
}

/** While the doctor fails, or has not examined the custodian for this policy. */
export const notVoting = {
  reason: 'not-voting',
  message: 'the gate does not vote now: read its health',
} as const;

/** The chain of a request whose manifest is not stored. Undefined: it is for every chain. */
function findChainId(request: SignRequest): number | undefined {
  switch (request.kind) {
    case 'fund-authorization':
    case 'void':
      return request.payload.chainId;
    case 'permit':
    case 'token-approval':
    case 'sign-in':
      return request.payload.expected.chainId;
    case 'spend':
    case 'viewing-key':
    case 'disclosure':
      return undefined;
  }
}

/** The stored manifest of a preimage that is only a digest. */
function findByDigest(ledger: Ledger, preimage: Preimage): Hex32 | undefined {
  switch (preimage.kind) {
    case 'hash':
      return ledger.findSpendByDigest(preimage.digest)?.manifestDigest;
    case 'stored':
      return ledger
        .listManifests()
        .find(
          ({ kind, digest, batch }) =>
            kind === 'fund' &&
            (digest === preimage.digest || batch?.voidDigest === preimage.digest),
        )?.manifestDigest;
    default:
      return undefined;
  }
}

/** A vote stands for the content that it was given for. The same id with another content gets none of it. */
function repeatVote(vote: Vote, request: SignRequest): Judgement {
  return vote.digest === computeGuardDigest(request)
    ? { kind: 'vote', vote, message: '' }
    : { kind: 'foreign', message: 'the custodian shows another content under the same id' };
}

/** The address behind a wallet id of the custodian. */
export function findSigner(policy: Policy, wallet: string): EvmAddress | undefined {
  const funder = policy.funders.find(({ wallets }) => wallets.includes(wallet));
  if (funder !== undefined) {
    return funder.address;
  }
  const holder = policy.holders.find(({ wallets }) => wallets.includes(wallet));
  return holder === undefined ? undefined : computeWalletAddress(parseWalletPub(holder.walletPub));
}
