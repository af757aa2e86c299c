/**
 * A holder's wallet in a browser: the notes, spends and history of one account in one pool, over the stores of the origin, a chain RPC and
 * a platform. Run it in a worker. Nothing here touches a page.
 *
 * @module
 */
import type { History } from '@pool/api';
import {
  type Consolidation,
  chainFamilies,
  type Disclosure,
  type EvidenceDomain,
  type EvmAddress,
  type EvmChainSettings,
  PoolError,
  parseEvmAddress,
  type Secret,
  type SpendReceipt,
} from '@pool/core';
import { createNoteScanner, type NoteScanner } from '@pool/notes';
import { createConsolidator } from '../consolidate/consolidate.ts';
import { createEvidenceVerifier } from '../evidence-verifier.ts';
import { createEvmHistory } from '../evm/evm-history.ts';
import { createEvmRecords } from '../evm/evm-records.ts';
import { createEvmSpendChain, type EvmSpendChain } from '../evm/evm-spend-chain.ts';
import type { ReceivedSources } from '../evm/received-insertions.ts';
import type { Holder, HolderChain } from '../holder/holder.ts';
import { createNotesPort, createSpendHolder, readLocked } from '../holder/spend-inputs.ts';
import {
  createMemoryFacts,
  createWalletHistory,
  type HistoryRecords,
  type HistoryRequest,
} from '../holder/wallet-history.ts';
import { type ClosableHistory, createWalletNotes } from '../holder/wallet-notes.ts';
import { createKeyLock } from '../key-lock.ts';
import { serializeIdentity } from '../note-files/note-json.ts';
import type { Clock } from '../ports.ts';
import { followSpends } from '../spend/follow-spends.ts';
import { createSpender, type SpendCall } from '../spend/perform-spend.ts';
import {
  defaultSpendDeadlineSeconds,
  type SpendDeps,
  type SpendEvent,
} from '../spend/spend-deps.ts';
import type { SpendContext, SpendProverPort } from '../spend/spend-ports.ts';
import type { SyncProgress } from '../sync/ports.ts';
import { serveKeptNotes } from '../sync/read-deliveries.ts';
import { type BrowserContacts, createBrowserContacts } from './browser-contacts.ts';
import { disclosePayslips, type PayslipDisclosure } from './disclose.ts';
import { assertUnlinked, createExitSubmitter, type ExitOptions, type ExitPlan } from './exit.ts';
import {
  type ChosenKey,
  createPaymentKeys,
  type Transfer,
  type Withdrawal,
} from './payment-keys.ts';
import {
  createPlatformCalls,
  type EdgeCalls,
  type MintKey,
  tolerateSilence,
} from './platform-calls.ts';
import {
  type BrowserDamage,
  type BrowserStores,
  openBrowserStores,
} from './store/browser-stores.ts';
import type { StorageKey } from './store/sealer.ts';
import { openTabOwner, type TabLocks } from './store/tab-owner.ts';

export type BrowserWalletOptions = {
  /** The caller closes it after the wallet. `address` is in checksum form; `storageKey` is an AES-256-GCM key of WebCrypto. */
  readonly account: Omit<Holder, 'family' | 'earlier'> & { readonly storageKey: StorageKey };
  /** Its RPC is the authority for what is in the pool. */
  readonly chain: HolderChain;
  /** A client of the platform's `/agent-edge` with one key, for example `createEdgeClient` of @pool/platform-client. */
  readonly createEdge: (token: Secret) => EdgeCalls;
  /** Makes a key of the account at the platform, in a session of its own. Called when none is stored, or the stored one is refused. */
  readonly mintKey: MintKey;
  /** The platform's sign-in domain and URI: keys of payees are accepted from sign-ins there only. */
  readonly evidence: EvidenceDomain;
  readonly prover: SpendProverPort;
  /** The platform is gone: nothing but `contacts.add` calls it, and withdrawals are sent to the chain from here. There are no transfers. */
  readonly exit?: ExitOptions | undefined;
  readonly onEvent?: (event: SpendEvent) => void;
  readonly onDamage?: (what: BrowserDamage) => void;
  /** What tests replace. */
  readonly ports?: Partial<BrowserPorts>;
};

export type BrowserPorts = {
  readonly clock: Clock;
  readonly locks: TabLocks | undefined;
  readonly createHistory: (settings: EvmChainSettings) => ClosableHistory;
  readonly createRecords: (
    settings: EvmChainSettings,
  ) => HistoryRecords & ReceivedSources['records'];
  readonly createChain: (settings: EvmChainSettings) => EvmSpendChain;
  readonly createScanner: () => Promise<NoteScanner>;
  readonly createSubmitter: typeof createExitSubmitter;
  readonly onFaultPoint: SpendDeps['onFaultPoint'];
};

/** Confidential. Amounts are base units. */
export type BrowserBalance = {
  readonly total: bigint;
  /** Not held by a spend that is underway. */
  readonly spendable: bigint;
  readonly notes: number;
  /** The newest block that was read. */
  readonly asOfBlock: number;
  /**
   * Unix time of the last answer of a platform that cannot be reached, 0 if this browser has none. What payers sent since then is missing, or
   * its amount is. Undefined: the platform answers, or is not asked because of `exit`.
   */
  readonly silentSinceMs: number | undefined;
};

export type SpendOptions = {
  /** A name of this payment that the caller chose before, for example with {@link BrowserWallet.chooseKey}. A second call with it reads the same outcome, also after a closed tab. */
  readonly key: string;
  readonly onEvent?: (event: SpendEvent) => void;
};

/** Every method throws PoolError. */
export type BrowserWallet = {
  /** Reads chain and platform, or the chain alone while the platform cannot be reached. */
  readBalance(token: string): Promise<BrowserBalance>;
  /** One page, oldest first. */
  readHistory(request: HistoryRequest): Promise<History>;
  /** Where the withdrawals that this browser began went. No node can add an address. */
  listDestinations(): Promise<readonly EvmAddress[]>;
  /** Checks a withdrawal and chooses its notes. Nothing is proved, stored or sent. */
  planWithdrawal(withdrawal: Withdrawal): Promise<SpendReceipt>;
  /** {@link BrowserWallet.planWithdrawal} of a wallet with `exit`, with its cost and what it publishes. */
  planExit(withdrawal: Withdrawal): Promise<ExitPlan>;
  /**
   * A key for a payment. Equal payments have one key until the chain has decided, for a day after the last one, in all tabs and at the next
   * visit: what is repeated because nobody saw its outcome is paid once. Show `earlier` before you pay. Afterwards equal payments have another
   * key: a payment under it is made beside the earlier one.
   */
  chooseKey(payment: Withdrawal | Transfer): Promise<ChosenKey>;
  /** Returns once a final block has it. */
  withdraw(withdrawal: Withdrawal, options: SpendOptions): Promise<SpendReceipt>;
  transfer(transfer: Transfer, options: SpendOptions): Promise<SpendReceipt>;
  /**
   * Performs one step of merging notes into fewer.
   * @param token - symbol
   * @param until - base units that one spend must cover afterwards. Undefined: everything
   */
  consolidate(token: string, until?: bigint): Promise<Consolidation>;
  readonly contacts: BrowserContacts;
  /** A signed document that proves payslips to an auditor, and not who paid. Confidential. */
  disclose(payslips: PayslipDisclosure): Promise<Disclosure>;
  /** Records of the page itself, sealed like the others. Its tables have names of their own. */
  readonly openRecords: BrowserStores['openRecords'];
  /** Of the reading that runs, or of the last one. */
  progress(): SyncProgress;
  /** Ends waits, and wipes the keys of the stores. A spend that may have left is watched again at the next visit. */
  close(): Promise<void>;
};

/** Pause between two looks at spends that nobody waits for, in milliseconds. */
const followPauseMs = 15_000;

/**
 * Opens the wallet of an account. Spends of closed tabs are watched from now on.
 *
 * @example
 * const wallet = await openBrowserWallet({ account, chain, createEdge, mintKey, evidence, prover });
 * const { spendable } = await wallet.readBalance('USDC');
 * await wallet.withdraw({ token: 'USDC', amount: spendable }, { key: crypto.randomUUID() });
 *
 * @throws PoolError `store_damaged`
 */
export async function openBrowserWallet(options: BrowserWalletOptions): Promise<BrowserWallet> {
  const { account, chain, exit, onEvent = () => undefined, onDamage = () => undefined } = options;
  const { navigator } = globalThis as { readonly navigator?: { readonly locks?: TabLocks } };
  const ports: BrowserPorts = {
    clock: browserClock,
    locks: navigator?.locks,
    createHistory: createEvmHistory,
    createRecords: createEvmRecords,
    createChain: createEvmSpendChain,
    createScanner: createNoteScanner,
    createSubmitter: createExitSubmitter,
    onFaultPoint: async () => undefined,
    ...options.ports,
  };
  const { clock } = ports;
  const stores = await openBrowserStores({
    name: account.address.toLowerCase(),
    storageKey: account.storageKey,
    onDamage,
  });
  const owner = await openTabOwner(ports.locks);
  const holder: Holder = { ...account, family: chainFamilies.evm, earlier: [] };
  const platform = createPlatformCalls({
    chain: chain.key,
    createClient: options.createEdge,
    mintKey: options.mintKey,
    records: stores.openRecords('page-edge-key'),
    locks: ports.locks,
  });
  const heard = tolerateSilence(platform.deliveries, {
    ...{ nowMs: clock.nowMs, steadyMs: clock.steadyMs },
    records: stores.openRecords('page-platform-heard'),
  });
  const gate = exit === undefined ? platform.gate : undefined;
  const submitter =
    exit === undefined
      ? undefined
      : ports.createSubmitter({
          settings: chain.settings,
          gasKey: exit.gasKey,
          capWei: exit.gasCapWei,
          store: stores.sent,
          nowMs: clock.nowMs,
          steadyMs: clock.steadyMs,
          ...(exit.onSent === undefined ? {} : { onSent: exit.onSent }),
        });
  const notes = createWalletNotes({
    ...ports,
    stores: {
      openSpends: () => ({ ...stores.spends, close: () => undefined }),
      openNotes: (identity) => stores.openNotes(serializeIdentity(identity)),
    },
    openHolder: async () => holder,
    findChain: () => chain,
    createDeliveries: () => (exit === undefined ? heard : serveKeptNotes(exit.kept ?? [])),
  });
  const history = createWalletHistory({
    facts: createMemoryFacts(),
    notes,
    findSpend: stores.spends.get,
    readLocked: (token) => readLocked(token, chain.key, { notes, archive: stores.spends }),
    createRecords: ports.createRecords,
    onGasUnread: () => undefined,
  });

  const evidence = createEvidenceVerifier({
    domain: options.evidence,
    pins: stores.pins,
    nowMs: clock.nowMs,
  });
  const spendChain = ports.createChain(chain.settings);
  const context: SpendContext = { ...chain, chain: spendChain };
  const stopping = new AbortController();
  const locks = createKeyLock();
  /** Labels are addresses: the owner of the account types the destination. */
  const destinations = new Map<string, EvmAddress>();
  const deps: SpendDeps = {
    clock,
    owner: owner.own,
    route: () => context,
    findChain: (key) => (key === chain.key ? context : undefined),
    holder: createSpendHolder(holder),
    signer: account.signer,
    lookup: platform.lookup,
    evidence,
    hasGate: gate !== undefined,
    gate,
    destinations,
    ceilings: { transfer: undefined, send: undefined },
    notes: createNotesPort({ notes, chains: new Map([[chain.key, chain]]) }),
    platform: submitter === undefined ? platform.spends : { transfer: submitter, send: submitter },
    prover: options.prover,
    archive: stores.spends,
    journal: stores.journal,
    assertSpendsKnown: () => undefined,
    acquireAccelerator: (waiting) => locks.acquire('accelerator', waiting),
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    deadlineSeconds: defaultSpendDeadlineSeconds,
    pollMs: 1_000,
    patienceMs: 60_000,
    signal: stopping.signal,
    onEvent,
    onFaultPoint: ports.onFaultPoint,
  };
  const spender = createSpender(deps);
  const planner = createSpender({ ...deps, prover: { ...deps.prover, mode: 'mock' } });
  const consolidator = createConsolidator(deps);
  const following = followSpends(deps, followPauseMs, async () => {
    const ended = await owner.findEnded(await stores.spends.listOpen());
    return {
      isOrphan: (performer) => performer !== undefined && ended.has(performer),
      isRemote: false,
    };
  });

  function toSend({ token, amount, to }: Withdrawal): object {
    const address = to === undefined ? undefined : parseEvmAddress(to);
    if (submitter !== undefined) {
      assertUnlinked(submitter, account.address, address);
    }
    const label = address?.toLowerCase();
    if (address !== undefined && label !== undefined) {
      destinations.set(label, address);
    }
    return { token, amount: amount.toString(), ...(label === undefined ? {} : { to: label }) };
  }

  async function planWithdrawal(withdrawal: Withdrawal): Promise<SpendReceipt> {
    const body = { ...toSend(withdrawal), dryRun: true };
    return await planner.spend({ operation: 'send', key: 'plan', body });
  }

  const keys = createPaymentKeys({
    records: stores.openRecords('page-payment-keys'),
    journal: stores.journal,
    archive: stores.spends,
    nowMs: clock.nowMs,
  });

  async function spend(call: Pick<SpendCall, 'operation' | 'body'>, given: SpendOptions) {
    await keys.renew(given.key);
    return await spender.spend({ ...call, ...given });
  }

  return {
    async readBalance(token) {
      const { total, notes: count } = await notes.readBalance(token);
      const locked = await readLocked(token, chain.key, { notes, archive: stores.spends });
      return {
        total,
        spendable: total - (locked?.amount ?? 0n),
        notes: count,
        asOfBlock: notes.asOfBlock() ?? 0,
        silentSinceMs: await heard.silentSinceMs(),
      };
    },
    readHistory: history.read,
    async listDestinations() {
      const spends = await stores.spends.listRecent(0);
      const addresses = spends.flatMap(({ secrets }) => secrets?.manifest.recipient ?? []);
      return [...new Set(addresses)].map((address) => parseEvmAddress(address));
    },
    planWithdrawal,
    async planExit(withdrawal) {
      if (submitter === undefined) {
        throw new PoolError(
          'gas_key_refused',
          'this wallet sends through the platform; open it with the key that pays the gas of an exit',
        );
      }
      const { token, amount, to = parseEvmAddress(account.address) } = withdrawal;
      return {
        receipt: await planWithdrawal(withdrawal),
        gas: await submitter.quote(),
        revealed: { sender: submitter.address, recipient: to, token, amount },
      };
    },
    chooseKey: keys.choose,
    withdraw: async (withdrawal, given) =>
      await spend({ operation: 'send', body: toSend(withdrawal) }, given),
    async transfer({ token, recipients }, given) {
      if (gate === undefined) {
        throw new PoolError(
          'unregistered-recipient',
          'without the platform nobody knows who can be paid, so there are no transfers; withdraw instead',
        );
      }
      const payees = recipients.map(({ walletPub, amount }) => ({
        walletPub,
        amount: `${amount}`,
      }));
      return await spend({ operation: 'transfer', body: { token, recipients: payees } }, given);
    },
    consolidate: (token, until) =>
      consolidator.consolidate({ token, ...(until === undefined ? {} : { until: `${until}` }) }),
    contacts: createBrowserContacts({
      records: stores.openRecords('page-contacts'),
      domain: options.evidence,
      nowMs: clock.nowMs,
      chain: chain.key,
      lookup: platform.lookup,
      verifier: evidence,
    }),
    disclose: (payslips) =>
      disclosePayslips(payslips, {
        ...{ chain, history, holder: account, deliveries: platform.deliveries },
        ...{ createRecords: ports.createRecords, nowMs: clock.nowMs },
      }),
    openRecords: stores.openRecords,
    progress: notes.progress,
    async close() {
      stopping.abort(new PoolError('stopping', 'the wallet was closed; open it again'));
      await following;
      history.close();
      await notes.close();
      spendChain.close();
      submitter?.close();
      owner.close();
      stores.close();
    },
  };
}

const browserClock: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
  async sleep(milliseconds, signal) {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = (): void => reject(signal.reason);
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', end, { once: true });
    await promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    });
  },
};
