/**
 * One custodian's way of asking, behind one shape: the poller of custodian A, or the callbacks of custodian B.
 *
 * @module
 */
import type { ChainsFile } from '@pool/core';
import type { Ledger, Policy } from '@pool/policy';
import { type CustodianAClient, createCustodianAClient } from '@pool/signers';
import type { CustodianAConfig, CustodianBConfig, GateConfig } from '../config/config.ts';
import type { GateLog } from '../config/gate-log.ts';
import type { FaultPoint } from '../config/variables.ts';
import { createApprovals } from '../custodian-a/approvals.ts';
import { createCustodianAExamination } from '../custodian-a/doctor.ts';
import { createPastApprovals } from '../custodian-a/past-approvals.ts';
import { createPoller } from '../custodian-a/poller.ts';
import { createCallbackEndpoint } from '../custodian-b/callback-endpoint.ts';
import { createCallbackHandler } from '../custodian-b/callback-handler.ts';
import { createCustodianBExamination } from '../custodian-b/doctor.ts';
import { createPastTransactions } from '../custodian-b/past-transactions.ts';
import { createReadBack } from '../custodian-b/read-back.ts';
import { type CustodianBReader, createCustodianBReader } from '../custodian-b/read-client.ts';
import type { Examine } from '../examine/doctor.ts';
import type { HistorySource } from '../examine/history.ts';
import type { AppDeps } from '../http/app.ts';
import { findSigner, type Judge } from '../judge/judge.ts';

export type Transport = {
  readonly examine: Examine;
  readonly history: HistorySource;
  /** Custodian A: looks for approvals. Custodian B asks by itself; what became of the answers is read back. */
  poll(): Promise<void>;
  /** Pause between two looks. */
  readonly pollSeconds: number;
  /** A last look that is older counts as a problem. */
  readonly maxLookAgeMs: number;
  routes(wake: () => void): Pick<AppDeps, 'webhooks' | 'callbacks'>;
};

export type TransportDeps = {
  readonly config: GateConfig;
  readonly chains: ChainsFile;
  readonly policy: () => Policy;
  readonly judge: Judge;
  readonly ledger: Ledger;
  readonly mayVote: () => boolean;
  readonly onUnknownVote: () => void;
  readonly isDryRun: boolean;
  readonly nowMs: () => number;
  readonly log: GateLog;
  readonly fault: (point: FaultPoint) => void;
  readonly onAnswer: (value: 'approve' | 'deny' | 'retry') => void;
};

export function createTransport(deps: TransportDeps): Transport {
  const { custodian } = deps.config;
  return custodian.kind === 'custodian_a'
    ? createTransportA(deps, custodian)
    : createTransportB(deps, custodian);
}

/** What the doctor examines. */
export function createExamination(
  deps: Pick<TransportDeps, 'config' | 'policy' | 'nowMs'>,
): Examine {
  const { custodian } = deps.config;
  return custodian.kind === 'custodian_a'
    ? createCustodianAExamination({
        client: createClientA(custodian),
        policy: deps.policy,
        userId: custodian.userId,
      })
    : createCustodianBExamination({
        ...custodian,
        reader: createReaderB(custodian, deps.nowMs),
        policy: deps.policy,
        callbackKey: custodian.callbackKey.reveal(),
      });
}

/** What the custodian remembers. */
export function createHistorySource(
  deps: Pick<TransportDeps, 'config' | 'chains' | 'policy' | 'nowMs'>,
): HistorySource {
  const { custodian } = deps.config;
  return custodian.kind === 'custodian_a'
    ? createPastApprovals(createApprovals(createClientA(custodian)), custodian.userId)
    : createPastTransactions({
        reader: createReaderB(custodian, deps.nowMs),
        signerId: custodian.signerId,
        findChainId: createChainFinder(deps.chains),
        isListed: (wallet) => findSigner(deps.policy(), wallet) !== undefined,
      });
}

function createClientA(custodian: CustodianAConfig): CustodianAClient {
  const { url, origin, serviceToken, serviceKey, credentialId, headerPrefix } = custodian;
  return createCustodianAClient({
    url: url.href,
    origin,
    token: serviceToken,
    credentialId,
    serviceKey,
    headerPrefix,
  });
}

function createReaderB(custodian: CustodianBConfig, nowMs: () => number): CustodianBReader {
  const { url, apiKey, apiSecret } = custodian;
  return createCustodianBReader({ url, apiKey, apiSecret, nowMs });
}

function createTransportA(deps: TransportDeps, custodian: CustodianAConfig): Transport {
  const { userId, pollSeconds, webhookSecret, headerPrefix } = custodian;
  const client = createClientA(custodian);
  const approvals = createApprovals(client);
  const poller = createPoller({ ...deps, approvals, userId });
  return {
    examine: createExamination(deps),
    history: createHistorySource(deps),
    poll: async () => {
      await poller.poll();
    },
    pollSeconds,
    maxLookAgeMs: Math.max(60_000, 10_000 * pollSeconds),
    routes: (wake) =>
      webhookSecret === undefined
        ? {}
        : {
            webhooks: { secret: webhookSecret, header: `${headerPrefix}webhook-signature`, wake },
          },
  };
}

function createTransportB(deps: TransportDeps, custodian: CustodianBConfig): Transport {
  const { signerId, callbackKey, cosignerPublicKey } = custodian;
  const { ledger, isDryRun, nowMs, log } = deps;
  const reader = createReaderB(custodian, nowMs);
  const findChainId = createChainFinder(deps.chains);
  const readBack = createReadBack({ reader, ledger, signerId, nowMs, log });
  const handler = createCallbackHandler({ ...deps, reader, signerId, findChainId });
  return {
    examine: createExamination(deps),
    history: createHistorySource(deps),
    poll: readBack.look,
    pollSeconds: 60,
    maxLookAgeMs: 600_000,
    routes: () => ({
      callbacks: createCallbackEndpoint({
        cosignerPublicKey,
        callbackKey,
        handler,
        ledger,
        isDryRun,
        nowMs,
        log,
      }),
    }),
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
