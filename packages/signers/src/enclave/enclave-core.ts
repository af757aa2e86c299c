/**
 * What the enclave does, without its socket: it parses a request, rebuilds the batch or spend from its manifest file, decides by its own
 * policy and ledger, stores the decision, and only then signs. The same `decide` and the same ledger run in the approve process.
 *
 * @module
 */

import { randomUUID } from 'node:crypto';
import {
  canonicalDigest,
  computeWalletAddress,
  type EvmAddress,
  type Hex,
  type Hex32,
  hexToBytes,
  isPoolError,
  type ManifestFile,
  type WalletPub,
} from '@pool/core';
import {
  type BatchQuestion,
  computeRequestDigest,
  type DecisionReason,
  deadMarginSeconds,
  decide,
  decideIntake,
  decisionReasons,
  type Facts,
  type Ledger,
  type LedgerView,
  lintPolicy,
  listFactQuestions,
  type Policy,
  type Rebuild,
  type RebuiltManifest,
  rebuildManifest,
  type SignRequest,
  type WorkingHours,
} from '@pool/policy';
import { acceptSignature } from '../accept-signature.ts';
import { invalidConfiguration } from '../config.ts';
import type { SigningKey } from '../signing-key.ts';
import { type Attester, readModuleTime } from './attester.ts';
import type { SignAnswer } from './messages.ts';
import { parseSignRequest } from './wire-request.ts';

// What an enclave can say about the chain without a node. A node behind the host's network would say what the host likes, so none is asked:
// the contract refuses a used batch and a used nullifier anyway. An earlier attempt whose authorisation this key never signed cannot be
// paid; one that it signed may have been, so no other attempt follows it (docs/decisions/0015).

/** How far the own clock may be from that of the secure module, as from a block. */
const maxDifferenceSeconds = 300;

/** No block tells the time. The secure module does. @param moduleMs - undefined: it does not answer */
function createLocalClock(moduleMs: number | undefined): Pick<Facts, 'clock'> {
  return moduleMs === undefined
    ? {}
    : { clock: [{ blockSeconds: Math.floor(moduleMs / 1000), maxDifferenceSeconds }] };
}

function computeLocalFacts(
  manifest: RebuiltManifest,
  ledger: LedgerView,
  nowMs: number,
): Omit<Facts, 'clock'> {
  const { previousAttempt, earlierSpends } = listFactQuestions(manifest, ledger);
  const isOver = (deadline: number): boolean => nowMs > 1000 * (deadline + deadMarginSeconds);
  return {
    batch: 'open',
    previousAttempt:
      previousAttempt !== undefined && isUnsigned(previousAttempt, ledger) ? 'dead' : undefined,
    usedNullifiers: [],
    deadSpends: earlierSpends
      .filter(({ deadline }) => isOver(deadline))
      .map(({ manifestDigest }) => manifestDigest),
  };
}

/** The attempt is stored, so that it is refused once a later one is, and its authorisation was never signed. */
function isUnsigned(attempt: BatchQuestion, ledger: LedgerView): boolean {
  const { chainId, pool, funder, batchNonce, isApproved } = attempt;
  return !isApproved && ledger.findBatch(chainId, pool, funder, batchNonce) !== undefined;
}

export type EnclaveOptions = {
  readonly key: SigningKey;
  readonly policy: Policy;
  readonly ledger: Ledger;
  readonly attester: Attester;
  /** Own clock, milliseconds since the epoch. */
  readonly nowMs: () => number;
};

export type Enclave = {
  readonly walletPub: WalletPub;
  readonly address: EvmAddress;
  /** @param nonce - 32 bytes of the caller. @returns the attestation document. @throws PoolError `enclave_not_attested` */
  attest(nonce: Uint8Array): Uint8Array;
  /** @param value - a sign request as JSON, hostile */
  sign(value: unknown): SignAnswer;
};

/** @throws PoolError `invalid_configuration` if the policy asks for people, whom an enclave cannot ask, or has a lint error */
export function createEnclave(options: EnclaveOptions): Enclave {
  const { key, policy, ledger, attester, nowMs } = options;
  const { walletPub, deterministic } = key;
  const address = computeWalletAddress(walletPub);
  requireUsablePolicy(policy, address);
  requireSoundPolicy(toPlain(policy));
  let lastRebuild: { readonly digest: Hex32; readonly result: Rebuild } | undefined;
  const policyDigest = hexToBytes(computePolicyDigest(policy), 32);
  const publicKey = hexToBytes(walletPub, 33);

  function sign(value: unknown): SignAnswer {
    const request = readRequest(value);
    if ('state' in request) {
      return request;
    }
    if (request.expectedSigner !== address) {
      return refuse('foreign-signer');
    }
    const clock = createLocalClock(readModuleTime(attester, publicKey));
    const taken = takeManifest(request, clock);
    return 'state' in taken ? taken : vote(request, taken.manifest, clock);
  }

  type Clock = ReturnType<typeof createLocalClock>;
  type Taken = { readonly manifest: RebuiltManifest | undefined };

  /** The manifest that came with the request, stored first, or else the stored one that it belongs to. */
  function takeManifest(request: SignRequest, clock: Clock): Taken | SignAnswer {
    const file = 'file' in request ? request.file : undefined;
    const stored = file === undefined ? readStoredFile(request) : file;
    if (stored === undefined) {
      return { manifest: undefined };
    }
    const rebuilt = rebuild(stored);
    if (rebuilt.kind === 'refused') {
      return refuse(rebuilt.reason);
    }
    const { manifest } = rebuilt;
    const now = nowMs();
    const result = ledger.storeManifest(manifest, now, (view) =>
      decideIntake({
        manifest,
        policy,
        ledger: view,
        facts: readFacts(manifest, view, clock),
        nowMs: now,
      }),
    );
    switch (result.kind) {
      case 'stored':
      case 'known':
        return { manifest };
      case 'refused':
        return refuse(result.reason);
      case 'later':
        return wait(result.reason, policy);
    }
  }

  /** A batch is rebuilt for its authorisation, its permit and its approval in turn, so the last result is kept. */
  function rebuild(file: ManifestFile): Rebuild {
    const digest = canonicalDigest(file);
    if (lastRebuild?.digest !== digest) {
      lastRebuild = { digest, result: rebuildManifest(file, policy.evidence) };
    }
    return lastRebuild.result;
  }

  function readStoredFile(request: SignRequest): ManifestFile | undefined {
    const known = ledger.findManifestFor(request);
    return known === undefined ? undefined : ledger.readFile(known.manifestDigest);
  }

  function readFacts(manifest: RebuiltManifest, view: LedgerView, clock: Clock): Facts {
    return { ...computeLocalFacts(manifest, view, nowMs()), ...clock };
  }

  /** Decides and stores in one transaction, then signs. A crash between the two signs the same again. */
  function vote(
    request: SignRequest,
    manifest: RebuiltManifest | undefined,
    clock: Clock,
  ): SignAnswer {
    // Each call is decided anew, under the policy and the clock of now. The guard keeps what was approved before.
    const requestId = randomUUID();
    const now = nowMs();
    const voted = ledger.decide({ requestId, request, nowMs: now }, (view) =>
      decide({
        request,
        origin: { kind: 'local' },
        manifest,
        policy,
        ledger: view,
        facts: manifest === undefined ? clock : readFacts(manifest, view, clock),
        signer: { deterministic },
        nowMs: now,
      }),
    );
    if (voted.kind === 'later') {
      ledger.dropWaiting(requestId, now);
      return wait(voted.reason, policy);
    }
    ledger.markSent(voted.vote.id, now);
    ledger.markSeen(voted.vote.id, now);
    if (voted.vote.value === 'deny') {
      return refuse(voted.vote.reason ?? 'denied');
    }
    return { state: 'signed', signature: signDigest(computeRequestDigest(request)) };
  }

  /** r ‖ s ‖ v, low s. A deterministic key gives a repeated request the same signature, so one rSig leaves per manifest. */
  function signDigest(digest: Hex32): Hex {
    // A fault in the arithmetic must not leave: a wrong signature of a deterministic key reveals it.
    return acceptSignature({ signature: key.sign(digest), digest, expectedSigner: address });
  }

  return {
    walletPub,
    address,
    attest: (nonce) => attester.attest({ nonce, publicKey, userData: policyDigest }),
    sign,
  };
}

/** SHA-256 over the canonical JSON of the parsed policy. It is the user data of every attestation. */
export function computePolicyDigest(policy: Policy): Hex32 {
  return canonicalDigest(toPlain(policy));
}

function readRequest(value: unknown): SignRequest | SignAnswer {
  try {
    return parseSignRequest(value);
  } catch (error) {
    if (isPoolError(error)) {
      return refuse('malformed-payload');
    }
    throw error;
  }
}

/** The sentence of the reason, and nothing that was found: the caller may be anybody on the socket. */
function refuse(reason: DecisionReason): SignAnswer {
  return { state: 'refused', reason, message: decisionReasons[reason] };
}

function wait(reason: DecisionReason, { workingHours }: Policy): SignAnswer {
  // Nobody brings a manifest later: it comes with its request.
  if (reason === 'manifest-missing') {
    return refuse(reason);
  }
  const message =
    reason === 'outside-working-hours' && workingHours !== undefined
      ? describeHours(workingHours)
      : decisionReasons[reason];
  return { state: 'later', reason, message };
}

/** The caller must know when to send the batch again. */
function describeHours({ days, from, to, timeZone }: WorkingHours): string {
  return `The policy of the enclave signs batches on ${days.join(', ')} from ${from} to ${to} (${timeZone}) only.`;
}

function requireUsablePolicy(policy: Policy, address: EvmAddress): void {
  const asksPeople =
    policy.humanRelease !== undefined ||
    policy.duplicateRoster?.action === 'hold' ||
    policy.pools.some(({ tokens }) => tokens.some(({ holdAbove }) => holdAbove !== undefined));
  if (asksPeople) {
    throw invalidConfiguration(
      'the policy lets batches wait for people ("humanRelease", "holdAbove", or "duplicateRoster" with "hold"), and an enclave cannot ask people; remove it, or put the approve process before a custodian',
    );
  }
  const isNamed =
    policy.funders.some((funder) => funder.address === address) ||
    policy.holders.some(({ walletPub }) => computeWalletAddress(walletPub) === address);
  if (!isNamed) {
    throw invalidConfiguration(
      `the policy names no funder or holder with the address of this key, ${address}; nothing could be signed`,
    );
  }
}

/** A policy that contradicts itself would be read one way by its author and another way here. */
function requireSoundPolicy(policy: unknown): void {
  const errors = lintPolicy(policy).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) {
    const named = errors.map(({ path, message }) => `${path || 'policy'}: ${message}`).join(' ');
    throw invalidConfiguration(`the policy has mistakes; correct it. ${named}`);
  }
}

/** The policy as plain JSON, for its digest. */
function toPlain(policy: Policy): unknown {
  return JSON.parse(JSON.stringify(policy)) as unknown;
}
