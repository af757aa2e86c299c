/**
 * The calls that the worker with the wallet answers. Secrets cross in these only: recovery words once to be shown, or as they were typed;
 * a password, as it was typed; the PRF output of a passkey, whose buffer the window gives away.
 *
 * @module
 */
import type { Readiness } from '@pool/api';
import type { EvmAddress, Hex, Hex32, TokenUnit } from '@pool/core';
import type { NewSlot, SlotKey } from '@pool/wallet/browser';
import type {
  Balance,
  Contact,
  GasRest,
  Identity,
  ImportedNotes,
  Invitation,
  Inviter,
  Known,
  PayeeHistory,
  PaymentOutcome,
  PayslipProof,
  Transfer,
  Withdrawal,
  WithdrawalPlan,
} from '../wallet-port.ts';
import type { Call } from './call-protocol.ts';

/** Public facts of the account that was opened. */
export type OpenedWallet = {
  readonly identity: Identity;
  readonly tokens: readonly TokenUnit[];
  readonly contracts: readonly EvmAddress[];
};

/** Public facts of an account file. */
export type StoredAccount = {
  readonly identity: Identity;
  /** What its passkeys are asked with. */
  readonly slots: readonly {
    readonly credentialId: Hex;
    readonly salt: Hex32;
    readonly label: string;
    readonly createdAt: string;
  }[];
  /** ISO 8601. Null: never. */
  readonly backupTriedAt: string | null;
};

/** A file with a password, and the password as it was typed. */
export type OpenableBackup = { readonly backup: Uint8Array; readonly password: string };

/** The text of an account file, and what opens it. */
export type OpenableFile = { readonly file: string; readonly key: SlotKey };

export type WalletCalls = {
  /** @see PayeeAccounts */
  readonly readInvitation: Call<string, Invitation>;
  /** The text of an account file. @throws `invalid_account_file` */
  readonly readAccountFile: Call<string, StoredAccount>;
  readonly createAccount: Call<
    undefined,
    { readonly identity: Identity; readonly words: readonly string[] }
  >;
  readonly restoreAccount: Call<string, Identity>;
  readonly restoreBackup: Call<OpenableBackup, Identity>;
  readonly confirmWords: Call<readonly string[], void>;
  readonly addSlot: Call<NewSlot, void>;
  /** The text of the draft's account file, which the window stores first. Undefined: it has no passkey, and nothing is stored. */
  readonly createFile: Call<undefined, string | undefined>;
  /** Opens the account of the draft, and forgets the draft. */
  readonly openDraft: Call<undefined, OpenedWallet>;
  readonly unlock: Call<OpenableFile, OpenedWallet & { readonly file: string }>;
  /** The text of the file with one more passkey. */
  readonly addPasskey: Call<OpenableFile & { readonly slot: NewSlot }, string>;
  /** The text of the file without a passkey. */
  readonly removePasskey: Call<OpenableFile & { readonly credentialId: Hex }, string>;
  readonly makeBackup: Call<OpenableFile & { readonly password: string }, Uint8Array>;
  /** The text of the account file, which says that the backup was tried. */
  readonly tryBackup: Call<OpenableBackup & { readonly file: string }, string>;
  /** @see PayeeWallet */
  readonly enrol: Call<string | undefined, Readiness>;
  readonly readiness: Call<undefined, Readiness | undefined>;
  readonly leavePlatform: Call<undefined, void>;
  readonly exportNotes: Call<undefined, string>;
  readonly importNotes: Call<string, ImportedNotes>;
  readonly inviters: Call<undefined, readonly Inviter[]>;
  readonly sync: Call<undefined, void>;
  readonly balance: Call<string, Balance>;
  readonly history: Call<string, PayeeHistory>;
  readonly disclose: Call<PayslipProof, string>;
  readonly savedAddresses: Call<undefined, readonly EvmAddress[]>;
  readonly contacts: Call<undefined, readonly Contact[]>;
  readonly addContact: Call<{ readonly label: string; readonly walletPub: string }, Contact>;
  readonly transfer: Call<Transfer & Known, PaymentOutcome>;
  readonly planGasRest: Call<EvmAddress, GasRest>;
  readonly sendGasRest: Call<EvmAddress, Hex32>;
  readonly planWithdrawal: Call<Withdrawal, WithdrawalPlan>;
  readonly withdraw: Call<Withdrawal & Known, PaymentOutcome>;
  /** Wipes the keys. The window ends the worker afterwards. */
  readonly close: Call<undefined, void>;
};
