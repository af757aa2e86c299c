/**
 * A holder's account in a browser: its seed, the ways to open it, its keys, the stores of its origin, and its wallet. Without a module of Node.
 *
 * @module
 */

export type { Contact, ContactChange } from '../holder/contacts.ts';
export { parseNotesFile } from '../holder/notes-document.ts';
export type { BrowserContacts } from './browser-contacts.ts';
export type {
  BrowserBalance,
  BrowserPorts,
  BrowserWallet,
  BrowserWalletOptions,
  SpendOptions,
} from './browser-wallet.ts';
export type { PayslipDisclosure } from './disclose.ts';
export type { ExitOptions, ExitPlan, ExitSubmitter } from './exit.ts';
export {
  createSeed,
  deriveWalletKey,
  type OpenAccount,
  openAccount,
  type Seed,
  type StorageKey,
} from './keys/account.ts';
export {
  type AccountFile,
  type AccountIdentity,
  type AccountSlot,
  parseAccountFile,
  readIdentity,
  serializeAccountFile,
} from './keys/account-file.ts';
export {
  addSlot,
  confirmBackup,
  confirmRecoveryWords,
  createAccountFile,
  createSlotSalt,
  isUsable,
  type NewSlot,
  type OpenedAccountFile,
  openSlot,
  removeSlot,
  type SlotKey,
} from './keys/key-slots.ts';
export {
  type CreatedPasskey,
  createPasskey,
  type PasskeyContainer,
  type PasskeyRead,
  readPasskey,
} from './keys/passkey.ts';
export { formatRecoveryWords, parseRecoveryWords } from './keys/recovery-words.ts';
export { openBrowserWallet } from './open-browser-wallet.ts';
export type { ChosenKey, EarlierPayment, Transfer, Withdrawal } from './payment-keys.ts';
export type { EdgeCalls, EdgeKeyKind } from './platform-calls.ts';
export {
  type BrowserDamage,
  type BrowserStores,
  openBrowserStores,
} from './store/browser-stores.ts';
export type { SealedRecords } from './store/sealed-records.ts';
export type { TabLocks } from './store/tab-owner.ts';
