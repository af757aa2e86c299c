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
  computeAssetId,
  type EvmAddress,
  fieldToHex,
  isPoolError,
  PoolError,
  parseEvmAddress,
  parseWalletPub,
  type Secret,
  type SpendOperationName,
  type SpendReceipt,
} from '@pool/core';
import { createMemoryStore } from '@pool/idempotency';
import {
  createEvmSpendChain,
  createSpender,
  createSpendJournal,
  defaultSpendDeadlineSeconds,
  type EvidenceVerifier,
  type EvmSpendChain,
  eraseExpiredSpends,
  followSpends,
  type HolderNote,
  type KeyLock,
  type SpendCall,
  type SpendContext,
  type SpendDeps,
  type SpendEvent,
  type Spender,
  type SpendPlatformPort,
  type SpendProverPort,
} from '@pool/operations';
import type { EdgeClient } from '@pool/platform-client';
import type { HolderConfig } from '../config/holder-config.ts';
import { variables } from '../config/variables.ts';
import { openSpendArchive } from '../state/spend-archive.ts';
import type { AgentLog } from './agent-log.ts';
import { systemClock } from './agent-parts.ts';
import type { GateSource } from './gate-source.ts';
import type { Holder } from './holder.ts';
import type { HolderChain, HolderNotes } from './holder-notes.ts';

/** Pause between two looks at spends that nobody waits for, in milliseconds. */
const followPauseMs = 15_000;

/** Pause between two passes of retention, in milliseconds. */
const erasePauseMs = 3_600_000;

export type HolderSpends = {
  /** @throws PoolError; see `Spender.spend` of @pool/operations */
  spend(call: SpendCall): Promise<SpendReceipt>;
  /** Ends waits. A spend that may have left is watched again at the next start. */
  close(): Promise<void>;
};

export type HolderSpendsDeps = {
  /** The agent directory. Undefined: nothing is written to disk. */
  readonly home: string | undefined;
  readonly log: AgentLog;
  readonly holder: HolderConfig;
  readonly retentionDays: number;
  /** @throws PoolError if the configuration has no usable holder */
  readonly openHolder: () => Promise<Holder>;
  /** The chain of holder operations. @throws PoolError `invalid-chain`, 503 before bootstrap */
  readonly findChain: () => HolderChain;
  /** A chain of chains.json by its key. */
  readonly findChainByKey: (key: string) => HolderChain | undefined;
  readonly notes: Pick<HolderNotes, 'listSpendable' | 'computePaths'>;
  readonly lookup: SpendDeps['lookup'];
  readonly evidence: EvidenceVerifier;
  readonly gates: Pick<GateSource, 'isConfigured' | 'port'>;
  readonly prover: SpendProverPort;
  readonly locks: KeyLock;
  /** A client of `/agent-edge` with the API key of a role. */
  readonly createEdge: (token: Secret) => Pick<EdgeClient, 'postSpend' | 'getSpend'>;
  readonly createChain?: (settings: HolderChain['settings']) => EvmSpendChain;
};

export function createHolderSpends(deps: HolderSpendsDeps): HolderSpends {
  const { log, holder: config, createChain = createEvmSpendChain } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const archive = openSpendArchive(
    deps.home === undefined ? ':memory:' : join(deps.home, 'spends.sqlite'),
  );
  const chains = new Map<string, { readonly of: HolderChain; readonly chain: EvmSpendChain }>();
  let spender: Promise<Spender> | undefined;

  function toContext(chain: HolderChain): SpendContext {
    const known = chains.get(chain.key);
    if (known !== undefined && known.of.settings === chain.settings) {
      return { ...chain, chain: known.chain };
    }
    const opened = createChain(chain.settings);
    chains.set(chain.key, { of: chain, chain: opened });
    return { ...chain, chain: opened };
  }

  /** Everything except the holder's own keys. */
  const base = {
    clock: systemClock,
    route: () => toContext(deps.findChain()),
    findChain: (key: string) => {
      const chain = deps.findChainByKey(key);
      return chain === undefined ? undefined : toContext(chain);
    },
    platform: {
      transfer: createRolePlatform('transfer', config.transferToken, deps),
      send: createRolePlatform('send', config.sendToken, deps),
    },
    archive,
    pollMs: 1_000,
    patienceMs: 60_000,
    signal,
    onEvent: (event: SpendEvent) => logSpendEvent(log, event),
    onFaultPoint: async () => undefined,
  };

  async function openSpender(): Promise<Spender> {
    const holder = await deps.openHolder();
    if (holder.family.name !== 'evm') {
      throw new PoolError(
        'holder_unsupported',
        'this repository has no pool on the chain of this holder, so it cannot spend',
      );
    }
    const { encryptionPublicKey, viewingKey } = holder;
    return createSpender({
      ...base,
      holder: {
        walletPub: parseWalletPub(holder.walletPub),
        address: parseEvmAddress(holder.address),
        changeKey: encryptionPublicKey,
        viewingKeyOf: (key) => (key === encryptionPublicKey ? viewingKey : undefined),
      },
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
      destinations: parseDestinations(config.sendDestinations),
      ceilings: { transfer: config.transferMaxAmount, send: config.sendMaxAmount },
      notes: createNotesPort(deps, encryptionPublicKey),
      prover: deps.prover,
      journal: createSpendJournal(createMemoryStore(), holder.address, systemClock.nowMs),
      acquireAccelerator: (waiting) => deps.locks.acquire('accelerator', waiting),
      randomBytes: (length) => randomBytes(length),
      deadlineSeconds: defaultSpendDeadlineSeconds,
    });
  }

  const following = followSpends(base, followPauseMs);
  const erasing = eraseRepeatedly();

  async function eraseRepeatedly(): Promise<void> {
    while (!signal.aborted) {
      try {
        await eraseExpiredSpends(archive, deps.retentionDays, systemClock.nowMs());
      } catch (error) {
        log.warn({ code: isPoolError(error) ? error.code : 'unknown' }, 'spends were not erased');
      }
      await systemClock.sleep(erasePauseMs, signal).catch(() => undefined);
    }
  }

  return {
    async spend(call) {
      requireRoleToken(call.operation, config);
      spender ??= openSpender().catch((error: unknown) => {
        spender = undefined;
        throw error;
      });
      return (await spender).spend(call);
    },
    async close() {
      stopping.abort();
      await Promise.all([following, erasing]);
      for (const { chain } of chains.values()) {
        chain.close();
      }
      archive.close();
    },
  };
}

const roleTokens = {
  transfer: variables.transferToken.name,
  send: variables.sendToken.name,
} as const satisfies Record<SpendOperationName, string>;

/** @throws PoolError `role_token_missing` */
function requireRoleToken(operation: SpendOperationName, config: HolderConfig): void {
  const token = operation === 'transfer' ? config.transferToken : config.sendToken;
  if (token === undefined) {
    throw createRoleTokenMissing(operation);
  }
}

function createRoleTokenMissing(operation: SpendOperationName): PoolError {
  return new PoolError(
    'role_token_missing',
    `${roleTokens[operation]} is required for ${operation}: mint an API key with the capability holder.${operation}, set the variable and restart the agent`,
  );
}

/** The spend routes of the platform, called with the agent's own key of the role. */
function createRolePlatform(
  operation: SpendOperationName,
  token: Secret | undefined,
  { createEdge }: HolderSpendsDeps,
): SpendPlatformPort {
  const edge = token === undefined ? undefined : createEdge(token);
  const requireEdge = () => {
    if (edge === undefined) {
      throw createRoleTokenMissing(operation);
    }
    return edge;
  };
  return {
    postSpend: async (key, submission) => requireEdge().postSpend(key, submission),
    getSpend: async (key) => requireEdge().getSpend(key),
  };
}

function createNotesPort(
  { notes, findChain }: HolderSpendsDeps,
  encryptionPublicKey: HolderNote['encryptionPublicKey'],
): SpendDeps['notes'] {
  let asked = '';
  return {
    async listSpendable(assetId) {
      const { chainId, pool, tokens } = findChain().settings;
      const [symbol = ''] =
        Object.entries(tokens).find(
          ([, { address }]) => computeAssetId(chainId, pool, address) === assetId,
        ) ?? [];
      asked = symbol;
      const owned = await notes.listSpendable(symbol);
      return owned.map(({ commitment, amount, nonce, nullifier }) => ({
        commitment,
        amount,
        nonce,
        nullifier,
        encryptionPublicKey,
      }));
    },
    computePaths: (chosen) =>
      notes.computePaths(
        asked,
        chosen.map(({ commitment }) => fieldToHex(commitment)),
      ),
  };
}

function parseDestinations(
  destinations: ReadonlyMap<string, string>,
): ReadonlyMap<string, EvmAddress> {
  return new Map([...destinations].map(([label, address]) => [label, parseEvmAddress(address)]));
}

/** Stages and codes only: no key, payee or amount. */
function logSpendEvent(log: AgentLog, event: SpendEvent): void {
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
    case 'outcome':
      log.info({ state: event.state }, 'spend ended');
      return;
    case 'progress':
      return;
  }
}
