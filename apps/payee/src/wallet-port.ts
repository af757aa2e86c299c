/**
 * What the page asks of the wallet. The wallet runs in a worker, so every value here can be cloned between threads, and the page holds
 * no key. Amounts are base units. Calls reject with the errors of the packages, each with a `code`.
 *
 * @module
 */
import type { History, HistoryEntry, Readiness } from '@pool/api';
import type { EvmAddress, Hex, Hex32, SpendReceipt, TokenUnit, WalletPub } from '@pool/core';
import type { EarlierPayment, ExitPlan } from '@pool/wallet/browser';

/** An invitation as the platform describes it. Its texts are of strangers. */
export type Invitation = {
  readonly state: 'open' | 'accepted' | 'expired' | 'revoked';
  /** The name that the employer gave itself, which nobody checked. Undefined: it gave none. */
  readonly employer: string | undefined;
  readonly employerAddress: string;
  /** Host of the platform, for example `pool.example`. */
  readonly platform: string;
  /** Key of the chain, and address of the pool on it. */
  readonly chain: string;
  readonly pool: EvmAddress;
  /** Unix time. */
  readonly expiresAtMs: number;
};

/** An employer whose invitation the account accepted in this browser. */
export type Inviter = Pick<Invitation, 'employer' | 'employerAddress' | 'pool'> & {
  /** Unix time. */
  readonly acceptedAtMs: number;
};

/** Who the account is. Public. */
export type Identity = {
  readonly walletPub: WalletPub;
  /** The address of W. Withdrawals go there unless another address is given. */
  readonly address: EvmAddress;
};

/**
 * What became of the attempt to make a passkey. `no-prf`: the authenticator cannot keep an account. `already-registered`: it has a passkey
 * of the account.
 */
export type PasskeyOutcome = 'added' | 'no-prf' | 'cancelled' | 'already-registered';

/** An account that is being made or restored. Nothing is stored before {@link AccountDraft.finish}. */
export type AccountDraft = {
  readonly identity: Identity;
  /** 24 recovery words, secret. Undefined: the account was restored. */
  readonly words: readonly string[] | undefined;
  /** Asks the browser for a passkey that opens the account on this device. */
  addPasskey(): Promise<PasskeyOutcome>;
  /** The words were tried. @throws `invalid_recovery_words` for other words */
  confirmWords(words: readonly string[]): Promise<void>;
  /** Opens the account. If a passkey was added, it is stored on this device; otherwise only the words open it. */
  finish(): Promise<PayeeWallet>;
  /** Forgets the account, which was never stored. */
  discard(): Promise<void>;
};

/** A passkey that opens the account. Public. */
export type Passkey = {
  readonly id: Hex;
  /** The owner's name for it. */
  readonly label: string;
  /** ISO 8601. */
  readonly madeAt: string;
};

/** The ways to open the account that this browser keeps. Each change asks for a passkey of the account. */
export type PayeePasskeys = {
  list(): Promise<readonly Passkey[]>;
  /** @param label - 1 to 64 visible characters */
  add(label: string): Promise<PasskeyOutcome>;
  /** Not for the only one: without a passkey this browser could not open what it keeps. */
  remove(id: Hex): Promise<void>;
  /** The account file: with it and a passkey, another browser opens the account. Not secret without a passkey. */
  exportFile(): Promise<string>;
  /** When a file of {@link PayeePasskeys.makeBackup} first opened the account, in ISO 8601. Undefined: never. */
  backupTriedAt(): Promise<string | undefined>;
  /** A file that opens the account with a password, in any browser on this site and in an agent. Asks for a passkey. */
  makeBackup(password: string): Promise<Uint8Array>;
  /** Opens such a file. @throws `account_not_opened`, `invalid_account_file` */
  tryBackup(backup: Uint8Array, password: string): Promise<void>;
};

/** Everything before an account is open. */
export type PayeeAccounts = {
  readInvitation(code: string): Promise<Invitation>;
  /** The account that a passkey opens on this device, if there is one. */
  findAccount(): Promise<Identity | undefined>;
  createAccount(): Promise<AccountDraft>;
  /** @param words - secret, as they were typed. @throws `invalid_recovery_words` */
  restoreAccount(words: string): Promise<AccountDraft>;
  /** @throws `account_not_opened` for another password or a changed file, `invalid_account_file`, `invalid_configuration` */
  restoreBackup(backup: Uint8Array, password: string): Promise<AccountDraft>;
  /** Asks for the passkey. @throws `account_not_opened` */
  unlock(): Promise<PayeeWallet>;
  /** Opens an account file of another browser by its passkey, and keeps it. @throws `invalid_account_file`, `account_not_opened` */
  importFile(text: string): Promise<PayeeWallet>;
};

/** Work that takes longer than a moment. */
export type Progress = {
  readonly stage: 'syncing' | 'checking' | 'signing' | 'proving' | 'settling';
  /** 0 to 1. Undefined: nobody knows. */
  readonly fraction?: number;
};

export type Balance = {
  readonly total: bigint;
  /** Not held by a spend that is under way. */
  readonly spendable: bigint;
  readonly asOfBlock: number;
  /** Unix time of the last answer of a platform that is silent, 0 if it never answered here. What payers sent since then is missing. */
  readonly silentSinceMs: number | undefined;
};

/** `payers`: names of those who paid, by transaction hash, where they are known. */
export type PayeeHistory = Pick<History, 'chain' | 'symbol' | 'decimals'> & {
  readonly entries: readonly HistoryEntry[];
  readonly payers: Readonly<Record<string, string>>;
};

export type Contact = { readonly label: string; readonly walletPub: WalletPub };

export type Withdrawal = {
  readonly token: string;
  readonly amount: bigint;
  readonly to: EvmAddress;
};
export type Transfer = {
  readonly token: string;
  readonly recipients: readonly { readonly walletPub: WalletPub; readonly amount: bigint }[];
};

/** Numbers of notes. */
export type ImportedNotes = {
  readonly added: number;
  /** This browser had them. */
  readonly known: number;
  /** Damaged, of somebody else, or not on the chain. */
  readonly others: number;
};

/** Coin of the account that paid for withdrawals without the platform. */
export type GasRest = {
  readonly from: EvmAddress;
  readonly balanceWei: bigint;
  /** Wei that arrive if it is sent on. 0: the fee is more. */
  readonly sendableWei: bigint;
};

/** What a withdrawal would do. Nothing was sent. */
export type WithdrawalPlan = {
  /** An equal one of the last day, which is to be shown. */
  readonly earlier: EarlierPayment | undefined;
  /** Stays in the pool. */
  readonly changeAmount: bigint;
  /** What the payee pays in the token. */
  readonly feeAmount: bigint;
  /** Without the platform: who pays the network, and how much. */
  readonly gas: ExitPlan['gas'] | undefined;
};

/** `known`: the equal payment that the owner was shown before this one is sent. */
export type Known = { readonly known: EarlierPayment | undefined };

/** `earlier`: nothing was sent, because there is an equal payment that the owner was not shown. */
export type PaymentOutcome =
  | { readonly receipt: SpendReceipt }
  | { readonly earlier: EarlierPayment };

/** What the file of a payslip says. */
export type PayslipProof = {
  readonly token: string;
  readonly commitment: string;
  /** One line: what the file may be used for. */
  readonly purpose: string;
};

export type OnProgress = (progress: Progress) => void;

/** Payments inside the pool, and whom they go to. */
export type PayeeTransfers = {
  contacts(): Promise<readonly Contact[]>;
  /** Looks the wallet up and keeps it. @throws `unregistered-recipient`, `invalid_contact` */
  addContact(label: string, walletPub: string): Promise<Contact>;
  /** One that is repeated while the chain has not decided is made once. */
  transfer(transfer: Transfer & Known, onProgress: OnProgress): Promise<PaymentOutcome>;
};

/** An open account. */
export type PayeeWallet = {
  readonly identity: Identity;
  /** One or more. */
  readonly tokens: readonly TokenUnit[];
  /** Pool and tokens: what a withdrawal sends them is lost. */
  readonly contracts: readonly EvmAddress[];
  /**
   * Accepts the invitation, if there is one, and enrols. Repeating it changes nothing.
   * @param invitation - code of a link
   * @throws `invitation_taken`, `invitation_ended`, `not_found`; `invalid-chain` if it is for another pool, which is not accepted
   */
  enrol(invitation?: string): Promise<Readiness>;
  /** Undefined: the platform is silent, or was left. */
  readiness(): Promise<Readiness | undefined>;
  /**
   * From now on, until the account is locked, the platform is not asked: withdrawals go to the chain, and an account of their own pays the
   * network. What was begun with the platform is continued by an equal withdrawal.
   */
  leavePlatform(): Promise<void>;
  /** The sealed notes that this browser has, as a file. It shows which payments are the account's, and no amounts. */
  exportNotes(): Promise<string>;
  /** Adds the notes of a file. Each is compared with the chain; the platform is not asked. @throws `restore_refused` */
  importNotes(text: string): Promise<ImportedNotes>;
  /** Oldest first. */
  inviters(): Promise<readonly Inviter[]>;
  /** Reads chain and platform. Needs an enrolled account, as everything below. */
  sync(onProgress: OnProgress): Promise<void>;
  balance(token: string): Promise<Balance>;
  /** Oldest first. */
  history(token: string): Promise<PayeeHistory>;
  /** A signed file that proves a payslip to an auditor. Confidential. @throws `invalid_request`, `not_found` */
  disclose(payslip: PayslipProof): Promise<string>;
  /** Addresses to which this account withdrew before. */
  savedAddresses(): Promise<readonly EvmAddress[]>;
  planWithdrawal(withdrawal: Withdrawal): Promise<WithdrawalPlan>;
  /** One that is repeated while the chain has not decided is made once. */
  withdraw(withdrawal: Withdrawal & Known, onProgress: OnProgress): Promise<PaymentOutcome>;
  /** Nothing is sent. */
  planGasRest(to: EvmAddress): Promise<GasRest>;
  /** @returns the hash of the transaction, which a node has. @throws `gas_key_unfunded`, `spend_unfinished` */
  sendGasRest(to: EvmAddress): Promise<Hex32>;
  readonly transfers: PayeeTransfers;
  readonly passkeys: PayeePasskeys;
  /** Locks the account: wipes its keys. */
  close(): Promise<void>;
};
