/**
 * The platform's `/agent-edge` as a page calls it: with API keys of the account, which are made when they are first needed and kept sealed.
 *
 * @module
 */
import { errorCodeOf, Secret, type SpendOperationName } from '@pool/core';
import { createEdgeGate, type EdgeClient } from '@pool/platform-client/browser';
import type { Clock, RecipientPort } from '../ports.ts';
import type { SpendGatePort, SpendPlatformPort } from '../spend/spend-ports.ts';
import type { DeliveryPort } from '../sync/ports.ts';
import type { SealedRecords } from './store/sealed-records.ts';
import type { TabLocks } from './store/tab-owner.ts';

/** `edge`: an edge token, which looks payees up. */
export type EdgeKeyKind = (typeof edgeKeyKinds)[number];

const edgeKeyKinds = ['holder.read', 'holder.transfer', 'holder.send', 'edge'] as const;

/** @param held - keys that this browser keeps for the account, secret. They must stay valid */
export type MintKey = (kind: EdgeKeyKind, held: readonly Secret[]) => Promise<Secret>;

/** What a wallet calls of `/agent-edge`, with one key. */
export type EdgeCalls = Pick<EdgeClient, 'getNotes' | 'lookupRecipients' | 'findEligibilityPaths'> &
  SpendPlatformPort;

export type PlatformCalls = {
  readonly deliveries: DeliveryPort;
  readonly lookup: RecipientPort;
  /** The eligibility of payees, through the platform. */
  readonly gate: SpendGatePort;
  readonly spends: Readonly<Record<SpendOperationName, SpendPlatformPort>>;
};

/** How long a platform that did not answer is not asked again, in milliseconds: each question can take half a minute. */
const silenceMs = 15_000;

type HeardDeliveries = DeliveryPort & {
  /** Unix time of the platform's last answer, 0 if this browser has none. Undefined: it answers. */
  silentSinceMs(): Promise<number | undefined>;
};

/** A platform that is silent lists nothing: what this browser has, and the chain, can be read without it. */
export function tolerateSilence(
  deliveries: DeliveryPort,
  {
    records,
    nowMs,
    steadyMs,
  }: Pick<Clock, 'nowMs' | 'steadyMs'> & { readonly records: SealedRecords<number> },
): HeardDeliveries {
  let askAgainAtMs: number | undefined;
  return {
    async fetchPage(symbol, cursor) {
      if (steadyMs() < (askAgainAtMs ?? 0)) {
        return { notes: [], isOwnFile: true };
      }
      try {
        const page = await deliveries.fetchPage(symbol, cursor);
        askAgainAtMs = undefined;
        await records.change(['platform'], () => [nowMs()]);
        return page;
      } catch (error) {
        if (errorCodeOf(error) !== 'platform_unreachable') {
          throw error;
        }
        askAgainAtMs = steadyMs() + silenceMs;
        return { notes: [], isOwnFile: true };
      }
    },
    silentSinceMs: async () =>
      askAgainAtMs === undefined ? undefined : ((await records.find('platform')) ?? 0),
  };
}

export function createPlatformCalls({
  chain,
  createClient,
  mintKey,
  records,
  locks,
}: {
  /** Key of the chain. */
  readonly chain: string;
  readonly createClient: (token: Secret) => EdgeCalls;
  readonly mintKey: MintKey;
  readonly records: SealedRecords<string>;
  readonly locks: TabLocks | undefined;
}): PlatformCalls {
  /** Of tabs that need a key at once, one makes it. @param refused - the stored key that the platform does not accept */
  async function mint(kind: EdgeKeyKind, refused?: string): Promise<Secret> {
    const work = async (): Promise<Secret> => {
      const stored = await records.find(kind);
      if (stored !== undefined && stored !== refused) {
        return new Secret(stored);
      }
      const held = await Promise.all(edgeKeyKinds.map(records.find));
      const key = await mintKey(
        kind,
        held.flatMap((text) => (text === undefined ? [] : new Secret(text))),
      );
      await records.change([kind], () => [key.reveal()]);
      return key;
    };
    return await (locks === undefined ? work() : locks.request('pool-wallet-keys', work));
  }

  /** A key that the platform does not accept any more is made again, once. */
  async function call<T>(kind: EdgeKeyKind, work: (client: EdgeCalls) => Promise<T>): Promise<T> {
    const stored = await records.find(kind);
    if (stored === undefined) {
      return await work(createClient(await mint(kind)));
    }
    try {
      return await work(createClient(new Secret(stored)));
    } catch (error) {
      if (errorCodeOf(error) !== 'unauthorized') {
        throw error;
      }
      return await work(createClient(await mint(kind, stored)));
    }
  }

  const spendsOf = (kind: EdgeKeyKind): SpendPlatformPort => ({
    postSpend: (key, submission) => call(kind, (client) => client.postSpend(key, submission)),
    getSpend: (key) => call(kind, (client) => client.getSpend(key)),
  });

  return {
    deliveries: {
      fetchPage: (token, cursor) =>
        call('holder.read', (client) =>
          client.getNotes({ chain, token, ...(cursor === undefined ? {} : { cursor }) }),
        ),
    },
    lookup: {
      lookupRecipients: (key, addresses) =>
        call('edge', (client) => client.lookupRecipients(key, addresses)),
    },
    gate: createEdgeGate(chain, {
      findEligibilityPaths: (request) =>
        call('holder.transfer', (client) => client.findEligibilityPaths(request)),
    }),
    spends: { transfer: spendsOf('holder.transfer'), send: spendsOf('holder.send') },
  };
}
