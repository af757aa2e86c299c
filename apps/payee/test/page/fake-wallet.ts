// A fake of the wallet behind the views: fixed answers, two payslips, and spends that take a moment.
import type { HistoryEntry, Readiness } from '@pool/api';
import {
  type EvmAddress,
  type Hex,
  type Hex32,
  PoolError,
  parseEvmAddress,
  parseHex32,
  parseWalletPub,
  type SpendReceipt,
} from '@pool/core';
import type { EarlierPayment } from '@pool/wallet/browser';
import { payKnown } from '../../src/model/running-spends.ts';
import type {
  AccountDraft,
  Contact,
  Invitation,
  Inviter,
  Known,
  OnProgress,
  Passkey,
  PayeeAccounts,
  PayeePasskeys,
  PayeeWallet,
  Progress,
  Transfer,
  Withdrawal,
} from '../../src/wallet-port.ts';

const words =
  'abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid acoustic acquire across act action actor actress actual'.split(
    ' ',
  );
// The generator of secp256k1 and twice the generator (SEC 2), and the address of the private key 1.
const identity = {
  walletPub: parseWalletPub('0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'),
  address: parseEvmAddress('0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf'),
};
const pool = parseEvmAddress('0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359');
const invitation: Invitation = {
  state: 'open',
  employer: 'Acme \u202eLtd',
  employerAddress: identity.address,
  platform: 'pool.example',
  chain: 'base',
  pool,
  expiresAtMs: Date.UTC(2027, 0, 31),
};

/** Codes of links that have ended. */
const states = [
  { code: 'used', state: 'accepted' },
  { code: 'expired', state: 'expired' },
  { code: 'revoked', state: 'revoked' },
] as const;

function hash(digit: string): Hex32 {
  return parseHex32(`0x${digit.repeat(64)}`);
}

const hourMs = 3_600_000;
const total = 6_120_500_000n;

function listEntries(nowMs: number, memo: string): readonly HistoryEntry[] {
  const paid = (id: string, agoMs: number, amount: string, memo: string): HistoryEntry => ({
    ...{ kind: 'received', id, amount, memo, slot: 0, isChange: false, index: Number(id) },
    time: `${new Date(nowMs - agoMs).toISOString().slice(0, 19)}Z`,
    ...{ txHash: hash(id), commitment: hash(id), balance: '6120500000' },
  });
  return [
    paid('1', 31 * 24 * hourMs, '3000000000', 'Salary October'),
    paid('2', hourMs, '3120500000', memo),
  ];
}

async function work(onProgress: OnProgress, stages: readonly Progress['stage'][]): Promise<void> {
  for (const stage of stages) {
    for (const fraction of [0, 0.5, 1]) {
      onProgress(stage === 'proving' ? { stage, fraction } : { stage });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** A fake file is its password. */
function assertBackup(backup: Uint8Array, password: string): void {
  if (new TextDecoder().decode(backup) !== password) {
    throw new PoolError('account_not_opened', 'another password');
  }
}

function createPasskeys(): PayeePasskeys {
  const made = (id: Hex, label: string) => ({ id, label, madeAt: '2026-11-01T00:00:00Z' });
  let triedAt: string | undefined;
  let list: readonly Passkey[] = [made(hash('a'), 'passkey')];
  return {
    list: async () => list,
    async add(label) {
      if (label === 'same') return 'already-registered';
      list = [...list, made(hash('b'), label)];
      return 'added';
    },
    async remove(id) {
      list = list.filter((passkey) => passkey.id !== id);
    },
    exportFile: async () => '{"format":"pool-account"}',
    backupTriedAt: async () => triedAt,
    makeBackup: async (password) => new TextEncoder().encode(password),
    async tryBackup(backup, password) {
      assertBackup(backup, password);
      triedAt = '2026-11-02T00:00:00Z';
    },
  };
}

/** Equal payments that were made. */
function createPayments() {
  const made = new Map<string, EarlierPayment>();
  const describe = (payment: Withdrawal | Transfer): string =>
    JSON.stringify(payment, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
  const find = (payment: Withdrawal | Transfer) => made.get(describe(payment));
  return {
    find,
    pay: (
      payment: Withdrawal | Transfer,
      known: Known['known'],
      pay: () => Promise<SpendReceipt>,
    ) =>
      payKnown({ key: 'one', earlier: find(payment) }, known, async () => {
        const paid = await pay();
        made.set(describe(payment), { state: 'settled', atMs: Date.now() });
        return paid;
      }),
  };
}

/** @param isSilent - the platform is gone, and the account that pays the network has no coin at first */
function createWallet(
  first: Readiness,
  stranger: string | undefined,
  isSilent = false,
): PayeeWallet {
  let readiness = first;
  let hasLeft = false;
  let coin = 0n;
  let spendable = 6_000_000_000n;
  // The payment of another tab, which holds the rest.
  addEventListener('fake-payment-ended', () => {
    spendable = total;
  });
  const contacts: Contact[] = [];
  const inviters: Inviter[] = [];
  const saved: EvmAddress[] = [];
  const payments = createPayments();
  const receipt = (operation: 'send' | 'transfer'): SpendReceipt => ({
    ...{ operation, status: 'success', txHash: hash('f'), nullifiers: [], changeAmount: '0' },
  });
  return {
    identity,
    tokens: [{ symbol: 'USDC', decimals: 6 }],
    contracts: [pool],
    async enrol(code) {
      if (code === 'taken') throw new PoolError('invitation_taken', 'taken');
      if (code !== undefined) {
        const { employer, employerAddress } = invitation;
        inviters.push({ employer, employerAddress, pool, acceptedAtMs: Date.UTC(2026, 10, 2) });
      }
      readiness = readiness === 'not_enrolled' ? 'eligibility_pending' : 'ready';
      return readiness;
    },
    readiness: async () => (isSilent ? undefined : readiness),
    async leavePlatform() {
      hasLeft = true;
    },
    exportNotes: async () => '{"format":"pool-notes"}',
    async importNotes(text) {
      if (!text.includes('pool-notes')) throw new PoolError('restore_refused', 'no notes');
      return { added: 2, known: 1, others: 0 };
    },
    inviters: async () => inviters,
    sync: (onProgress) => work(onProgress, ['syncing']),
    balance: async () => ({
      ...{ total, spendable, asOfBlock: 123 },
      silentSinceMs: isSilent && !hasLeft ? Date.UTC(2026, 10, 2, 12) : undefined,
    }),
    history: async () => ({
      ...{ chain: 'base', symbol: 'USDC', decimals: 6 },
      entries: listEntries(Date.now(), stranger ?? '=1+1 <b>Salary</b> November'),
      payers: { [hash('2')]: stranger ?? 'Acme Ltd' },
    }),
    disclose: async (payslip) => JSON.stringify(payslip),
    savedAddresses: async () => saved,
    planGasRest: async () => ({
      from: pool,
      balanceWei: coin,
      sendableWei: (coin * 99n) / 100n,
    }),
    async sendGasRest() {
      coin = 0n;
      return hash('e');
    },
    async planWithdrawal(withdrawal) {
      const balanceWei = coin;
      coin = 10n ** 16n;
      const price = { expectedWei: 1_234_567_890_123_456n, capWei: 5n * 10n ** 16n };
      return {
        earlier: payments.find(withdrawal),
        changeAmount: total - withdrawal.amount,
        feeAmount: 0n,
        gas: hasLeft ? { from: pool, balanceWei, ...price } : undefined,
      };
    },
    withdraw: ({ known, ...withdrawal }, onProgress) =>
      payments.pay(withdrawal, known, async () => {
        await work(onProgress, ['checking', 'proving', 'settling']);
        saved.push(withdrawal.to);
        return receipt('send');
      }),
    transfers: {
      contacts: async () => contacts,
      async addContact(label, walletPub) {
        if (label === 'nobody') throw new PoolError('unregistered-recipient', 'not registered');
        const contact = { label, walletPub: parseWalletPub(walletPub) };
        contacts.push(contact);
        return contact;
      },
      transfer: ({ known, ...transfer }, onProgress) =>
        payments.pay(transfer, known, async () => {
          await work(onProgress, ['checking', 'proving', 'settling']);
          return receipt('transfer');
        }),
    },
    passkeys: createPasskeys(),
    close: async () => undefined,
  };
}

export function createFakeAccounts({
  hasPrf,
  hasAccount,
  isSilent,
  stranger,
}: {
  readonly hasPrf: boolean;
  readonly hasAccount: boolean;
  readonly isSilent: boolean;
  /** In place of each text that a stranger can choose. */
  readonly stranger: string | undefined;
}): PayeeAccounts {
  let isStored = hasAccount;
  const draft = (shown: readonly string[] | undefined): AccountDraft => {
    let hasPasskey = false;
    return {
      identity,
      words: shown,
      async addPasskey() {
        hasPasskey = hasPrf;
        return hasPrf ? 'added' : 'no-prf';
      },
      confirmWords: async () => undefined,
      async finish() {
        isStored = hasPasskey;
        return createWallet(shown === undefined ? 'ready' : 'not_enrolled', stranger);
      },
      discard: async () => undefined,
    };
  };
  return {
    async readInvitation(code) {
      if (code === 'lost') throw new PoolError('platform_unreachable', 'no answer');
      if (code === 'unknown') throw new PoolError('not_found', 'no such code');
      if (code === 'other-pool') throw new PoolError('invalid-chain', 'another pool');
      const { state = 'open' } = states.find((one) => one.code === code) ?? {};
      return { ...invitation, employer: stranger ?? invitation.employer, state };
    },
    findAccount: async () => (isStored ? identity : undefined),
    createAccount: async () => draft(words),
    async restoreAccount(typed) {
      if (typed.trim() !== words.join(' ')) {
        throw new PoolError('invalid_request', 'other words');
      }
      return draft(undefined);
    },
    async restoreBackup(backup, password) {
      assertBackup(backup, password);
      return draft(undefined);
    },
    unlock: async () => createWallet('ready', stranger, isSilent),
    async importFile(text) {
      if (!text.includes('pool-account')) throw new PoolError('invalid_account_file', 'no account');
      return createWallet('ready', stranger);
    },
  };
}
