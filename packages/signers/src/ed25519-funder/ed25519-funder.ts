/**
 * The funder's signatures on Solana and Stellar (protocol §8; docs/decisions/0015). One ed25519 key is a wallet on both chains. It is used
 * next to the signer of the EVM chains, whichever that is.
 *
 * Like every signer it builds the bytes itself from a typed request. It signs one kind, the authorisation of a batch.
 *
 * @module
 */
import {
  bytesToHex,
  bytesToHex32,
  chainFamilies,
  type Ed25519Address,
  type Ed25519FamilyName,
  type Ed25519FundAuthorization,
  type Ed25519Pool,
  encodeEd25519FundAuthorization,
  type Hex,
  type Hex32,
  isPoolError,
  parseEd25519Address,
  type Secret,
} from '@pool/core';
import type { RefusalReason } from '@pool/policy';
import { openEd25519Key } from './ed25519-key.ts';

export type Ed25519FundRequest = {
  readonly kind: 'fund-authorization';
  readonly payload: Ed25519Pool & { readonly authorization: Ed25519FundAuthorization };
  /** W of the wallet that must sign. The request is refused unless it is this signer's own. */
  readonly expectedSigner: Hex32;
};

export type Ed25519Outcome =
  | {
      readonly state: 'signed';
      /** 64 bytes of RFC 8032. The same request always has the same signature. */
      readonly signature: Hex;
    }
  | {
      readonly state: 'refused';
      readonly reason: RefusalReason;
      /** Public explanation, without values from the request. */
      readonly message: string;
    };

export type Ed25519Funder = ReturnType<typeof createLocalEd25519Funder>;

export type LocalEd25519FunderOptions = {
  /** The seed of RFC 8032: 32 bytes of lower-case 0x-hex. */
  readonly seed: Secret;
  readonly allow?: {
    /** Pools and tokens that the signer accepts. Omitted: any. */
    readonly pools?: readonly (Ed25519Pool & { readonly tokens: readonly Hex32[] })[];
  };
};

/**
 * A funder's ed25519 key in this process.
 *
 * @example
 * const funder = createLocalEd25519Funder({ seed: new Secret(text) });
 * const outcome = funder.submit({ kind: 'fund-authorization', payload, expectedSigner: funder.publicKey() });
 *
 * @throws PoolError `invalid_configuration`, without the value
 */
export function createLocalEd25519Funder(options: LocalEd25519FunderOptions) {
  const { seed, allow = {} } = options;
  const key = openEd25519Key(seed);
  const walletPub = bytesToHex32(key.publicKey);

  return {
    name: 'local-ed25519',
    capabilities: { deterministic: true, needsApprover: false, curves: ['ed25519'] } as const,
    /** W: the ed25519 public key. */
    publicKey: () => walletPub,
    /** The wallet's address on a chain of that family. */
    address: (family: Ed25519FamilyName): Ed25519Address =>
      parseEd25519Address(family, chainFamilies[family].formatAddress(walletPub)),
    submit(request: Ed25519FundRequest): Ed25519Outcome {
      const refusal = findRefusal(request, walletPub, allow);
      const bytes = refusal === undefined ? tryEncode(request) : undefined;
      if (bytes === undefined) {
        return refuse(refusal ?? 'malformed-payload');
      }
      return { state: 'signed', signature: bytesToHex(key.sign(bytes)) };
    },
  };
}

function findRefusal(
  request: Ed25519FundRequest,
  walletPub: Hex32,
  { pools }: NonNullable<LocalEd25519FunderOptions['allow']>,
): RefusalReason | undefined {
  // Untyped callers can pass any kind.
  if ((request.kind as string) !== 'fund-authorization') {
    return 'kind-not-allowed';
  }
  const { genesisHash, pool, authorization } = request.payload;
  if (request.expectedSigner !== walletPub || authorization.funder !== walletPub) {
    return 'foreign-signer';
  }
  if (pools === undefined) {
    return undefined;
  }
  const listed = pools.find((entry) => entry.genesisHash === genesisHash && entry.pool === pool);
  if (listed === undefined) {
    return 'pool-not-listed';
  }
  return listed.tokens.includes(authorization.token) ? undefined : 'token-not-listed';
}

/** Undefined: the payload is not a valid authorisation. */
function tryEncode({ payload }: Ed25519FundRequest): Uint8Array | undefined {
  try {
    return encodeEd25519FundAuthorization(payload, payload.authorization);
  } catch (error) {
    if (isPoolError(error) || error instanceof TypeError) {
      return undefined;
    }
    throw error;
  }
}

const messages: Readonly<Partial<Record<RefusalReason, string>>> = {
  'kind-not-allowed': 'an ed25519 funder signs authorisations of batches only',
  'foreign-signer':
    'the request expects the signature of another wallet than the one of this signer',
  'pool-not-listed': "genesis hash and pool are not in this signer's configuration",
  'token-not-listed': "the token is not in this signer's configuration of the pool",
  'malformed-payload': 'the payload is not a valid authorisation of a batch',
};

function refuse(reason: RefusalReason): Ed25519Outcome {
  const message = messages[reason] ?? `the ed25519 funder refuses this request: ${reason}`;
  return { state: 'refused', reason, message };
}
