// The core of the wallet in a page: it reads a real chain and a real platform, and keeps what it finds in memory. Nothing here proves:
// a spend is checked and planned, which is what a dry run does without a prover.
import {
  computeAssetId,
  type EncryptionPublicKey,
  type EvmAddress,
  type EvmChainSettings,
  type Hex,
  PoolError,
  parseEvmAddress,
  Secret,
  type SpendReceipt,
  type WalletPub,
} from '@pool/core';
import { createMemoryStore } from '@pool/idempotency/engine';
import { computeWalletId, parseViewingKey } from '@pool/notes';
import { createEvmHistory, createEvmSpendChain } from '../../src/evm/index.ts';
import { createMemoryArchive } from '../../src/fixtures/memory-archive.ts';
import { plainKernels } from '../../src/fixtures/plain-kernels.ts';
import {
  createHolderSync,
  createOwnChange,
  createSpender,
  createSpendJournal,
  type DeliveredNote,
  type DeliveryPort,
} from '../../src/index.ts';
import {
  createMemoryNoteArchive,
  createMemoryNoteStore,
} from '../../src/note-files/memory-note-store.ts';

export type PageInput = {
  readonly chain: string;
  readonly settings: EvmChainSettings;
  readonly token: string;
  /** `/agent-edge` behind the page's own origin, and a `holder.read` key for it. */
  readonly edge: { readonly url: string; readonly key: string };
  readonly holder: {
    readonly walletPub: WalletPub;
    readonly address: EvmAddress;
    readonly encryptionPublicKey: EncryptionPublicKey;
    readonly viewingKey: Hex;
  };
  /** Base units of the planned withdrawal. */
  readonly amount: string;
};

export type PageOutput = {
  readonly total: string;
  readonly notes: number;
  readonly receipt: SpendReceipt;
};

function fail(): never {
  throw new PoolError('internal_error', 'a withdrawal in a dry run does not need this');
}

function createDeliveries({ chain, edge }: PageInput): DeliveryPort {
  return {
    async fetchPage(token, cursor) {
      const query = new URLSearchParams({
        chain,
        token,
        ...(cursor === undefined ? {} : { cursor }),
      });
      const response = await fetch(`${edge.url}/notes?${query}`, {
        headers: { authorization: `Bearer ${edge.key}` },
      });
      if (!response.ok) throw new PoolError('platform_invalid_response', await response.text());
      return (await response.json()) as { readonly notes: readonly DeliveredNote[] };
    },
  };
}

async function run(input: PageInput): Promise<PageOutput> {
  const { chain, settings, token, holder, amount } = input;
  const tokenAddress = parseEvmAddress(settings.tokens[token]?.address);
  const asset = {
    symbol: token,
    assetId: computeAssetId(settings.chainId, settings.pool, tokenAddress),
  };
  const { walletPub, encryptionPublicKey } = holder;
  const viewingKey = parseViewingKey(holder.viewingKey);
  const archive = createMemoryArchive();
  const sync = createHolderSync({
    history: createEvmHistory(settings),
    deliveries: createDeliveries(input),
    kernels: plainKernels,
    store: createMemoryNoteStore(),
    archive: createMemoryNoteArchive(),
    change: createOwnChange(archive, {
      ...{ chainId: settings.chainId, pool: settings.pool, walletPub, encryptionPublicKey },
    }),
    assets: [asset.assetId],
    deployedAtBlock: settings.deployedAtBlock,
    viewingKey,
    walletId: computeWalletId(walletPub),
  });
  await sync.sync(asset);
  const balance = sync.computeBalance(asset.assetId);

  const context = { key: chain, settings, chain: createEvmSpendChain(settings) };
  const platform = { postSpend: fail, getSpend: fail };
  const spender = createSpender({
    clock: {
      nowMs: () => Date.now(),
      steadyMs: () => performance.now(),
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    },
    owner: 'page',
    route: () => context,
    findChain: () => context,
    holder: {
      ...{ walletPub, address: holder.address, changeKey: encryptionPublicKey },
      viewingKeyOf: () => new Secret(viewingKey),
    },
    signer: { signSpend: fail, withdrawSpend: fail, needsVote: false, isRemote: false },
    lookup: { lookupRecipients: fail },
    evidence: { verifyAll: fail },
    hasGate: true,
    destinations: new Map(),
    ceilings: { transfer: undefined, send: undefined },
    notes: {
      async listSpendable(assetId) {
        return sync.listSpendable(assetId).map((note) => ({ ...note, encryptionPublicKey }));
      },
      computePaths: fail,
      compareUses: (assetId, uses) => sync.compareUses(assetId, uses),
    },
    platform: { transfer: platform, send: platform },
    gate: undefined,
    prover: { mode: 'mock', prove: fail, verify: fail },
    archive,
    journal: createSpendJournal(createMemoryStore(), 'page', () => Date.now()),
    assertSpendsKnown: () => undefined,
    acquireAccelerator: fail,
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    deadlineSeconds: 900,
    pollMs: 1_000,
    patienceMs: 20_000,
    signal: new AbortController().signal,
    onEvent: () => undefined,
    onFaultPoint: async () => undefined,
  });
  const receipt = await spender.spend({
    operation: 'send',
    key: 'planned in a page',
    body: { token, amount, dryRun: true },
  });
  return { total: balance.total.toString(), notes: balance.notes, receipt };
}

Object.assign(globalThis, { runWallet: run });
