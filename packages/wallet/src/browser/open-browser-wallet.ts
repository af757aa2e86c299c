/**
 * A holder's wallet in a browser: the notes, spends and history of one account in one pool, over the stores of the origin, a chain RPC and
 * a platform. Run it in a worker. Nothing here touches a page.
 *
 * @module
 */
import {
  chainFamilies,
  type EvmAddress,
  PoolError,
  parseEvmAddress,
  type SpendReceipt,
} from '@pool/core';
import { createNoteScanner } from '@pool/notes';
import { createConsolidator } from '../consolidate/consolidate.ts';
import { createEvidenceVerifier } from '../evidence-verifier.ts';
import { createEvmHistory } from '../evm/evm-history.ts';
import { createEvmRecords } from '../evm/evm-records.ts';
import { createEvmSpendChain } from '../evm/evm-spend-chain.ts';
import type { Holder } from '../holder/holder.ts';
import { createNotesPort, createSpendHolder, readLocked } from '../holder/spend-inputs.ts';
import { createMemoryFacts, createWalletHistory } from '../holder/wallet-history.ts';
import { createWalletNotes } from '../holder/wallet-notes.ts';
import { createKeyLock } from '../key-lock.ts';
import { serializeIdentity } from '../note-files/note-json.ts';
import type { Clock } from '../ports.ts';
import { followSpends } from '../spend/follow-spends.ts';
import { createSpender, type SpendCall } from '../spend/perform-spend.ts';
import { defaultSpendDeadlineSeconds, type SpendDeps } from '../spend/spend-deps.ts';
import type { SpendContext } from '../spend/spend-ports.ts';
import { serveKeptNotes } from '../sync/read-deliveries.ts';
import { createBrowserContacts } from './browser-contacts.ts';
import type {
  BrowserPorts,
  BrowserWallet,
  BrowserWalletOptions,
  SpendOptions,
} from './browser-wallet.ts';
import { disclosePayslips } from './disclose.ts';
import { assertUnlinked, createExitSubmitter } from './exit.ts';
import { createPaymentKeys, type Withdrawal } from './payment-keys.ts';
import { createPlatformCalls, tolerateSilence } from './platform-calls.ts';
import { openBrowserStores } from './store/browser-stores.ts';
import { openTabOwner, type TabLocks } from './store/tab-owner.ts';

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
    createDeliveries: () => (exit === undefined ? heard : serveKeptNotes([])),
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
    pollMs: 500,
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
    const underway = await keys.findOpen(withdrawal);
    if (underway?.secrets !== undefined) {
      // It holds its notes already, perhaps all that there are.
      const { inputNullifiers, changeAmount } = underway.secrets.manifest;
      const nullifiers = [...inputNullifiers];
      return { operation: 'send', status: 'dry-run', nullifiers, changeAmount };
    }
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
    exportNotes: notes.exportNotes,
    importNotes: notes.importNotes,
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
