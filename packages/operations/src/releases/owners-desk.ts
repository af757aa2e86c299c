/**
 * The desk of a contract wallet's owners: what they are asked to sign, and their signatures. It is kept in the release log, so that a
 * restart, another agent on the same store and a command see the same, and what decides is what is audited.
 *
 * @module
 */
import {
  canonicalDigest,
  describeAmountOf,
  type Hex,
  isPoolError,
  PoolError,
  parseEvmAddress,
} from '@pool/core';
import type { JobStore } from '@pool/idempotency';
import type { NewReleaseEntry, ReleaseEntry } from '@pool/policy';
import {
  computeSafeMessageHash,
  createSafeMessage,
  type OwnersAnswer,
  type OwnersDesk,
  type OwnersRequest,
} from '@pool/signers';
import type { EvmChain } from '../adapters/evm-chain.ts';
import type { ChainContext } from '../ports.ts';
import { explainRefusal } from './explain-signature.ts';
import { readOwnersEntry, stateAsked, stateSigned, stateWithdrawn } from './owners-statements.ts';
import type { ReleaseLog } from './release-log.ts';

export type OwnersChain = {
  readonly settings: ChainContext['settings'];
  readonly chain: Pick<EvmChain, 'checkContractSignature' | 'fetchOwners'>;
};

export type OwnersPlace = {
  readonly openLog: () => Promise<Pick<ReleaseLog, 'append' | 'listOf' | 'listSince'>>;
  readonly chains: ReadonlyMap<string, OwnersChain>;
  readonly nowMs: () => number;
};

/** Where requests are listed and signatures are taken. */
export type OwnersOffice = OwnersPlace & {
  /** Of the jobs: without a release policy the log does not say which have ended. */
  readonly store: Pick<JobStore, 'listNames' | 'get'>;
};

/** After them nobody is asked for the payment. */
const endEvents: ReadonlySet<ReleaseEntry['event']> = new Set(['paid', 'failed', 'cancel']);

/** Largest signature that pool and platform take, bytes. */
const maxSignatureBytes = 1_024;

export function createOwnersDesk(place: OwnersPlace): OwnersDesk {
  const read = async (request: OwnersRequest): Promise<OwnersAnswer | undefined> => {
    try {
      const entries = await (await place.openLog()).listOf(request.batch.key);
      return readAnswer(request.id, entries);
    } catch (cause) {
      // The job waits until the log is restored: it may hold signatures, or a withdrawal.
      throw isPoolError(cause) && cause.code === 'store_damaged'
        ? new PoolError(cause.code, cause.message, { cause, retryable: true })
        : cause;
    }
  };
  return {
    async ask(request) {
      await assertContract(place, request);
      await append(place, request, { ...stateAsked(request), by: 'agent' }, 'asked');
    },
    read,
    async withdraw(request) {
      const answer = await read(request);
      if (answer?.state === 'waiting') {
        const entry = { ...stateWithdrawn(request.id), by: 'agent' };
        await append(place, request, entry, 'withdrawn');
      }
      // A signature that came before the withdrawal stays one.
      return await read(request);
    },
    isAccepted: async (request, signature) => (await judge(place, request, signature)) === 'valid',
  };
}

function judge({ chains }: OwnersPlace, request: OwnersRequest, signature: Hex) {
  const { wallet: address, digest } = request;
  return findChain(chains, request).chain.checkContractSignature({ address, digest, signature });
}

function findChain(chains: OwnersPlace['chains'], { batch, chainId }: OwnersRequest): OwnersChain {
  const found = chains.get(batch.chain);
  if (found?.settings.chainId !== chainId) {
    throw new PoolError('invalid-chain', `chains.json has no chain ${batch.chain} of this wallet`);
  }
  return found;
}

/** Before people are asked. */
async function assertContract(place: OwnersPlace, request: OwnersRequest): Promise<void> {
  if ((await judge(place, request, `0x${'00'.repeat(65)}`)) === 'no-contract') {
    throw new PoolError(
      'signature_rejected',
      `there is no contract at ${request.wallet} on chain ${request.batch.chain}; correct DISBURSE_CONTRACT_WALLET_ADDRESS`,
    );
  }
}

async function append(
  place: OwnersPlace,
  { id, batch, total, count }: OwnersRequest,
  entry: Pick<NewReleaseEntry, 'event' | 'by' | 'statement'>,
  unique: string,
): Promise<ReleaseEntry> {
  const { tokens } = findSettings(place, batch.chain);
  const address = parseEvmAddress(batch.token);
  const token = Object.keys(tokens).find((name) => tokens[name]?.address === address) ?? '';
  const at = new Date(place.nowMs()).toISOString();
  const about = { key: batch.key, chain: batch.chain, token, total, count, policy: '' };
  return (await place.openLog()).append({ ...about, ...entry, at }, `owners ${id} ${unique}`);
}

function findSettings({ chains }: OwnersPlace, chain: string): ChainContext['settings'] {
  const found = chains.get(chain);
  if (found === undefined) {
    throw new PoolError('invalid-chain', `chains.json has no chain ${chain}`);
  }
  return found.settings;
}

/** @param entries - of the key of the request */
function readAnswer(id: string, entries: readonly ReleaseEntry[]): OwnersAnswer | undefined {
  const own = entries.flatMap((entry) => {
    const read = readOwnersEntry(entry);
    return read?.id === id ? [read] : [];
  });
  if (own.length === 0) {
    return undefined;
  }
  const end = own.findIndex(({ event }) => event === 'owners-withdrawn');
  const counted = end === -1 ? own : own.slice(0, end);
  const signatures = counted
    .flatMap((read) => (read.event === 'owners-signed' ? [read.signature] : []))
    .toReversed();
  if (signatures.length > 0) {
    return { state: 'signed', signatures };
  }
  return { state: end === -1 ? 'waiting' : 'withdrawn' };
}

/** A request to the owners, for commands. */
export type OwnersView = {
  readonly request: OwnersRequest;
  readonly state: OwnersAnswer['state'];
  /** What the owners sign, which Safe calls the message hash. */
  readonly safeMessageHash: Hex;
  readonly safeMessage: ReturnType<typeof createSafeMessage>;
  readonly amount: string;
};

/**
 * The requests that were not withdrawn, whose deadline has not passed and whose job has not ended, those of the oldest payment first.
 * @param keys - of these payments only. Default: of all
 * @throws PoolError `store_damaged`
 */
export async function listOwnersRequests(
  place: OwnersOffice,
  keys?: readonly string[],
): Promise<readonly OwnersView[]> {
  const log = await place.openLog();
  const payments =
    keys === undefined
      ? [...Map.groupBy(await log.listSince(), ({ key }) => key).values()]
      : await Promise.all(keys.map((key) => log.listOf(key)));
  const nowSeconds = place.nowMs() / 1_000;
  const views = payments
    .filter((own) => !own.some(({ event }) => endEvents.has(event)))
    .flatMap((own) =>
      own.flatMap((entry) => {
        const read = readOwnersEntry(entry);
        if (read?.event !== 'owners-asked' || read.request.deadline <= nowSeconds) {
          return [];
        }
        const state = readAnswer(read.id, own)?.state ?? 'waiting';
        return state === 'withdrawn' ? [] : [{ ...describeRequest(place, read.request), state }];
      }),
    );
  return views.length === 0 ? [] : await dropEnded(place.store, views);
}

async function dropEnded(
  store: OwnersOffice['store'],
  views: readonly OwnersView[],
): Promise<readonly OwnersView[]> {
  const keys = new Set(views.map(({ request }) => request.batch.key));
  const ended = new Set<string>();
  for (const { scope, key } of await store.listNames()) {
    const job = keys.has(key) ? await store.get(scope, key) : undefined;
    if (job?.state === 'done' || job?.state === 'failed') {
      ended.add(key);
    }
  }
  return views.filter(({ request }) => !ended.has(request.batch.key));
}

function describeRequest(place: OwnersPlace, request: OwnersRequest) {
  const { chainId, wallet, digest, batch, total } = request;
  const { tokens } = findSettings(place, batch.chain);
  return {
    request,
    safeMessage: createSafeMessage(chainId, wallet, digest),
    safeMessageHash: computeSafeMessageHash(chainId, wallet, digest),
    amount: describeAmountOf(tokens, parseEvmAddress(batch.token), BigInt(total)),
  };
}

/** Signatures as they come back from the owners. */
export type OwnersSignature = {
  /** The Safe message hash that was signed, if the file says so. */
  readonly messageHash?: string | undefined;
  /** The wallet, if the file says so. */
  readonly safe?: string | undefined;
  readonly signature: Hex;
};

/**
 * Stores the signatures of the owners, once the contract itself accepts them.
 * @param by - who imports it, for the log
 * @throws PoolError `invalid_release` that says why they do not count; `chain_unreachable`
 */
export async function storeOwnersSignature(
  place: OwnersOffice,
  { messageHash, safe, signature }: OwnersSignature,
  by: string,
): Promise<OwnersView> {
  const bytes = (signature.length - 2) / 2;
  if (bytes < 65 || bytes > maxSignatureBytes) {
    throw refused(
      `the signature has ${bytes} bytes, and the pool takes 65 to ${maxSignatureBytes}`,
    );
  }
  const views = await listOwnersRequests(place);
  const asked = findAsked(views, messageHash, safe);
  const reasons: string[] = [];
  const chainIds = [...place.chains.values()].map(({ settings }) => settings.chainId);
  for (const view of asked) {
    const { request } = view;
    const verdict = await judge(place, request, signature);
    if (verdict === 'valid') {
      const id = canonicalDigest(['pool/v1/owners-signature', signature]);
      const entry = { ...stateSigned(request.id, signature), by: by.slice(0, 128) };
      await append(place, request, entry, id);
      return await assertKept(place, view);
    }
    const wallet = await findChain(place.chains, request).chain.fetchOwners(request.wallet);
    const why = explainRefusal({ request, signature, verdict, wallet, chainIds });
    reasons.push(`${request.batch.key}: ${why}`);
  }
  throw refused(reasons.join('\n'));
}

function findAsked(
  views: readonly OwnersView[],
  messageHash: string | undefined,
  safe: string | undefined,
): readonly OwnersView[] {
  if (views.length === 0) {
    throw refused('nothing waits for the owners of a contract wallet');
  }
  const ofSafe = views.filter(
    ({ request }) => safe === undefined || request.wallet.toLowerCase() === safe.toLowerCase(),
  );
  if (ofSafe.length === 0) {
    throw refused(`the signatures are of the wallet ${safe}, and ${views[0]?.request.wallet} pays`);
  }
  const found = ofSafe.filter(
    ({ safeMessageHash }) =>
      messageHash === undefined || safeMessageHash === messageHash.toLowerCase(),
  );
  if (found.length === 0) {
    throw refused(
      `the signatures are of another message than those that wait (${ofSafe.map(({ safeMessageHash }) => safeMessageHash).join(', ')}); "release owners" shows what to sign`,
    );
  }
  return found;
}

/** The job may have been cancelled while the contract was asked. */
async function assertKept(place: OwnersPlace, view: OwnersView): Promise<OwnersView> {
  const { id, batch } = view.request;
  const answer = readAnswer(id, await (await place.openLog()).listOf(batch.key));
  if (answer?.state !== 'signed') {
    throw new PoolError(
      'invalid_release',
      `${batch.key}: the agent has withdrawn the request, and the signatures do not count`,
    );
  }
  return { ...view, state: answer.state };
}

function refused(message: string): PoolError {
  return new PoolError('invalid_release', `${message}; nothing was stored`);
}
