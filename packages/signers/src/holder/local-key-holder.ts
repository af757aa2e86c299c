/**
 * `local-key` as a holder's signer: a secp256k1 key in this process, for EVM wallets. For development: anyone who can read the
 * process's memory can read the key.
 *
 * @module
 */
import { type Hex, hexToBytes, PoolError, Secret } from '@pool/core';
import {
  createSignRequest,
  type SignerAllow,
  type SignKind,
  type SignRequestContent,
} from '@pool/policy';
import { createLocalKeySigner } from '../local-key.ts';
import type { HolderSigner, HolderSignOptions } from './holder-signer.ts';
import { parseSpendSignature } from './remote-holder.ts';

export type LocalKeyHolderOptions = {
  /** secp256k1 private key: 32 bytes of lower-case 0x-hex. */
  readonly privateKey: Secret;
  /** Clock that the dates of sign-in texts are compared with, milliseconds since the epoch. Default: the system clock. */
  readonly nowMs?: () => number;
};

/** @throws PoolError `invalid_configuration`, without the value */
export function createLocalKeyHolder(options: LocalKeyHolderOptions): HolderSigner {
  const { walletPub, sign } = createKindSigner(options);
  return {
    name: 'local-key',
    curve: 'secp256k1',
    deterministic: true,
    walletPub,
    signIn({ encryptionPublicKey, ...payload }, options) {
      const allow = encryptionPublicKey === undefined ? {} : { encryptionPublicKey };
      return sign('sign-in', { kind: 'sign-in', payload }, { allow, ...options });
    },
    async signViewingKeyText(domain) {
      const signature = await sign('viewing-key', { kind: 'viewing-key', payload: { domain } });
      // v adds nothing to r and s.
      return new Secret(hexToBytes(signature, 65).subarray(0, 64));
    },
    signDisclosure: (content, options) =>
      sign('disclosure', { kind: 'disclosure', payload: { content } }, options),
    async signSpend(operation, salt, options) {
      return parseSpendSignature(
        await sign('spend', { kind: 'spend', payload: { operation, salt } }, options),
      );
    },
  };
}

type Unaddressed = SignRequestContent extends infer TContent
  ? TContent extends SignRequestContent
    ? Omit<TContent, 'expectedSigner'>
    : never
  : never;

type KindSigner = {
  walletPub(): Promise<Hex>;
  /** @param kind - the only kind that this call may sign */
  sign(
    kind: SignKind,
    content: Unaddressed,
    options?: Pick<HolderSignOptions, 'signal'> & {
      readonly allow?: Pick<SignerAllow, 'encryptionPublicKey'>;
    },
  ): Promise<Hex>;
};

/** Each call signs one kind. The requests of the funder (authorisations, permits, approvals) are refused. */
function createKindSigner({ privateKey, nowMs }: LocalKeyHolderOptions): KindSigner {
  const clock = nowMs === undefined ? {} : { nowMs };
  const base = createLocalKeySigner({ privateKey, allow: { kinds: [] } });
  return {
    walletPub: () => base.publicKey(),
    async sign(kind, content, { allow = {}, signal } = {}) {
      const signer = createLocalKeySigner({
        privateKey,
        ...clock,
        allow: { ...allow, kinds: [kind] },
      });
      const expectedSigner = await signer.address();
      const outcome = await signer.submit(
        createSignRequest({ ...content, expectedSigner }),
        signal === undefined ? {} : { signal },
      );
      if (outcome.state === 'signed') {
        return outcome.signature;
      }
      throw new PoolError(
        'signer_refused',
        `the holder's signer refused: ${'message' in outcome ? outcome.message : outcome.state}`,
      );
    },
  };
}
