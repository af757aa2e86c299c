/**
 * The holder's spends inside the agent: what `@pool/operations` needs for a transfer or a withdrawal, from the holder, its notes, the
 * chain, the platform and the gate. The archive is opened when the agent starts, and the spends of a process that was killed are watched
 * from then on.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  type Consolidation,
  errorCodeOf,
  type Hex32,
  PoolError,
  type Secret,
  type SpendOperationName,
  type SpendReceipt,
} from '@pool/core';
import type { JobStore } from '@pool/idempotency';
import type { EdgeClient } from '@pool/platform-client';
import type { KeptOpenings } from '../../archive/kept-openings.ts';
import type { LockedNotes } from '../../archive/locked-notes.ts';
import type { ArchivedSpend } from '../../archive/spend-archive.ts';
import type { SpendFaultPoint } from '../../archive/spend-state.ts';
import { type Consolidator, createConsolidator } from '../../consolidate/consolidate.ts';
import {
  countSweepable,
  type SweepCounts,
  type SweepStep,
  sweepOnce,
} from '../../consolidate/sweep-notes.ts';
import type { EvidenceVerifier } from '../../evidence-verifier.ts';
import { createEvmSpendChain, type EvmSpendChain } from '../../evm/evm-spend-chain.ts';
import type { Holder, HolderChain } from '../../holder/holder.ts';
import {
  createNotesPort,
  createSpendHolder,
  parseDestinations,
  readLocked,
  type SpendableNotes,
} from '../../holder/spend-inputs.ts';
import type { KeyLock } from '../../key-lock.ts';
import { followSpends } from '../../spend/follow-spends.ts';
import { withdrawSpendRequest } from '../../spend/give-up-spend.ts';
import { createSpender, type SpendCall, type Spender } from '../../spend/perform-spend.ts';
import type { OrphanRule, SpendDeps, SpendEvent } from '../../spend/spend-deps.ts';
import { defaultSpendDeadlineSeconds } from '../../spend/spend-deps.ts';
import { createSpendJournal } from '../../spend/spend-journal.ts';
import type {
  SpendContext,
  SpendGatePort,
  SpendPlatformPort,
  SpendProverPort,
} from '../../spend/spend-ports.ts';
import type { Log } from '../log.ts';
import { assertSpendsKnown as assertNotRestored } from '../store/restored-state.ts';
import { openSpendArchive } from '../store/spend-archive.ts';
import { systemClock } from '../system-clock.ts';
import { warnOfShortGrace } from './registry-grace.ts';
import { keepSpends } from './spend-keeping.ts';
import { openSpendOwners } from './spend-owner.ts';
import { createSpendProgress, type SpendProgress } from './spend-progress.ts';

/** Pause between two looks at spends that nobody waits for, in milliseconds. */
const followPauseMs = 15_000;

export type HolderSpends = {
  /** Performs one step of a consolidation. @throws PoolError; see `Consolidator` of @pool/operations */
  consolidate(body: unknown): Promise<Consolidation>;
  /** @throws PoolError; see `Spender.spend` of @pool/operations */
  spend(call: SpendCall): Promise<SpendReceipt>;
  /** For a terminal that waits for a spend. */
  progress(operation: SpendOperationName, key: string): SpendProgress;
  /**
   * What spends that are underway hold of the unspent notes of a token on the chain of the holder. Undefined: nothing.
   * @throws PoolError like `HolderNotes.readBalance`
   */
  locked(symbol: string): Promise<LockedNotes | undefined>;
  /** A spend of this agent's archive. */
  find(outRoot: Hex32): Promise<ArchivedSpend | undefined>;
  /**
   * One step of bringing notes of earlier P under the present one.
   * @param symbol - token
   * @param encryptionPublicKey - P that the caller expects the agent to have
   * @param isDryRun - reads and counts the notes, and moves none. Only then `openChange` is counted
   * @throws PoolError 409 `viewing_key_mismatch`; see `sweepOnce` of @pool/operations
   */
  sweep(
    symbol: string,
    encryptionPublicKey: string,
    isDryRun?: boolean,
  ): Promise<SweepStep & Partial<SweepCounts>>;
  /** Ends waits. A spend that may have left is watched again at the next start. */
  close(): Promise<void>;
};

/** What the configuration says of spends. */
export type SpendSettings = {
  /** API key of the role; undefined: this agent makes no transfers. */
  readonly transferToken: Secret | undefined;
  /** Pinned destinations: name → address. */
  readonly sendDestinations: ReadonlyMap<string, string>;
  /** Base units of one operation; undefined: no limit. */
  readonly transferMaxAmount: bigint | undefined;
  readonly sendMaxAmount: bigint | undefined;
  /** How long a vote may take. */
  readonly voteLimitSeconds: number;
  /** The signer outside this process, if the key is there. */
  readonly remote: object | undefined;
};

export type HolderSpendsDeps = {
  /** The agent directory. Undefined: nothing is written to disk. */
  readonly home: string | undefined;
  readonly log: Log;
  readonly settings: SpendSettings;
  /** @throws PoolError `holder_unavailable` */
  readonly requireRoleToken: (operation: SpendOperationName) => Secret;
  /** @throws PoolError `holder_read_only` */
  readonly assertSigns: () => void;
  readonly retentionDays: number;
  /** Stores the openings of a spend before its payees and seed are erased. */
  readonly keepOpenings: (openings: KeptOpenings) => Promise<void>;
  /** Keys of spends, and nothing else. Closed with the spends. */
  readonly journal: JobStore;
  /** @throws PoolError if the configuration has no usable holder */
  readonly openHolder: () => Promise<Holder>;
  /** The chain of holder operations. @throws PoolError `invalid-chain`, 503 before bootstrap */
  readonly findChain: () => HolderChain;
  /** The chains of chains.json that have a pool, by key. */
  readonly chains: ReadonlyMap<string, HolderChain>;
  readonly notes: SpendableNotes;
  readonly lookup: SpendDeps['lookup'];
  readonly evidence: EvidenceVerifier;
  readonly gates: {
    isConfigured(): boolean;
    /** Undefined: no gate is known now. */
    port(): SpendGatePort | undefined;
  };
  readonly prover: SpendProverPort;
  readonly locks: KeyLock;
  /** A client of `/agent-edge` with the API key of a role. */
  readonly createEdge: (token: Secret) => Pick<EdgeClient, 'postSpend' | 'getSpend'>;
  /** Called at each point of a spend. Tests end the process there. */
  readonly onFaultPoint: (point: SpendFaultPoint) => Promise<void>;
  readonly createChain?: (settings: HolderChain['settings']) => EvmSpendChain;
};

export function createHolderSpends(deps: HolderSpendsDeps): HolderSpends {
  const { log, settings, requireRoleToken, createChain = createEvmSpendChain } = deps;
  const owners = openSpendOwners(deps.home);
  const stopping = new AbortController();
  const { signal } = stopping;
  const archive = openSpendArchive(
    deps.home === undefined ? ':memory:' : join(deps.home, 'spends.sqlite'),
    (outRoot) => {
      log.error(
        { outRoot },
        'a spend in the archive cannot be read: nobody follows it, and its notes stay locked; restore spends.sqlite from a backup',
      );
    },
  );
  const chains = new Map<string, { readonly of: HolderChain; readonly chain: EvmSpendChain }>();
  const progress = createSpendProgress(systemClock.nowMs);
  let opened: Promise<Opened> | undefined;

  function openChain(chain: HolderChain): EvmSpendChain {
    const known = chains.get(chain.key);
    if (known !== undefined && known.of.settings === chain.settings) {
      return known.chain;
    }
    const opened = createChain(chain.settings);
    chains.set(chain.key, { of: chain, chain: opened });
    return opened;
  }

  const toContext = (chain: HolderChain): SpendContext => ({ ...chain, chain: openChain(chain) });

  /** Everything except the holder's own keys. */
  const base = {
    clock: systemClock,
    owner: owners.own,
    route: (key?: string) =>
      toContext(key === undefined ? deps.findChain() : requireChain(key, deps)),
    findChain: (key: string) => {
      const chain = deps.chains.get(key);
      return chain === undefined ? undefined : toContext(chain);
    },
    platform: {
      transfer: createRolePlatform('transfer', deps),
      send: createRolePlatform('send', deps),
    },
    archive,
    pollMs: 1_000,
    patienceMs: 60_000,
    signal,
    onEvent: (event: SpendEvent) => logSpendEvent(log, event),
    onFaultPoint: deps.onFaultPoint,
  };

  type Opened = {
    readonly spender: Spender;
    readonly consolidator: Consolidator;
    readonly deps: SpendDeps;
  };

  async function openSpender(): Promise<Opened> {
    const holder = await deps.openHolder();
    if (holder.family.name !== 'evm') {
      throw new PoolError(
        'holder_unsupported',
        'this repository has no pool on the chain of this holder, so it cannot spend',
      );
    }
    const spendDeps: SpendDeps = {
      ...base,
      holder: createSpendHolder(holder),
      signer: holder.signer,
      lookup: deps.lookup,
      evidence: deps.evidence,
      // Getters: bootstrap can vend another gate meanwhile.
      get hasGate() {
        return deps.gates.isConfigured();
      },
      get gate() {
        return deps.gates.port();
      },
      destinations: parseDestinations(settings.sendDestinations),
      ceilings: { transfer: settings.transferMaxAmount, send: settings.sendMaxAmount },
      notes: createNotesPort(deps),
      prover: deps.prover,
      journal: createSpendJournal(deps.journal, holder.address, systemClock.nowMs),
      assertSpendsKnown,
      acquireAccelerator: (waiting) => deps.locks.acquire('accelerator', waiting),
      randomBytes: (length) => randomBytes(length),
      deadlineSeconds:
        defaultSpendDeadlineSeconds +
        (holder.signer.needsVote === true ? settings.voteLimitSeconds : 0),
    };
    return {
      spender: createSpender(spendDeps),
      consolidator: createConsolidator(spendDeps),
      deps: spendDeps,
    };
  }

  function findOpened(): Promise<Opened> {
    opened ??= openSpender().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  }

  function assertMaySpend(operation: SpendOperationName): void {
    requireRoleToken(operation);
    assertSpendsKnown();
  }

  function assertSpendsKnown(): void {
    if (deps.home !== undefined) {
      assertNotRestored(deps.home, systemClock.nowMs());
    }
  }

  /** Opens the holder only if a request may be at its signer. */
  async function withdraw(spend: ArchivedSpend): Promise<void> {
    try {
      await withdrawSpendRequest(spend, (await findOpened()).deps);
    } catch (error) {
      base.onEvent({ kind: 'not-withdrawn', code: errorCodeOf(error) ?? 'internal_error' });
    }
  }

  const orphans: OrphanRule = {
    isOrphan: (performer) => owners.hasEnded(performer) && isComplete(),
    isRemote: settings.remote !== undefined,
  };

  /** False for a while after a restore: the archive does not have everything that was sent. */
  function isComplete(): boolean {
    try {
      assertSpendsKnown();
      return true;
    } catch {
      return false;
    }
  }

  const following = followSpends({ ...base, withdraw, orphans }, followPauseMs);
  const keeping = keepSpends({
    archive,
    notes: deps.notes,
    chains: deps.chains,
    retentionDays: deps.retentionDays,
    keepOpenings: deps.keepOpenings,
    log,
    clock: systemClock,
    signal,
  });
  const checkingGrace = settings.transferToken === undefined ? undefined : checkGrace();

  function checkGrace(): Promise<void> {
    const readers = [...deps.chains.values()].map((chain) => ({
      key: chain.key,
      fetchGraceSeconds: () => openChain(chain).fetchGraceSeconds(),
    }));
    return warnOfShortGrace(readers, { log, clock: systemClock, signal });
  }

  return {
    async spend(call) {
      deps.assertSigns();
      if (call.isAttached === true || isDryRun(call.body)) {
        requireRoleToken(call.operation);
      } else {
        assertMaySpend(call.operation);
      }
      const found = findOpened();
      const { note, end } = progress.begin(call.operation, call.key);
      try {
        const { spender } = await found;
        return await spender.spend({ ...call, onEvent: note });
      } finally {
        end();
      }
    },
    async consolidate(body) {
      if (isDryRun(body)) {
        requireRoleToken('transfer');
      } else {
        assertMaySpend('transfer');
      }
      return await (await findOpened()).consolidator.consolidate(body);
    },
    async sweep(symbol, encryptionPublicKey, isDryRun) {
      assertMaySpend('transfer');
      const { deps: spendDeps } = await findOpened();
      if (spendDeps.holder.changeKey !== encryptionPublicKey) {
        throw new PoolError(
          'viewing_key_mismatch',
          `the agent that runs has the encryption key ${spendDeps.holder.changeKey}, and not ${encryptionPublicKey}: restart it, so that it reads its configuration again`,
        );
      }
      return isDryRun === true
        ? { receipt: undefined, ...(await countSweepable(symbol, spendDeps)) }
        : await sweepOnce(symbol, spendDeps);
    },
    progress: progress.of,
    locked: (symbol) => readLocked(symbol, deps.findChain().key, { notes: deps.notes, archive }),
    find: (outRoot) => archive.get(outRoot),
    async close() {
      stopping.abort();
      await Promise.all([following, keeping, checkingGrace]);
      for (const { chain } of chains.values()) {
        chain.close();
      }
      archive.close();
      owners.close();
      await deps.journal.close();
    },
  };
}

/** @throws PoolError `invalid-chain` */
function requireChain(key: string, { chains }: HolderSpendsDeps): HolderChain {
  const chain = chains.get(key);
  if (chain === undefined) {
    const known = [...chains.keys()].sort().join(', ');
    throw new PoolError(
      'invalid-chain',
      `the chain is not in chains.json, or has no pool; configured chains: ${known}`,
    );
  }
  return chain;
}

/** A dry run has no effect. */
function isDryRun(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'dryRun' in body && body.dryRun === true;
}

/** The spend routes of the platform, called with the agent's own key of the role. */
function createRolePlatform(
  operation: SpendOperationName,
  { createEdge, requireRoleToken }: HolderSpendsDeps,
): SpendPlatformPort {
  let edge: ReturnType<typeof createEdge> | undefined;
  const requireEdge = () => (edge ??= createEdge(requireRoleToken(operation)));
  return {
    postSpend: async (key, submission) => requireEdge().postSpend(key, submission),
    getSpend: async (key) => requireEdge().getSpend(key),
  };
}

/** Stages and codes only: no key, payee or amount. */
function logSpendEvent(log: Log, event: SpendEvent): void {
  switch (event.kind) {
    case 'stage':
      log.info({ stage: event.stage }, 'spend entered a stage');
      return;
    case 'retry':
      log.warn({ code: event.code }, 'spend tries again');
      return;
    case 'refused':
      log.warn({ code: event.code }, 'the spend was refused; it can still land');
      return;
    case 'withdrawn':
      log.info({}, 'the request of a spend that was given up does not wait for votes any more');
      return;
    case 'not-withdrawn':
      log.warn(
        { code: event.code },
        'the request of a spend that was given up may still wait for votes, which have no effect; deny it at the custodian',
      );
      return;
    case 'outcome':
      log.info({ state: event.state }, 'spend ended');
      return;
    case 'progress':
      return;
  }
}
