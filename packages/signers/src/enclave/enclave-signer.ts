/**
 * `enclave`: a signer whose key is in a process that decides for itself. The adapter pins what it talks to: the root of the attestation,
 * PCR0–2 and the address come from its own configuration, and every signature must recover to that address from the digest that is computed
 * here.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import {
  bytesToHex,
  cleanMessage,
  computeWalletAddress,
  type EvmAddress,
  hexToBytes,
  isPoolError,
  PoolError,
  type WalletPub,
} from '@pool/core';
import {
  computeRequestDigest,
  computeRequestExternalId,
  type DecisionReason,
  isRefusalReason,
  type RefusalReason,
  type SignRequest,
  signKinds,
} from '@pool/policy';
import { acceptSignature } from '../accept-signature.ts';
import { type AttestationPins, verifyAttestation } from '../attestation/verify-attestation.ts';
import type { HolderSigner } from '../holder/holder-signer.ts';
import { createRemoteHolder } from '../holder/remote-holder.ts';
import type { Outcome, Progress, Signer, SubmitOptions } from '../signer.ts';
import { type Call, createEnclaveConnection } from './enclave-connection.ts';
import {
  attestAnswerSchema,
  publicKeyAnswerSchema,
  type SignAnswer,
  signAnswerSchema,
} from './messages.ts';
import { serializeSignRequest } from './wire-request.ts';

export type EnclaveSignerOptions = {
  /** Path of the enclave's AF_UNIX socket, or of the bridge to its vsock. */
  readonly socketPath: string;
  /** Address of the key, from this side's own configuration, never from the enclave. */
  readonly address: EvmAddress;
  readonly pins: AttestationPins;
  /** False for a key in a PKCS#11 token, which draws a fresh nonce for each signature. Default: true. */
  readonly deterministic?: boolean;
  /** Longest wait for an answer, milliseconds. Default: 30 seconds; rebuilding a batch of 256 takes about one. */
  readonly timeoutMs?: number;
  /** Clock that attestations are compared with, milliseconds since the epoch. Default: the system clock. */
  readonly nowMs?: () => number;
  /** Learns the user data of each attestation that was verified: the SHA-256 of the enclave's policy. */
  readonly onAttested?: (userData: Uint8Array | undefined) => void;
};

/** A signer, and the end of its connection. */
export type EnclaveSigner = Signer & {
  /** Ends the connection. A later call makes another one, and attests again. */
  close(): void;
};

/** The process on the socket is an enclave with another key than the configured one. */
class ForeignKeyError extends PoolError {
  constructor(socketPath: string, address: EvmAddress) {
    super(
      'enclave_not_attested',
      `the enclave at ${socketPath} holds another key than that of ${address}; check the configured socket and address`,
    );
  }
}

/** Connects at the first call. */
export function createEnclaveSigner(options: EnclaveSignerOptions): EnclaveSigner {
  const { socketPath, address, pins, timeoutMs = 30_000, nowMs = Date.now } = options;
  const { deterministic = true } = options;
  let walletPub: WalletPub | undefined;
  const connection = createEnclaveConnection({ socketPath, timeoutMs, attest });

  async function attest(call: Call): Promise<void> {
    const { publicKey } = await call({ method: 'publicKey' }, publicKeyAnswerSchema);
    if (computeWalletAddress(publicKey) !== address) {
      throw new ForeignKeyError(socketPath, address);
    }
    const nonce = randomBytes(32);
    const { document } = await call(
      { method: 'attest', nonce: bytesToHex(nonce) },
      attestAnswerSchema,
    );
    const verdict = verifyAttestation(hexToBytes(document), {
      ...pins,
      nonce,
      publicKey: hexToBytes(publicKey, 33),
      nowMs: nowMs(),
    });
    if (verdict.state === 'refused') {
      throw new PoolError(
        'enclave_not_attested',
        `the attestation of the enclave at ${socketPath} is refused (${verdict.defect}): ${verdict.message}`,
      );
    }
    walletPub = publicKey;
    options.onAttested?.(verdict.document.userData);
  }

  async function submit(
    request: SignRequest,
    { signal }: SubmitOptions = {},
  ): Promise<Progress | Outcome> {
    signal?.throwIfAborted();
    const refusal = findOwnRefusal(request, address);
    if (refusal !== undefined) {
      return refuse(refusal, 'the adapter of the enclave does not send this request');
    }
    try {
      const content = { method: 'sign', request: serializeSignRequest(request) };
      return readAnswer(await connection.call(content, signAnswerSchema, signal), request);
    } catch (error) {
      if (!isPoolError(error) || signal?.aborted === true) {
        throw error;
      }
      const { code, message, retryable } = error;
      if (error instanceof ForeignKeyError) {
        return refuse('foreign-signer', message);
      }
      return { state: 'failed', retryable, code, message };
    }
  }

  function readAnswer(answer: SignAnswer, request: SignRequest): Progress | Outcome {
    const providerId = providerIdOf(request);
    if (answer.state === 'signed') {
      const digest = computeRequestDigest(request);
      const { signature } = answer;
      return {
        state: 'signed',
        providerId,
        signature: acceptSignature({ signature, digest, expectedSigner: address }),
      };
    }
    const { state, reason } = answer;
    // Not a no: a signature of this spend exists, so its notes may not be used as if it were refused.
    const wasSigned = state === 'refused' && reason === signedBefore;
    const isStopped = state === 'later' && operatorReasons.includes(reason);
    if (!wasSigned && !isStopped) {
      // No vote is underway, and a batch of an enclave has no time for a wait of hours: whoever sent it sends it again.
      return { ...refuse(reason, describe(answer)), providerId };
    }
    const why = wasSigned
      ? 'signed this before, and its answer was lost'
      : 'signs nothing until its operator acts';
    const message = `the enclave ${why} (${reason}): ${cleanMessage(answer.message)}`;
    return { state: 'failed', providerId, retryable: isStopped, code: 'enclave_failed', message };
  }

  async function readPublicKey(signal?: AbortSignal): Promise<WalletPub> {
    const { publicKey } = await connection.call(
      { method: 'publicKey' },
      publicKeyAnswerSchema,
      signal,
    );
    // Compared with the key that was attested over this very connection.
    if (publicKey !== walletPub) {
      throw new PoolError(
        'enclave_not_attested',
        'the enclave answered with another key than it attested',
      );
    }
    return publicKey;
  }

  return {
    name: 'enclave',
    capabilities: { deterministic, needsApprover: false, curves: ['secp256k1'] },
    address: async () => address,
    publicKey: () => readPublicKey(),
    probe: async ({ signal } = {}) => {
      await readPublicKey(signal);
    },
    submit,
    // The enclave stores decisions, and no requests: asking again gives the same signature.
    read: async (providerId, request, submitOptions) =>
      providerId === providerIdOf(request) ? submit(request, submitOptions) : undefined,
    find: async () => undefined,
    close: () => connection.close(),
  };
}

export type EnclaveHolderOptions = Omit<EnclaveSignerOptions, 'address'> & {
  /** W, from this side's own configuration, never from the enclave. */
  readonly walletPub: WalletPub;
  /** Pause between two questions about one request, milliseconds. */
  readonly pollMs: number;
  /** @throws when the signal is aborted */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
};

/** A holder whose key is in an enclave. Its P is in the enclave's own policy. */
export function createEnclaveHolder(options: EnclaveHolderOptions): HolderSigner {
  const { walletPub, pollMs, sleep, ...connection } = options;
  const signer = createEnclaveSigner({ ...connection, address: computeWalletAddress(walletPub) });
  const holder = createRemoteHolder({ name: 'enclave', signer, walletPub, pollMs, sleep });
  return { ...holder, close: () => signer.close() };
}

function providerIdOf({ externalId }: SignRequest): string {
  return `enclave:${externalId}`;
}

/** What needs no enclave to be refused. Everything else the enclave decides. */
function findOwnRefusal(request: SignRequest, address: EvmAddress): RefusalReason | undefined {
  if (!signKinds.includes(request.kind)) {
    return 'kind-not-allowed';
  }
  if (request.expectedSigner !== address) {
    return 'foreign-signer';
  }
  try {
    return computeRequestExternalId(request) === request.externalId
      ? undefined
      : 'external-id-mismatch';
  } catch (error) {
    if (isPoolError(error) || error instanceof TypeError) {
      return 'malformed-payload';
    }
    throw error;
  }
}

/** Part of a longer sentence. */
function describe({ reason, message }: Exclude<SignAnswer, { state: 'signed' }>): string {
  return `${reason}: ${cleanMessage(message).replace(/\.$/, '')}`;
}

/** A reason of the enclave's policy is a vote of no; one that every signer can give keeps its name. */
function refuse(reason: string, message: string): Outcome {
  return { state: 'refused', reason: isRefusalReason(reason) ? reason : 'denied', message };
}

/** An enclave whose key does not repeat its signatures signs a spend once. */
const signedBefore = 'spend-signed-before' satisfies DecisionReason;

/** Of this process, not of the batch: the same request is signed once its operator has acted. */
const operatorReasons: readonly string[] = [
  'ledger-restored',
  'ledger-full',
  'clock-differs',
  'clock-behind-ledger',
] satisfies DecisionReason[];
