/**
 * What a wallet in a browser is opened with, and what it can do.
 *
 * @module
 */
import type { History } from '@pool/api';
import type {
  Consolidation,
  Disclosure,
  EvidenceDomain,
  EvmAddress,
  EvmChainSettings,
  Secret,
  SpendReceipt,
} from '@pool/core';
import type { NoteScanner } from '@pool/notes';
import type { EvmSpendChain } from '../evm/evm-spend-chain.ts';
import type { ReceivedSources } from '../evm/received-insertions.ts';
import type { Holder, HolderChain } from '../holder/holder.ts';
import type { HistoryRecords, HistoryRequest } from '../holder/wallet-history.ts';
import type { ClosableHistory, HolderNotes } from '../holder/wallet-notes.ts';
import type { Clock } from '../ports.ts';
import type { SpendDeps, SpendEvent } from '../spend/spend-deps.ts';
import type { SpendProverPort } from '../spend/spend-ports.ts';
import type { SyncProgress } from '../sync/ports.ts';
import type { BrowserContacts } from './browser-contacts.ts';
import type { PayslipDisclosure } from './disclose.ts';
import type { createExitSubmitter, ExitOptions, ExitPlan } from './exit.ts';
import type { ChosenKey, Transfer, Withdrawal } from './payment-keys.ts';
import type { EdgeCalls, MintKey } from './platform-calls.ts';
import type { BrowserDamage, BrowserStores } from './store/browser-stores.ts';
import type { StorageKey } from './store/sealer.ts';
import type { TabLocks } from './store/tab-owner.ts';

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
  /** What tests replace, and a page that asks several nodes. */
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
export type BrowserWallet = Pick<HolderNotes, 'exportNotes' | 'importNotes'> & {
  /** Reads chain and platform, or the chain alone while the platform cannot be reached. */
  readBalance(token: string): Promise<BrowserBalance>;
  /** One page, oldest first. */
  readHistory(request: HistoryRequest): Promise<History>;
  /** Where the withdrawals that this browser began went. No node can add an address. */
  listDestinations(): Promise<readonly EvmAddress[]>;
  /** Checks a withdrawal and chooses its notes. One whose equal is underway has the notes of that. Nothing is proved, stored or sent. */
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
