/**
 * The worker that holds the account. Seed and keys are nowhere else, and end with it. Its name is the URL of the page's folder.
 *
 * @module
 */
import { PoolError, Secret } from '@pool/core';
import {
  type AccountFile,
  addSlot,
  confirmBackup,
  confirmRecoveryWords,
  createAccountFile,
  createSeed,
  formatRecoveryWords,
  isUsable,
  type NewSlot,
  openAccount,
  openSlot,
  parseAccountFile,
  parseRecoveryWords,
  readIdentity,
  removeSlot,
  type Seed,
  serializeAccountFile,
} from '@pool/wallet/browser';
import { withBackupWorker } from '../backup/backup-calls.ts';
import { type MessagePlace, serveCalls } from '../calls/call-protocol.ts';
import type { OpenableBackup, OpenableFile, WalletCalls } from '../calls/wallet-calls.ts';
import { allowOwnScripts } from '../trusted-types.ts';
import type { Identity } from '../wallet-port.ts';
import { readInvitation } from './invitations.ts';
import type { OpenPayeeWallet } from './payee-wallet.ts';
import { fetchPlace, type Place } from './place.ts';
import { openPlatform } from './sessions.ts';

allowOwnScripts(new URL('./', self.location.href));

/** An account that is not stored yet. */
type Draft = {
  readonly seed: Seed;
  words: string | undefined;
  isOfBackup?: true;
  slot: NewSlot | undefined;
};

let placeRead: Promise<Place> | undefined;
let draft: Draft | undefined;
let wallet: OpenPayeeWallet | undefined;

/** A place that could not be read is asked for again. */
async function findPlace(): Promise<Place> {
  placeRead ??= fetchPlace(new URL(self.name));
  try {
    return await placeRead;
  } catch (error) {
    placeRead = undefined;
    throw error;
  }
}

function currentDraft(): Draft {
  if (draft === undefined) throw new PoolError('stopping', 'no account is being made');
  return draft;
}

function current(): OpenPayeeWallet {
  if (wallet === undefined) throw new PoolError('stopping', 'the account is locked; open it again');
  return wallet;
}

function forgetDraft(): void {
  draft?.seed.reveal().fill(0);
  draft?.slot?.prf.fill(0);
  draft = undefined;
}

async function begin(seed: Seed, words: string | undefined): Promise<Identity> {
  forgetDraft();
  draft = { seed, words, slot: undefined };
  const { walletPub, address, close } = await openAccount(
    seed,
    (await findPlace()).evidence.domain,
  );
  close();
  return { walletPub, address };
}

/**
 * Wipes the seed: the keys that derive from it stay until the wallet is closed.
 * @param file - of the account. Undefined: it is not stored
 */
async function open(seed: Seed, file?: AccountFile) {
  try {
    const place = await findPlace();
    const { domain } = place.evidence;
    const account = await openAccount(seed, domain);
    if (file !== undefined && file.encryptionPublicKey !== account.encryptionPublicKey) {
      account.close();
      throw new PoolError(
        'invalid_configuration',
        `the account is of the platform ${file.domain}, and this page is set up for ${domain}; with another domain the account would not find its payments`,
      );
    }
    await wallet?.close().catch(() => undefined);
    try {
      // Not needed to show an invitation, or to make an account.
      const { openPayeeWallet } = await import('./payee-wallet.ts');
      wallet = await openPayeeWallet(place, account);
    } catch (error) {
      account.close();
      throw error;
    }
    return wallet.facts;
  } finally {
    seed.reveal().fill(0);
  }
}

/** Undefined: the account has no passkey, so nothing is stored. */
async function createFile({ seed, words, isOfBackup, slot }: Draft): Promise<string | undefined> {
  if (slot === undefined) return undefined;
  const { domain } = (await findPlace()).evidence;
  const nowMs = Date.now();
  let file = await createAccountFile({ seed, domain, slot, nowMs });
  if (words !== undefined) {
    const tried = confirmRecoveryWords(file, words, nowMs);
    tried.seed.reveal().fill(0);
    file = tried.file;
  }
  if (isOfBackup === true) file = confirmBackup(file, seed, nowMs);
  if (!isUsable(file)) {
    throw new PoolError('account_not_opened', 'try the recovery words before the account is used');
  }
  return serializeAccountFile(file);
}

/** What needs the seed, which the open account does not keep. */
async function withSeed<T>(
  { file: text, key }: OpenableFile,
  work: (file: AccountFile, seed: Seed) => T | Promise<T>,
): Promise<T> {
  try {
    const { file, seed } = await openSlot(parseAccountFile(text), key, Date.now());
    try {
      return await work(file, seed);
    } finally {
      seed.reveal().fill(0);
    }
  } finally {
    key.prf.fill(0);
  }
}

async function openBackup({ backup, password }: OpenableBackup): Promise<Seed> {
  const { domain } = (await findPlace()).evidence;
  return new Secret(
    await withBackupWorker((caller) => caller.call('open', { backup, password, domain })),
  );
}

// The types of the window are in force here.
serveCalls<WalletCalls>(self as unknown as MessagePlace, {
  async readInvitation(code) {
    const place = await findPlace();
    return await readInvitation(place, openPlatform(place), code);
  },
  async readAccountFile(text) {
    const file = parseAccountFile(text);
    const { walletPub, address } = readIdentity(file);
    const slots = file.slots.map(({ credentialId, salt, label, createdAt }) => ({
      ...{ credentialId, salt, label, createdAt },
    }));
    return { identity: { walletPub, address }, slots, backupTriedAt: file.backupTriedAt };
  },
  async createAccount() {
    const seed = createSeed();
    const identity = await begin(seed, undefined);
    return { identity, words: formatRecoveryWords(seed).reveal().split(' ') };
  },
  restoreAccount: (words) => begin(parseRecoveryWords(words), words),
  async restoreBackup(given) {
    const identity = await begin(await openBackup(given), undefined);
    currentDraft().isOfBackup = true;
    return identity;
  },
  async confirmWords(words) {
    const made = currentDraft();
    const typed = parseRecoveryWords(words.join(' '));
    const isSame = formatRecoveryWords(typed).reveal() === formatRecoveryWords(made.seed).reveal();
    typed.reveal().fill(0);
    if (!isSame) {
      throw new PoolError('invalid_recovery_words', 'these are the words of another account');
    }
    made.words = words.join(' ');
  },
  async addSlot(slot) {
    currentDraft().slot = slot;
  },
  createFile: () => createFile(currentDraft()),
  async openDraft() {
    const { seed } = currentDraft();
    // A copy: after a failure it can be tried again.
    const facts = await open(new Secret(Uint8Array.from(seed.reveal())));
    forgetDraft();
    return facts;
  },
  async unlock({ file: text, key }) {
    try {
      const { seed, file } = await openSlot(parseAccountFile(text), key, Date.now());
      return { ...(await open(seed, file)), file: serializeAccountFile(file) };
    } finally {
      key.prf.fill(0);
    }
  },
  addPasskey: ({ slot, ...opening }) =>
    withSeed(opening, (file, seed) => addSlot(file, seed, slot, Date.now()))
      .then(serializeAccountFile)
      .finally(() => slot.prf.fill(0)),
  removePasskey: ({ credentialId, ...opening }) =>
    withSeed(opening, (file, seed) => removeSlot(file, seed, credentialId)).then(
      serializeAccountFile,
    ),
  makeBackup: ({ password, ...opening }) =>
    withSeed(opening, ({ domain }, seed) =>
      withBackupWorker((caller) =>
        caller.call('create', { seed: seed.reveal(), domain, password }),
      ),
    ),
  async tryBackup({ file, ...given }) {
    const seed = await openBackup(given);
    try {
      return serializeAccountFile(confirmBackup(parseAccountFile(file), seed, Date.now()));
    } finally {
      seed.reveal().fill(0);
    }
  },
  enrol: (invitation) => current().enrol(invitation),
  readiness: () => current().readiness(),
  leavePlatform: () => current().leavePlatform(),
  exportNotes: () => current().exportNotes(),
  importNotes: (text) => current().importNotes(text),
  inviters: () => current().inviters(),
  sync: (_, onProgress) => current().sync(onProgress),
  balance: (token) => current().balance(token),
  history: (token) => current().history(token),
  disclose: (payslip) => current().disclose(payslip),
  savedAddresses: () => current().savedAddresses(),
  contacts: () => current().contacts(),
  addContact: ({ label, walletPub }) => current().addContact(label, walletPub),
  transfer: (transfer, onProgress) => current().transfer(transfer, onProgress),
  planGasRest: (to) => current().planGasRest(to),
  sendGasRest: (to) => current().sendGasRest(to),
  planWithdrawal: (withdrawal) => current().planWithdrawal(withdrawal),
  withdraw: (withdrawal, onProgress) => current().withdraw(withdrawal, onProgress),
  async close() {
    forgetDraft();
    await wallet?.close();
    wallet = undefined;
  },
});
