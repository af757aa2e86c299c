/**
 * The desk of a contract wallet's owners: what they are asked to sign, and their signatures. It is kept in the release log, so that a
 * restart, another agent on the same store and a command see the same, and what decides is what is audited.
 *
 * @module
 */
import {
  canonicalDigest,
  computeTypedDataDigest,
  describeAmountOf,
  type Hex,
  PoolError,
  parseEvmAddress,
  parseHex,
} from '@pool/core';
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

/** Largest signature that pool and platform take, bytes. */
const maxSignatureBytes = 1_024;

export function createOwnersDesk(place: OwnersPlace): OwnersDesk {
  const read = async (request: OwnersRequest): Promise<OwnersAnswer | undefined> => {
    const entries = await (await place.openLog()).listOf(request.batch.key);
    return readAnswer(request.id, entries);
  };
  return {
    async ask(request) {
      await assertContract(place, request);
      const statement = serializeRequest(request);
      await append(place, request, { event: 'owners-asked', by: 'agent', statement }, 'asked');
    },
    read,
    async withdraw(request) {
      const answer = await read(request);
      if (answer?.state === 'waiting') {
        const statement = JSON.stringify({ id: request.id });
        const entry = { event: 'owners-withdrawn', by: 'agent', statement } as const;
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

function serializeRequest({ data, ...request }: OwnersRequest): string {
  const message = Object.entries(data.message).map(
    ([name, value]) => [name, value.toString()] as const,
  );
  return JSON.stringify({ ...request, data: { ...data, message: Object.fromEntries(message) } });
}

/** Written by this module. What people are shown is compared with what they sign. */
function parseRequest({ statement = '' }: ReleaseEntry): OwnersRequest {
  const request = JSON.parse(statement) as OwnersRequest;
  const { kind, data, digest, chainId, wallet, total, batch, deadline } = request;
  const { message, domain } = data;
  const agrees =
    computeTypedDataDigest(data) === digest &&
    domain.chainId === chainId &&
    message['funder'] === wallet &&
    (kind === 'void' ||
      (message['total'] === total &&
        message['token'] === batch.token &&
        message['deadline'] === String(deadline)));
  if (!agrees) {
    throw new PoolError('store_damaged', 'the release log is damaged; restore it from a backup');
  }
  return request;
}

function readId({ statement = '{}' }: ReleaseEntry): unknown {
  return (JSON.parse(statement) as { readonly id?: unknown }).id;
}

function readAnswer(id: string, entries: readonly ReleaseEntry[]): OwnersAnswer | undefined {
  const own = entries.filter(({ event, ...rest }) =>
    event.startsWith('owners-') ? readId({ event, ...rest }) === id : false,
  );
  if (own.length === 0) {
    return undefined;
  }
  const end = own.findIndex(({ event }) => event === 'owners-withdrawn');
  const counted = end === -1 ? own : own.slice(0, end);
  const signatures = counted
    .filter(({ event }) => event === 'owners-signed')
    .map(({ statement = '' }) =>
      parseHex((JSON.parse(statement) as { readonly signature: unknown }).signature),
    )
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

/** The requests that were not withdrawn and whose deadline has not passed, oldest first. */
export async function listOwnersRequests(place: OwnersPlace): Promise<readonly OwnersView[]> {
  const entries = await (await place.openLog()).listSince();
  const nowSeconds = place.nowMs() / 1_000;
  const paid = new Set(
    entries
      .filter(({ event }) => event === 'paid' || event === 'failed' || event === 'cancel')
      .map(({ key }) => key),
  );
  return entries
    .filter(({ event, key }) => event === 'owners-asked' && !paid.has(key))
    .flatMap((entry) => {
      const request = parseRequest(entry);
      const state = readAnswer(request.id, entries)?.state ?? 'waiting';
      const isOver = state === 'withdrawn' || request.deadline <= nowSeconds;
      return isOver ? [] : [{ ...describeRequest(place, request), state }];
    });
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
  place: OwnersPlace,
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
      const statement = JSON.stringify({ id: request.id, signature });
      const entry = { event: 'owners-signed', by: by.slice(0, 128), statement } as const;
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
