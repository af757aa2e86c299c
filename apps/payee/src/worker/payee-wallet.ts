/**
 * The wallet of an open account: what the page asks of it, over the stores, the chain and the platform.
 *
 * @module
 */
import type { HistoryEntry } from '@pool/api';
import {
  type EvmAddress,
  errorCodeOf,
  PoolError,
  parseWalletPub,
  type SpendCircuit,
  spendCircuits,
  spendShapes,
} from '@pool/core';
import { createEdgeClient, enrolWallet } from '@pool/platform-client/browser';
import { type Contact as KnownContact, type SpendEvent, serializeDisclosure } from '@pool/wallet';
import {
  type BrowserWallet,
  type ExitOptions,
  type OpenAccount,
  openBrowserWallet,
  parseNotesFile,
} from '@pool/wallet/browser';
import { createEvmRecords } from '@pool/wallet/evm';
import type { OpenedWallet } from '../calls/wallet-calls.ts';
import { payKnown } from '../model/running-spends.ts';
import type { Contact, OnProgress, PayeeTransfers, PayeeWallet } from '../wallet-port.ts';
import { createAgreedPorts } from './agreed-nodes.ts';
import { mintEdgeKey } from './edge-keys.ts';
import { acceptInvitation, createInviters } from './invitations.ts';
import { createLateProver } from './late-prover.ts';
import { assertOwnPool, keepOwnPool } from './own-pool.ts';
import { namePayers } from './payers.ts';
import type { Place } from './place.ts';
import { fetchPlatform } from './platform-fetch.ts';
import { inSession } from './sessions.ts';

/** How often progress of the sync is told, in milliseconds. */
const progressMs = 200;

/** After which the file of a payslip proves nothing. */
const proofDays = 90;

/** No transaction without the platform is sent whose gas could cost more wei: 0.05 of the chain's coin. */
const gasCapWei = 50_000_000_000_000_000n;

export type OpenPayeeWallet = Omit<PayeeWallet, keyof OpenedWallet | 'transfers' | 'passkeys'> &
  PayeeTransfers & { readonly facts: OpenedWallet };

/** @param account - closed with the wallet */
export async function openPayeeWallet(
  place: Place,
  account: OpenAccount,
): Promise<OpenPayeeWallet> {
  const { chain, evidence, platformUrl, page } = place;
  const { walletPub, address, encryptionPublicKey } = account;
  const { pool, tokens } = chain.settings;
  const prover = createLateProver(async () =>
    (await import('./page-prover.ts')).createPageProver(page),
  );
  const ports = createAgreedPorts(chain.settings);
  const openWallet = (exit?: ExitOptions): Promise<BrowserWallet> =>
    openBrowserWallet({
      ...{ account, chain, evidence, prover, exit, ports },
      createEdge: (token) =>
        createEdgeClient({ url: `${platformUrl}/agent-edge`, token, fetch: fetchPlatform }),
      mintKey: (kind, held) =>
        inSession(place, account, async (session) => {
          await session.register();
          return await mintEdgeKey(session, kind, held, Date.now());
        }),
    });
  let wallet = await openWallet();
  const ownPool = () => wallet.openRecords<string>('page-pool');
  await assertOwnPool(ownPool(), pool).catch(async (error: unknown) => {
    await wallet.close();
    throw error;
  });
  let hasLeft = false;
  const records = createEvmRecords(chain.settings);
  const openGasRest = async () =>
    (await import('./gas-rest.ts')).createGasRest(account.gasKey, chain.settings);
  const symbols = Object.keys(tokens);
  function findToken(symbol: string): EvmAddress {
    const found = tokens[symbol];
    if (found === undefined) throw new PoolError('not_found', `there is no token ${symbol}`);
    return found.address;
  }
  const inviters = () => createInviters(wallet.openRecords('page-inviters'));

  return {
    facts: {
      identity: { walletPub, address },
      tokens: Object.entries(tokens).map(([symbol, { decimals }]) => ({ symbol, decimals })),
      contracts: [pool, ...Object.values(tokens).map((token) => token.address)],
    },
    enrol: (invitation) =>
      inSession(
        place,
        account,
        async (session) => {
          await session.register();
          if (invitation !== undefined) {
            await acceptInvitation(place, session, invitation, inviters());
          }
          return (await enrolWallet(session, { walletPub, encryptionPublicKey })).readiness;
        },
        encryptionPublicKey,
      ),
    async readiness() {
      if (hasLeft) return undefined;
      try {
        return await inSession(
          place,
          account,
          async (session) => (await session.getEnrollment()).readiness,
        );
      } catch (error) {
        if (errorCodeOf(error) === 'platform_unreachable') return undefined;
        throw error;
      }
    },
    async leavePlatform() {
      if (hasLeft) return;
      // The wallet that is open stays in use if this one cannot be opened.
      const next = await openWallet({ gasKey: account.gasKey, gasCapWei });
      const last = wallet;
      wallet = next;
      hasLeft = true;
      await last.close();
    },
    // The format of `disburse-agent notes`.
    exportNotes: async () => JSON.stringify(await wallet.exportNotes()),
    async importNotes(text) {
      const { chainId } = chain.settings;
      const expected = { chainId, pool, encryptionPublicKeys: [encryptionPublicKey] };
      const { notes } = parseNotesFile(text, expected, 'the file');
      const outcomes = await wallet.importNotes(notes.flatMap(({ offered }) => offered ?? []));
      const added = outcomes.filter((outcome) => outcome === 'accepted').length;
      const known = outcomes.filter((outcome) => outcome === 'known').length;
      return { added, known, others: notes.length - added - known };
    },
    inviters: () => inviters().list(),
    async sync(onProgress) {
      const tell = (): void => {
        const { read, total } = wallet.progress().blocks;
        onProgress({ stage: 'syncing', ...(total === 0 ? {} : { fraction: read / total }) });
      };
      const timer = setInterval(tell, progressMs);
      try {
        for (const symbol of symbols) {
          await wallet.readBalance(symbol);
        }
        await keepOwnPool(ownPool(), pool);
      } finally {
        clearInterval(timer);
      }
    },
    async balance(token) {
      const { total, spendable, asOfBlock, silentSinceMs } = await wallet.readBalance(token);
      return { total, spendable, asOfBlock, silentSinceMs };
    },
    async history(token) {
      const { chain: key, symbol, decimals, entries } = await readAll(wallet, token);
      const payslips = entries.filter((entry) => entry.kind === 'received' && !entry.isChange);
      const payers = await namePayers(
        payslips.map(({ txHash }) => txHash),
        findToken(token),
        {
          node: records,
          records: wallet.openRecords('page-funders'),
          inviters: await inviters().list(),
        },
      );
      return { chain: key, symbol, decimals, entries, payers };
    },
    disclose: async ({ token, commitment, purpose }) =>
      serializeDisclosure(
        await wallet.disclose({
          ...{ token, purpose, commitments: [commitment], days: proofDays, withMemos: true },
        }),
      ),
    async savedAddresses() {
      return (await wallet.listDestinations()).filter((destination) => destination !== address);
    },
    async planWithdrawal(withdrawal) {
      const { receipt, gas } = hasLeft
        ? await wallet.planExit(withdrawal)
        : { receipt: await wallet.planWithdrawal(withdrawal), gas: undefined };
      const { silentSinceMs } = await wallet.readBalance(withdrawal.token);
      if (silentSinceMs !== undefined) {
        throw new PoolError('platform_unreachable', 'the platform would not send the withdrawal');
      }
      const { earlier } = await wallet.chooseKey(withdrawal);
      // While it is read.
      const circuit = findCircuit(receipt.nullifiers.length);
      if (circuit !== undefined) prover.prepare(circuit);
      return { earlier, changeAmount: BigInt(receipt.changeAmount), feeAmount: 0n, gas };
    },
    async withdraw({ known, ...withdrawal }, onProgress) {
      const onEvent = (event: SpendEvent): void => tellProgress(event, onProgress);
      return await payKnown(await wallet.chooseKey(withdrawal), known, (key) =>
        wallet.withdraw(withdrawal, { key, onEvent }),
      );
    },
    planGasRest: async (to) => await (await openGasRest()).plan(to),
    sendGasRest: async (to) => await (await openGasRest()).send(to),
    async contacts() {
      return (await wallet.contacts.list()).map(toContact);
    },
    async addContact(label, text) {
      const added = parseWalletPub(text);
      await wallet.contacts.add(label, added);
      const found = (await wallet.contacts.list()).find((one) => one.walletPub === added);
      if (found === undefined) throw new PoolError('invalid_contact', 'the contact was not kept');
      return toContact(found);
    },
    async transfer({ known, ...transfer }, onProgress) {
      const onEvent = (event: SpendEvent): void => tellProgress(event, onProgress);
      return await payKnown(await wallet.chooseKey(transfer), known, (key) =>
        wallet.transfer(transfer, { key, onEvent }),
      );
    },
    async close() {
      await wallet.close();
      records.close();
      account.close();
    },
  };
}

/** The smallest one that spends so many notes: a withdrawal has no payees. */
function findCircuit(notes: number): SpendCircuit | undefined {
  return spendCircuits.find((name) => notes <= spendShapes[name].inputs);
}

function toContact({ label, walletPub }: KnownContact): Contact {
  return { label, walletPub: parseWalletPub(walletPub) };
}

async function readAll(wallet: BrowserWallet, token: string) {
  const first = await wallet.readHistory({ token });
  const entries: HistoryEntry[] = [...first.entries];
  for (let page = first; page.more; ) {
    const after = entries.at(-1)?.id;
    page = await wallet.readHistory({ token, after });
    entries.push(...page.entries);
  }
  return { ...first, entries };
}

function tellProgress(event: SpendEvent, onProgress: OnProgress): void {
  if (event.kind === 'progress') {
    onProgress({ stage: event.stage, fraction: event.fraction });
  } else if (event.kind === 'stage' && event.stage !== 'awaiting-approval') {
    onProgress({ stage: event.stage });
  }
}
