/**
 * One custodian's way of asking, behind one shape: the poller of custodian A, or the callbacks of custodian B.
 *
 * @module
 */
import type { ChainsFile } from '@pool/core';
import type { Policy } from '@pool/policy';
import { createCustodianAClient } from '@pool/signers';
import type { CustodianAConfig, CustodianBConfig, GateConfig } from '../config/config.ts';
import { createApprovals, createPastApprovals } from '../custodian-a/approvals.ts';
import { createCustodianAExamination } from '../custodian-a/doctor.ts';
import { createPoller } from '../custodian-a/poller.ts';
import { createCallbackEndpoint } from '../custodian-b/callback-endpoint.ts';
import { createCallbackHandler } from '../custodian-b/callback-handler.ts';
import { createCustodianBExamination } from '../custodian-b/doctor.ts';
import { createPastTransactions, createReadBack } from '../custodian-b/past-transactions.ts';
import { createCustodianBReader } from '../custodian-b/read-client.ts';
import type { Examine } from '../examine/doctor.ts';
import type { HistorySource } from '../examine/history.ts';
import type { AppDeps } from '../http/app.ts';
import { findSigner, type VotingDeps } from '../judge/judge.ts';

/** A custodian as the configuration names it. */
export type Custodian = {
  /** What the doctor examines. */
  readonly examine: Examine;
  /** What it remembers. */
  readonly history: HistorySource;
  open(deps: TransportDeps): Transport;
};

export type Transport = {
  /** Custodian A: looks for approvals. Custodian B asks by itself; what became of the answers is read back. */
  poll(): Promise<unknown>;
  /** Pause between two looks. */
  readonly pollSeconds: number;
  /** A last look that is older counts as a problem. */
  readonly maxLookAgeMs: number;
  routes(wake: () => void): Pick<AppDeps, 'webhooks' | 'callbacks'>;
};

export type TransportDeps = VotingDeps & { readonly onUnknownVote: () => void };

type Places = {
  readonly config: GateConfig;
  readonly chains: ChainsFile;
  readonly policy: () => Policy;
  readonly nowMs: () => number;
};

export function connectCustodian(places: Places): Custodian {
  const { custodian } = places.config;
  return custodian.kind === 'custodian_a'
    ? connectA(custodian, places)
    : connectB(custodian, places);
}

function connectA(custodian: CustodianAConfig, { policy }: Places): Custodian {
  const { userId, pollSeconds, webhookSecret, headerPrefix } = custodian;
  const { url, origin, serviceToken: token, serviceKey, credentialId } = custodian;
  const client = createCustodianAClient({
    ...{ origin, token, serviceKey, credentialId, headerPrefix },
    url: url.href,
  });
  const approvals = createApprovals(client);
  return {
    examine: createCustodianAExamination({ client, policy, userId }),
    history: createPastApprovals(approvals, userId),
    open(deps) {
      const { poll } = createPoller({ ...deps, approvals, userId });
      return {
        poll,
        pollSeconds,
        maxLookAgeMs: Math.max(60_000, 10_000 * pollSeconds),
        routes: (wake) =>
          webhookSecret === undefined
            ? {}
            : {
                webhooks: {
                  secret: webhookSecret,
                  header: `${headerPrefix}webhook-signature`,
                  wake,
                },
              },
      };
    },
  };
}

function connectB(custodian: CustodianBConfig, { chains, policy, nowMs }: Places): Custodian {
  const { url, apiKey, apiSecret, signerId, cosignerPublicKey, callbackKey } = custodian;
  const reader = createCustodianBReader({ url, apiKey, apiSecret, nowMs });
  const findChainId = createChainFinder(chains);
  return {
    examine: createCustodianBExamination({
      ...custodian,
      reader,
      policy,
      callbackKey: callbackKey.reveal(),
    }),
    history: createPastTransactions({
      reader,
      signerId,
      findChainId,
      isListed: (wallet) => findSigner(policy(), wallet) !== undefined,
    }),
    open(deps) {
      const handler = createCallbackHandler({ ...deps, reader, signerId, findChainId });
      return {
        poll: createReadBack({ ...deps, reader, signerId }).look,
        pollSeconds: 60,
        maxLookAgeMs: 600_000,
        routes: () => ({
          callbacks: createCallbackEndpoint({ ...deps, cosignerPublicKey, callbackKey, handler }),
        }),
      };
    },
  };
}

/** The chain whose settings list a token. Undefined for none, and for a token address that two chains have. */
function createChainFinder({ chains }: ChainsFile): (to: string) => number | undefined {
  return (to) => {
    const found = Object.values(chains).filter(({ tokens }) =>
      Object.values(tokens).some(({ address }) => address.toLowerCase() === to.toLowerCase()),
    );
    const [first] = found;
    return found.length === 1 ? first?.chainId : undefined;
  };
}
