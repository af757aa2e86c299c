/**
 * A withdrawal in this process, without a platform, a gate or a running agent: the holder's keys, chain data, the notes that the agent
 * directory and the holder's files have, and a key that pays the gas (docs/decisions/0011).
 *
 * Everything before and after the submission is that of every other spend: the same archive with its locks, the same signature, the same
 * rule that only the chain ends a spend. So it may run beside the agent of the same directory, and a spend that the platform refuses is
 * continued with the authorisation that it has.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  type Hex32,
  PoolError,
  type Secret,
  type SendRequest,
  type SpendReceipt,
} from '@pool/core';
import type { ArchivedSpend } from '../../archive/spend-archive.ts';
import { isUnreleased } from '../../archive/spend-state.ts';
import { createEvidenceVerifier } from '../../evidence-verifier.ts';
import { createEvmSpendChain } from '../../evm/evm-spend-chain.ts';
import { createEvmGasChain } from '../../evm/gas-chain.ts';
import {
  createSelfSubmitter,
  type SelfSubmitter,
  type SelfSubmitterOptions,
} from '../../evm/self-submitter.ts';
import type { Holder, HolderChain } from '../../holder/holder.ts';
import {
  createNotesPort,
  createSpendHolder,
  parseDestinations,
} from '../../holder/spend-inputs.ts';
import { createKeyLock } from '../../key-lock.ts';
import { type FollowedSpend, followSpend } from '../../spend/follow-spends.ts';
import { createSpender } from '../../spend/perform-spend.ts';
import {
  defaultSpendDeadlineSeconds,
  type FollowDeps,
  type SpendDeps,
  type SpendEvent,
} from '../../spend/spend-deps.ts';
import type { SpendJournal } from '../../spend/spend-journal.ts';
import type { SpendContext } from '../../spend/spend-ports.ts';
import type { DeliveredNote } from '../../sync/ports.ts';
import { serveKeptNotes } from '../../sync/read-deliveries.ts';
import { createHolderNotes } from '../holder/holder-notes.ts';
import type { Log } from '../log.ts';
import { assertSpendsKnown } from '../store/restored-state.ts';
import { openSentTransactions, sentTransactionsPath } from '../store/sent-transactions.ts';
import { openSpendArchive } from '../store/spend-archive.ts';
import { systemClock } from '../system-clock.ts';
import {
  isEqualWithdrawal,
  mayBePaid,
  refuseEqualWithdrawals,
  repetitionMs,
} from './equal-withdrawals.ts';
import { openSpendOwners } from './spend-owner.ts';

/** How often a chain that does not answer is asked about one spend, and the pause in between, in milliseconds. */
const followReadings = 3;
const followPauseMs = 2_000;

export type SelfSubmissionDeps = {
  readonly settings: {
    /** The agent directory. */
    readonly home: string;
    /** Pays the gas. */
    readonly gasPrivateKey: Secret;
    /** Wei for all gas of one transaction. */
    readonly gasCapWei: bigint;
    readonly holder: {
      readonly sendDestinations: ReadonlyMap<string, string>;
      readonly sendMaxAmount: bigint | undefined;
    };
  };
  readonly prover: SpendDeps['prover'];
  readonly holder: Holder;
  readonly chain: HolderChain;
  /** Sealed notes of the holder's own files. */
  readonly kept: readonly DeliveredNote[];
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onEvent: (event: SpendEvent) => void;
  readonly onSent: NonNullable<SelfSubmitterOptions['onSent']>;
};

export type WithdrawalRequest = {
  /** Symbol. */
  readonly token: string;
  /** Base units, decimal. */
  readonly amount: string;
  /** A pinned label. Undefined: the holder's own wallet. */
  readonly to?: string | undefined;
  readonly dryRun?: boolean;
  /** Equal withdrawals that were paid, and that the caller pays once more. */
  readonly accepted?: ReadonlySet<Hex32>;
};

/** As the body of a request. */
export function toSendBody({ token, amount, to, dryRun }: WithdrawalRequest): SendRequest {
  return {
    ...{ token, amount },
    ...(to === undefined ? {} : { to }),
    ...(dryRun === true ? { dryRun } : {}),
  };
}

/** What the chain says of the spends that were open. */
export type FollowedWithdrawals = {
  /** Withdrawals of which the outcome is stored now, oldest first. */
  readonly decided: readonly {
    readonly spend: ArchivedSpend;
    /** False: nothing of it had left, as far as the archive knew. */
    readonly wasSent: boolean;
  }[];
  /** outRoots for which the chain did not answer. They may be paid. */
  readonly unread: ReadonlySet<Hex32>;
};

export type SelfSubmission = {
  readonly submitter: Pick<SelfSubmitter, 'address' | 'quote'>;
  /**
   * Reads the chain once for each open spend of this holder on this chain, and stores what it has decided: a process that was killed could
   * not. That frees or uses up notes. Sends nothing.
   */
  follow(): Promise<FollowedWithdrawals>;
  /** Withdrawals of this holder on this chain that are not decided, oldest first. */
  listOpen(): Promise<readonly ArchivedSpend[]>;
  /**
   * Equal withdrawals that were paid or interrupted, or found to be paid, within {@link repetitionMs}, oldest first.
   * @param recipient - address
   */
  listPaid(
    request: Pick<WithdrawalRequest, 'token' | 'amount'>,
    recipient: string | undefined,
  ): Promise<readonly ArchivedSpend[]>;
  /**
   * @param open - a withdrawal that is underway: its own authorisation is submitted, and no other is made
   * @throws PoolError `equal_withdrawal` if another one began meanwhile; see `Spender.spend`
   */
  withdraw(request: WithdrawalRequest, open?: ArchivedSpend): Promise<SpendReceipt>;
  close(): Promise<void>;
};

export function openSelfSubmission(deps: SelfSubmissionDeps): SelfSubmission {
  const { settings, holder, chain, log, signal } = deps;
  const { home } = settings;
  const owners = openSpendOwners(home);
  const gasChain = createEvmGasChain(chain.settings);
  const spendChain = createEvmSpendChain(chain.settings);
  const sent = openSentTransactions(sentTransactionsPath(home));
  const archive = openSpendArchive(join(home, 'spends.sqlite'), (outRoot) => {
    log.error(
      { outRoot },
      'a spend in the archive cannot be read: it is not continued, an equal one is not recognised, and its notes stay locked; restore spends.sqlite from a backup',
    );
  });
  const notes = createHolderNotes({
    ...{ home, log },
    openHolder: async () => holder,
    findChain: () => chain,
    createDeliveries: () => serveKeptNotes(deps.kept),
  });
  const submitter = createSelfSubmitter({
    chain: gasChain,
    gasKey: settings.gasPrivateKey,
    capWei: settings.gasCapWei,
    store: sent,
    nowMs: systemClock.nowMs,
    steadyMs: systemClock.steadyMs,
    onSent: deps.onSent,
  });
  // One proof takes all memory that a small machine has.
  const locks = createKeyLock();
  const context: SpendContext = { ...chain, chain: spendChain };
  const isHere = (spend: Pick<ArchivedSpend, 'chain' | 'chainId' | 'pool'>): boolean =>
    spend.chain === chain.key &&
    spend.chainId === chain.settings.chainId &&
    spend.pool === chain.settings.pool;

  const followDeps: FollowDeps = {
    clock: systemClock,
    findChain: (key) => (key === chain.key ? context : undefined),
    platform: { transfer: submitter, send: submitter },
    archive,
    patienceMs: 60_000,
    signal,
    onEvent: deps.onEvent,
    onFaultPoint: async () => undefined,
  };

  /** A chain that fails once is asked again. */
  async function followPatiently(spend: ArchivedSpend): Promise<FollowedSpend> {
    for (let reading = 1; ; reading += 1) {
      signal.throwIfAborted();
      const followed = await followSpend(spend, followDeps);
      if (followed.kind !== 'unread' || reading === followReadings) {
        return followed;
      }
      await systemClock.sleep(followPauseMs, signal);
    }
  }

  function createDeps(journal: SpendJournal, accepted: ReadonlySet<Hex32>): SpendDeps {
    return {
      ...followDeps,
      owner: owners.own,
      route: () => context,
      holder: createSpendHolder(holder),
      signer: holder.signer,
      lookup: { lookupRecipients: async () => Promise.reject(noTransfers()) },
      evidence: createEvidenceVerifier({
        domain: { domain: '', uri: '' },
        pins: { pinAll: async (evidence) => evidence.map(() => false) },
        nowMs: systemClock.nowMs,
      }),
      hasGate: false,
      gate: undefined,
      destinations: parseDestinations(settings.holder.sendDestinations),
      ceilings: { transfer: undefined, send: settings.holder.sendMaxAmount },
      notes: createNotesPort({ notes, chains: new Map([[chain.key, chain]]) }),
      prover: deps.prover,
      archive: refuseEqualWithdrawals(archive, accepted, chain.settings.tokens, systemClock.nowMs),
      journal,
      assertSpendsKnown: () => assertSpendsKnown(home, systemClock.nowMs()),
      acquireAccelerator: (waiting) => locks.acquire('accelerator', waiting),
      randomBytes: (length) => randomBytes(length),
      deadlineSeconds: defaultSpendDeadlineSeconds,
      pollMs: 2_000,
    };
  }

  return {
    submitter,
    async follow() {
      const decided: FollowedWithdrawals['decided'][number][] = [];
      const unread = new Set<Hex32>();
      for (const spend of await archive.listOpen()) {
        if (isHere(spend) && spend.secrets?.manifest.walletPub === holder.walletPub) {
          const followed = await followPatiently(spend);
          if (followed.kind === 'unread') {
            unread.add(spend.outRoot);
          }
          if (followed.kind === 'decided' && spend.operation === 'send') {
            decided.push({ spend: followed.spend, wasSent: !isUnreleased(spend.state) });
          }
        }
      }
      return { decided, unread };
    },
    listOpen: async () =>
      (await archive.listOpen()).filter(
        (spend) => spend.operation === 'send' && isHere(spend) && isContinuable(spend, holder),
      ),
    async listPaid({ token, amount }, recipient) {
      const { chainId, pool, tokens } = chain.settings;
      const address = Object.hasOwn(tokens, token) ? tokens[token]?.address : undefined;
      const recent = await archive.listRecent(systemClock.nowMs() - repetitionMs);
      return recent.filter(
        (spend) =>
          mayBePaid(spend) &&
          address !== undefined &&
          isEqualWithdrawal(spend, {
            ...{ chainId, pool, token: address, amount, recipient },
            walletPub: holder.walletPub,
          }),
      );
    },
    async withdraw(request, open) {
      const { dryRun, accepted = new Set() } = request;
      if (dryRun !== true && open === undefined) {
        assertSpendsKnown(home, systemClock.nowMs());
      }
      const spender = createSpender(createDeps(createOneSpendJournal(open), accepted));
      return spender.spend({ operation: 'send', key: 'self-submit', body: toSendBody(request) });
    },
    async close() {
      await notes.close();
      gasChain.close();
      spendChain.close();
      archive.close();
      owners.close();
      sent.close();
    },
  };
}

/**
 * A journal of one process and one key. The archive is what survives: a withdrawal that is open is found there.
 * @param open - what the key stands for from the beginning
 */
function createOneSpendJournal(open: ArchivedSpend | undefined): SpendJournal {
  let fingerprint: string | undefined;
  const spends = new Map(open === undefined ? [] : [[1, open.outRoot]]);
  return {
    findFingerprint: async () => fingerprint,
    async claim(_key, claimed) {
      fingerprint ??= claimed;
      return fingerprint;
    },
    async findSpend(_key, attempt) {
      if (open !== undefined && attempt > 1) {
        throw new PoolError(
          'invalid_request',
          'the withdrawal that was open was given up before anything of it was sent; run the command again to begin one',
        );
      }
      return spends.get(attempt);
    },
    async bindSpend(_key, attempt, outRoot) {
      const bound = spends.get(attempt) ?? outRoot;
      spends.set(attempt, bound);
      return bound;
    },
  };
}

/**
 * False for a spend of another holder of this directory, and for one without a signature whose signer draws a fresh nonce each time: a
 * second signature over one m would reveal W (protocol §7), and the first one may have left through another copy of the archive.
 */
function isContinuable({ secrets, state }: ArchivedSpend, holder: Holder): boolean {
  const isSigned = state.kind === 'signed' || state.kind === 'released';
  return (
    secrets?.manifest.walletPub === holder.walletPub &&
    (isSigned || (state.kind === 'archived' && holder.signer.deterministic))
  );
}

function noTransfers(): PoolError {
  return new PoolError(
    'invalid_request',
    'only withdrawals are submitted with DISBURSE_GAS_PRIVATE_KEY; a transfer needs the platform and the gate',
  );
}
