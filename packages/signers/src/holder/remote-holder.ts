/**
 * A holder's signer over a {@link Signer} outside this process: an enclave or a custodian. It waits for the vote and turns every
 * outcome but a signature into an error.
 *
 * @module
 */
import {
  bytesToBigint,
  computeWalletAddress,
  type Hex,
  hexToBytes,
  PoolError,
  peerCode,
  Secret,
  type SpendFile,
  type WalletPub,
} from '@pool/core';
import type { SpendOperation, SpendSignature } from '@pool/notes';
import type { SignRequestContent } from '@pool/policy';
import { createSignRequest } from '@pool/policy/requests';
import { isProgress, type Outcome, type Signer } from '../signer.ts';
import {
  type HolderSigner,
  type HolderSignOptions,
  type HolderSpendOptions,
  OwnRefusalError,
  RequestExpiredError,
} from './holder-signer.ts';

export type RemoteHolderOptions = {
  /** Kind of the signer in the configuration, for example `enclave`. */
  readonly name: string;
  readonly signer: Signer;
  /** W, from this side's own configuration, never from the signer. */
  readonly walletPub: WalletPub;
  /** Pause between two reads of a request that waits for a vote, in milliseconds. */
  readonly pollMs: number;
  /** @throws when the signal is aborted */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
};

/**
 * How long a viewing key may wait for its signature, milliseconds. Nobody votes on it, so a signer that repeats its signatures either
 * signs at once or has no policy that allows it.
 */
const viewingKeyLimitMs = 30_000;

/** A holder whose key is in another process. EVM wallets only. */
export function createRemoteHolder(options: RemoteHolderOptions): HolderSigner {
  const { signer } = options;
  return {
    ...createSignerHolder(options, OwnRefusalError),
    needsVote: signer.capabilities.needsApprover,
    isRemote: true,
    async probe(probeOptions) {
      await (signer.probe === undefined ? signer.publicKey() : signer.probe(probeOptions));
    },
  };
}

/** @param OwnRefusal - the error of a request that this side did not send */
export function createSignerHolder(
  options: RemoteHolderOptions,
  OwnRefusal: typeof PoolError,
): HolderSigner {
  const { name, signer, walletPub } = options;
  const { deterministic } = signer.capabilities;
  const expectedSigner = computeWalletAddress(walletPub);

  /** @param limitMs - ends the pauses between two reads. Absent: the caller's signal ends the wait */
  async function sign(
    content: SignRequestContent,
    signOptions: HolderSignOptions,
    limitMs = Number.POSITIVE_INFINITY,
  ): Promise<Hex> {
    const request = createSignRequest(content);
    const { signal, onProgress } = signOptions;
    const submitOptions = signal === undefined ? {} : { signal };
    let step = await signer.submit(request, submitOptions);
    for (let waitedMs = 0; isProgress(step); waitedMs += options.pollMs) {
      onProgress?.(step);
      if (waitedMs >= limitMs) {
        throw new PoolError(
          'holder_unavailable',
          `the holder's signer ${name} holds the request for the viewing key (${step.providerId}: ${step.state}) and has not signed it in ${limitMs / 1000} seconds. Nobody votes on such a request: check that the signer's policy allows viewing-key signatures for this domain, and try again`,
          { retryable: true },
        );
      }
      await options.sleep(options.pollMs, signal);
      step =
        (await signer.read(step.providerId, request, submitOptions)) ??
        (await signer.submit(request, submitOptions));
    }
    return readSignature(step, OwnRefusal);
  }

  function describeSpend(
    operation: SpendOperation,
    salt: Uint8Array,
    file: SpendFile | undefined,
  ): SignRequestContent {
    const payload = { operation, salt };
    return file === undefined
      ? { kind: 'spend', payload, expectedSigner }
      : { kind: 'spend', payload, expectedSigner, file };
  }

  async function withdrawSpend(
    operation: SpendOperation,
    salt: Uint8Array,
    { file, signal }: HolderSpendOptions = {},
  ): Promise<void> {
    const request = createSignRequest(describeSpend(operation, salt, file));
    const callOptions = signal === undefined ? {} : { signal };
    const found = await signer.find(request, callOptions);
    const step =
      found !== undefined && isProgress(found)
        ? await signer.withdraw?.(found.providerId, request, callOptions)
        : found;
    const isUnanswered = step?.state === 'failed' && step.retryable;
    const isOwnRefusal = step?.state === 'refused' && step.providerId === undefined;
    if (isUnanswered || isOwnRefusal) {
      readSignature(step, OwnRefusal);
    }
  }

  return {
    name,
    curve: 'secp256k1',
    deterministic,
    walletPub: async () => walletPub,
    // P comes from the signer's own configuration.
    signIn: ({ encryptionPublicKey: _own, ...payload }, signOptions = {}) =>
      sign({ kind: 'sign-in', payload, expectedSigner }, signOptions),
    async signViewingKeyText(domain) {
      if (!deterministic) {
        throw new PoolError(
          'viewing_key_required',
          `the holder's signer ${name} does not repeat its signatures; set DISBURSE_HOLDER_VIEWING_KEY to the key that you made with "disburse-agent viewing-key new"`,
        );
      }
      const signature = await sign(
        { kind: 'viewing-key', payload: { domain }, expectedSigner },
        {},
        viewingKeyLimitMs,
      );
      return new Secret(hexToBytes(signature, 65).subarray(0, 64));
    },
    async signSpend(operation, salt, { file, ...signOptions } = {}) {
      return parseSpendSignature(await sign(describeSpend(operation, salt, file), signOptions));
    },
    ...(signer.withdraw === undefined ? {} : { withdrawSpend }),
    signDisclosure: (content, signOptions = {}) =>
      sign({ kind: 'disclosure', payload: { content }, expectedSigner }, signOptions),
  };
}

/** @param signature - r ‖ s ‖ v, as `acceptSignature` returns it */
function parseSpendSignature(signature: Hex): SpendSignature {
  const bytes = hexToBytes(signature, 65);
  return {
    rSig: bytesToBigint(bytes.subarray(0, 32)),
    s: bytesToBigint(bytes.subarray(32, 64)),
    parity: bytes[64] === 28 ? 1 : 0,
  };
}

function readSignature(outcome: Outcome, OwnRefusal: typeof PoolError): Hex {
  switch (outcome.state) {
    case 'signed':
      return outcome.signature;
    case 'refused': {
      // Only an answer of the provider names its request.
      const Refusal = outcome.providerId === undefined ? OwnRefusal : PoolError;
      throw new Refusal('signer_refused', `the holder's signer refused: ${outcome.message}`);
    }
    case 'expired':
      throw new RequestExpiredError(
        'signer_expired',
        "the request to the holder's signer expired there before it was approved; send it again",
        { status: 504 },
      );
    case 'failed':
      throw new PoolError(peerCode(outcome.code), outcome.message, {
        retryable: outcome.retryable,
      });
    case 'sent':
      throw new PoolError(
        'signature_rejected',
        "the holder's signer answered with a transaction instead of a signature",
      );
  }
}
