/**
 * The accounts of this browser over the worker. The window asks for passkeys, because workers have no WebAuthn, and gives what they answer
 * away at once. It keeps no secret.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { createPasskey, createSlotSalt, readPasskey } from '@pool/wallet/browser';
import type { Caller } from '../calls/call-protocol.ts';
import type { OpenedWallet, WalletCalls } from '../calls/wallet-calls.ts';
import type {
  AccountDraft,
  Identity,
  PasskeyOutcome,
  PayeeAccounts,
  PayeeWallet,
} from '../wallet-port.ts';
import { readStoredAccount, storeAccount } from './account-store.ts';

/** A lock does not wait longer for the wallet: ending the worker takes everything, in milliseconds. */
const closePatienceMs = 2_000;

export function createAccounts(caller: Caller<WalletCalls>): PayeeAccounts {
  const { credentials } = navigator;
  const rpId = location.hostname;

  /** Wipes by giving away: the worker gets the only copy. */
  const giveAway = (prf: Uint8Array) => ({ transfer: [prf.buffer as ArrayBuffer] });

  async function addPasskey(identity: Identity): Promise<PasskeyOutcome> {
    const { address } = identity;
    const made = await createPasskey({
      ...{ credentials, rp: { id: rpId, name: 'Pool' } },
      accountName: `Pool ${address.slice(0, 6)}…${address.slice(-4)}`,
    });
    if (made.state !== 'created') {
      return made.state === 'no-prf' ? 'no-prf' : 'cancelled';
    }
    const slot = { credentialId: made.credentialId, salt: createSlotSalt() };
    const read = await readPasskey({ credentials, rpId, slots: [slot] });
    if (read.state !== 'read') {
      return read.state === 'no-prf' ? 'no-prf' : 'cancelled';
    }
    const { prf } = read;
    await caller.call('addSlot', { ...slot, prf, label: 'passkey' }, giveAway(prf));
    return 'added';
  }

  const createDraft = (identity: Identity, words: AccountDraft['words']): AccountDraft => ({
    identity,
    words,
    addPasskey: () => addPasskey(identity),
    confirmWords: (typed) => caller.call('confirmWords', typed),
    async finish() {
      const { file, ...opened } = await caller.call('finish', undefined);
      if (file !== undefined) await storeAccount(file);
      return createWallet(caller, opened);
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
    async unlock() {
      const stored = await readStoredAccount();
      if (stored === undefined) {
        throw new PoolError('account_not_opened', 'this browser has no account any more');
      }
      const { slots } = await caller.call('readAccountFile', stored);
      const read = await readPasskey({ credentials, rpId, slots });
      if (read.state !== 'read') {
        throw new PoolError(
          read.state === 'other-credential' ? 'account_not_opened' : 'passkey_failed',
          'the passkey did not open the account; try again, or use the recovery words',
        );
      }
      const { credentialId, prf } = read;
      const given = { file: stored, key: { credentialId, prf } };
      const { file, ...opened } = await caller.call('unlock', given, giveAway(prf));
      await storeAccount(file);
      return createWallet(caller, opened);
    },
  };
}

function createWallet(caller: Caller<WalletCalls>, opened: OpenedWallet): PayeeWallet {
  return {
    ...opened,
    transfers: {
      contacts: () => caller.call('contacts', undefined),
      addContact: (label, walletPub) => caller.call('addContact', { label, walletPub }),
      transfer: (transfer, onProgress) => caller.call('transfer', transfer, { onProgress }),
    },
    enrol: (invitation) => caller.call('enrol', invitation),
    readiness: () => caller.call('readiness', undefined),
    sync: (onProgress) => caller.call('sync', undefined, { onProgress }),
    balance: (token) => caller.call('balance', token),
    history: (token) => caller.call('history', token),
    disclose: (payslip) => caller.call('disclose', payslip),
    savedAddresses: () => caller.call('savedAddresses', undefined),
    planWithdrawal: (withdrawal) => caller.call('planWithdrawal', withdrawal),
    withdraw: (withdrawal, onProgress) => caller.call('withdraw', withdrawal, { onProgress }),
    async close() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, closePatienceMs));
      await Promise.race([caller.call('close', undefined), late]).catch(() => undefined);
      caller.end();
    },
  };
}
