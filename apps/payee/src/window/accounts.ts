/**
 * The accounts of this browser over the worker. The window asks for passkeys, because workers have no WebAuthn, and gives what they answer
 * away at once. It keeps no secret.
 *
 * @module
 */
import { type Hex, PoolError } from '@pool/core';
import { createPasskey, createSlotSalt, type NewSlot, readPasskey } from '@pool/wallet/browser';
import type { Caller } from '../calls/call-protocol.ts';
import type {
  OpenableFile,
  OpenedWallet,
  StoredAccount,
  WalletCalls,
} from '../calls/wallet-calls.ts';
import type {
  AccountDraft,
  Identity,
  PasskeyOutcome,
  PayeeAccounts,
  PayeePasskeys,
  PayeeWallet,
} from '../wallet-port.ts';
import { changeAccount, readStoredAccount } from './account-store.ts';

/** A lock does not wait longer for the wallet: ending the worker takes everything, in milliseconds. */
const closePatienceMs = 2_000;

export function createAccounts(caller: Caller<WalletCalls>): PayeeAccounts {
  const { credentials } = navigator;
  const rpId = location.hostname;

  /** Wipes by giving away: the worker gets the only copy. */
  const giveAway = (prf: Uint8Array) => ({ transfer: [prf.buffer as ArrayBuffer] });

  /** @param exclude - passkeys of the account */
  async function makePasskey(
    { address }: Identity,
    label: string,
    exclude: readonly Hex[],
  ): Promise<NewSlot | Exclude<PasskeyOutcome, 'added'>> {
    const made = await createPasskey({
      ...{ credentials, rp: { id: rpId, name: 'Pool' }, exclude },
      accountName: `Pool ${address.slice(0, 6)}…${address.slice(-4)}`,
    });
    if (made.state !== 'created') {
      return made.state;
    }
    const slot = { credentialId: made.credentialId, salt: createSlotSalt() };
    const read = await readPasskey({ credentials, rpId, slots: [slot] });
    if (read.state !== 'read') {
      return read.state === 'no-prf' ? 'no-prf' : 'cancelled';
    }
    return { ...slot, prf: read.prf, label };
  }

  async function addFirstPasskey(identity: Identity): Promise<PasskeyOutcome> {
    const slot = await makePasskey(identity, 'passkey', []);
    if (typeof slot === 'string') return slot;
    await caller.call('addSlot', slot, giveAway(slot.prf));
    return 'added';
  }

  /** Asks for a passkey of the account. */
  async function readKey(file: string): Promise<OpenableFile> {
    const { slots } = await caller.call('readAccountFile', file);
    const read = await readPasskey({ credentials, rpId, slots });
    if (read.state !== 'read') {
      throw new PoolError(
        read.state === 'other-credential' ? 'account_not_opened' : 'passkey_failed',
        'the passkey did not open the account; try again, or use the recovery words',
      );
    }
    return { file, key: { credentialId: read.credentialId, prf: read.prf } };
  }

  async function unlock(text: string): Promise<PayeeWallet> {
    const opening = await readKey(text);
    const { file, ...opened } = await caller.call('unlock', opening, giveAway(opening.key.prf));
    if (file !== text) {
      // It says that this passkey was tried. What another tab stored meanwhile is newer, and a full disk does not lock the account.
      await changeAccount(async (stored) => (stored === text ? file : stored)).catch(
        () => undefined,
      );
    }
    return open(opened);
  }

  const open = (opened: OpenedWallet): PayeeWallet =>
    createWallet(caller, opened, createPasskeys(opened.identity));

  /** Of an account that is open: this browser may keep another one. */
  function createPasskeys(identity: Identity): PayeePasskeys {
    async function findSlots(stored: string | undefined): Promise<StoredAccount['slots']> {
      const found = stored === undefined ? undefined : await caller.call('readAccountFile', stored);
      return found?.identity.walletPub === identity.walletPub ? found.slots : [];
    }
    /** @throws PoolError `account_not_opened` */
    async function requireOwn(stored: string | undefined): Promise<string> {
      if (stored === undefined || (await findSlots(stored)).length === 0) {
        throw new PoolError('account_not_opened', 'this browser does not keep the account');
      }
      return stored;
    }
    return {
      async list() {
        const slots = await findSlots(await readStoredAccount());
        return slots.map(({ credentialId, label, createdAt }) => ({
          ...{ id: credentialId, label, madeAt: createdAt },
        }));
      },
      async add(label) {
        let outcome: PasskeyOutcome = 'added';
        await changeAccount(async (text) => {
          const stored = await requireOwn(text);
          const known = (await findSlots(stored)).map(({ credentialId }) => credentialId);
          const opening = await readKey(stored);
          const slot = await makePasskey(identity, label, known);
          if (typeof slot === 'string') {
            opening.key.prf.fill(0);
            outcome = slot;
            return stored;
          }
          const transfer = [opening.key.prf, slot.prf].flatMap((prf) => giveAway(prf).transfer);
          return await caller.call('addPasskey', { ...opening, slot }, { transfer });
        });
        return outcome;
      },
      remove: (credentialId) =>
        changeAccount(async (text) => {
          const opening = await readKey(await requireOwn(text));
          const given = { ...opening, credentialId };
          return await caller.call('removePasskey', given, giveAway(opening.key.prf));
        }),
      exportFile: async () => await requireOwn(await readStoredAccount()),
      async backupTriedAt() {
        const found = await caller.call(
          'readAccountFile',
          await requireOwn(await readStoredAccount()),
        );
        return found.backupTriedAt ?? undefined;
      },
      async makeBackup(password) {
        const opening = await readKey(await requireOwn(await readStoredAccount()));
        return await caller.call('makeBackup', { ...opening, password }, giveAway(opening.key.prf));
      },
      tryBackup: (backup, password) =>
        changeAccount(async (text) => {
          const file = await requireOwn(text);
          return await caller.call('tryBackup', { file, backup, password });
        }),
    };
  }

  const createDraft = (identity: Identity, words: AccountDraft['words']): AccountDraft => ({
    identity,
    words,
    addPasskey: () => addFirstPasskey(identity),
    confirmWords: (typed) => caller.call('confirmWords', typed),
    async finish() {
      const file = await caller.call('createFile', undefined);
      if (file !== undefined) await changeAccount(async () => file);
      return open(await caller.call('openDraft', undefined));
    },
    discard: async () => caller.end(),
  });

  return {
    readInvitation: (code) => caller.call('readInvitation', code),
    async findAccount() {
      const file = await readStoredAccount();
      return file === undefined ? undefined : (await caller.call('readAccountFile', file)).identity;
    },
    async createAccount() {
      const { identity, words } = await caller.call('createAccount', undefined);
      return createDraft(identity, words);
    },
    restoreAccount: async (words) =>
      createDraft(await caller.call('restoreAccount', words), undefined),
    restoreBackup: async (backup, password) =>
      createDraft(await caller.call('restoreBackup', { backup, password }), undefined),
    async unlock() {
      const stored = await readStoredAccount();
      if (stored === undefined) {
        throw new PoolError('account_not_opened', 'this browser does not keep the account');
      }
      return await unlock(stored);
    },
    async importFile(text) {
      const wallet = await unlock(text);
      await changeAccount(async () => text);
      return wallet;
    },
  };
}

function createWallet(
  caller: Caller<WalletCalls>,
  opened: OpenedWallet,
  passkeys: PayeePasskeys,
): PayeeWallet {
  return {
    ...opened,
    passkeys,
    transfers: {
      contacts: () => caller.call('contacts', undefined),
      addContact: (label, walletPub) => caller.call('addContact', { label, walletPub }),
      transfer: (transfer, onProgress) => caller.call('transfer', transfer, { onProgress }),
    },
    enrol: (invitation) => caller.call('enrol', invitation),
    readiness: () => caller.call('readiness', undefined),
    leavePlatform: () => caller.call('leavePlatform', undefined),
    exportNotes: () => caller.call('exportNotes', undefined),
    importNotes: (text) => caller.call('importNotes', text),
    inviters: () => caller.call('inviters', undefined),
    sync: (onProgress) => caller.call('sync', undefined, { onProgress }),
    balance: (token) => caller.call('balance', token),
    history: (token) => caller.call('history', token),
    disclose: (payslip) => caller.call('disclose', payslip),
    savedAddresses: () => caller.call('savedAddresses', undefined),
    planGasRest: (to) => caller.call('planGasRest', to),
    sendGasRest: (to) => caller.call('sendGasRest', to),
    planWithdrawal: (withdrawal) => caller.call('planWithdrawal', withdrawal),
    withdraw: (withdrawal, onProgress) => caller.call('withdraw', withdrawal, { onProgress }),
    async close() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, closePatienceMs));
      await Promise.race([caller.call('close', undefined), late]).catch(() => undefined);
      caller.end();
    },
  };
}
