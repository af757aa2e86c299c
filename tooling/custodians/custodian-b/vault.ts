/**
 * Keys of vault accounts: digests that the custodian computes itself, and signatures in the forms in which the provider shows them.
 *
 * A signature takes fresh randomness, so two of one digest differ. Half have a high s, some lack v, some carry 0x.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { computeAddress, concat, getBytes, hashMessage, keccak256, TypedDataEncoder } from 'ethers';
import * as v from 'valibot';
import { malformed } from './api-problem.ts';
import type { VaultAccount } from './config.ts';
import type { ResultEffect } from './faults.ts';

const order = secp256k1.Point.Fn.ORDER;

const fieldSchema = v.object({ name: v.string(), type: v.string() });
const typedDataSchema = v.object({
  types: v.record(v.string(), v.array(fieldSchema)),
  primaryType: v.string(),
  domain: v.record(v.string(), v.unknown()),
  message: v.record(v.string(), v.unknown()),
});
const messageSchema = v.variant('type', [
  v.object({ type: v.literal('EIP712'), content: typedDataSchema }),
  v.object({
    type: v.literal('EIP191'),
    content: v.pipe(v.string(), v.regex(/^(0x)?([0-9a-fA-F]{2})*$/)),
  }),
]);

/** As the provider shows it: hex, sometimes with 0x; v is sometimes missing. */
export type SignedMessage = {
  readonly derivationPath: readonly number[];
  readonly algorithm: 'MPC_ECDSA_SECP256K1';
  readonly publicKey: string;
  readonly signature: {
    readonly fullSig: string;
    readonly r: string;
    readonly s: string;
    readonly v?: 0 | 1;
  };
  readonly content: string;
};

/** r, s and the recovery bit, before the provider dresses them. */
export type PlainSignature = { readonly r: bigint; readonly s: bigint; readonly v: 0 | 1 };

/**
 * The 32 bytes that a typed message asks to sign, `0x` and lower case.
 * @throws ApiProblemError 400
 */
export function computeMessageDigest(message: unknown): string {
  const parsed = v.safeParse(messageSchema, message);
  if (!parsed.success) {
    throw malformed('rawMessageData.messages: an EIP712 document or EIP191 hex is expected');
  }
  try {
    const { type, content } = parsed.output;
    return type === 'EIP191'
      ? hashMessage(getBytes(content.startsWith('0x') ? content : `0x${content}`))
      : computeTypedDataDigest(content);
  } catch (error) {
    if (error instanceof Error && 'code' in error) {
      throw malformed('rawMessageData.messages: the typed data does not fit its types');
    }
    throw error;
  }
}

/** The domain is hashed by the document's own type EIP712Domain, which it therefore has to contain. */
function computeTypedDataDigest(content: v.InferOutput<typeof typedDataSchema>): string {
  const { EIP712Domain: domainType, ...types } = content.types;
  if (domainType === undefined || types[content.primaryType] === undefined) {
    throw malformed('rawMessageData.messages: types lacks EIP712Domain or the primary type');
  }
  return keccak256(
    concat([
      '0x1901',
      TypedDataEncoder.hashStruct('EIP712Domain', { EIP712Domain: domainType }, content.domain),
      TypedDataEncoder.hashStruct(content.primaryType, types, content.message),
    ]),
  );
}

export function addressOf(account: VaultAccount): string {
  return computeAddress(account.privateKey);
}

/** What `GET /v1/vault/accounts/{id}` shows. Balances are not simulated. */
export function showAccount({ id, name, assets }: VaultAccount): object {
  return {
    id,
    name,
    hiddenOnUI: false,
    autoFuel: false,
    assets: assets.map((asset) => ({ id: asset, total: '0', available: '0' })),
  };
}

/** Hex without 0x, as the provider writes it. */
export function publicKeyOf(account: VaultAccount, compressed: boolean): string {
  const key = secp256k1.getPublicKey(getBytes(account.privateKey), compressed);
  return Buffer.from(key).toString('hex');
}

/** BIP-44 of Ethereum; the account level is the vault account. */
export function derivationPathOf(account: VaultAccount): number[] {
  return [44, 60, Number(account.id), 0, 0];
}

/** With a random nonce and, half of the time, a high s. */
export function signDigest(digest: string, privateKey: string): PlainSignature {
  const bytes = secp256k1.sign(getBytes(digest), getBytes(privateKey), {
    prehash: false,
    lowS: false,
    extraEntropy: randomBytes(32),
    format: 'recovered',
  });
  const word = (at: number): bigint =>
    BigInt(`0x${Buffer.from(bytes.subarray(at, at + 32)).toString('hex')}`);
  return { r: word(1), s: word(33), v: bytes[0] === 1 ? 1 : 0 };
}

/** The same signature with its s in the half that is asked for. */
export function withHighS(signature: PlainSignature, high: boolean): PlainSignature {
  const isHigh = signature.s > order / 2n;
  return isHigh === high
    ? signature
    : { r: signature.r, s: order - signature.s, v: signature.v === 0 ? 1 : 0 };
}

/**
 * @param form counts the signatures handed out: every form comes up in eight of them. undefined: always the plain form
 */
export function createSignedMessage(options: {
  readonly account: VaultAccount;
  readonly digest: string;
  readonly form: number | undefined;
  readonly effect: ResultEffect | undefined;
}): SignedMessage {
  const { account, digest, effect } = options;
  const form = options.form ?? 0;
  const otherDigest = keccak256(digest);
  const key = effect === 'wrong-signature' ? keccak256(account.privateKey) : account.privateKey;
  let plain = signDigest(effect === 'other-digest' ? otherDigest : digest, key);
  while (effect === 'short-r' && plain.r >> 252n !== 0n) {
    plain = signDigest(digest, key);
  }
  const high = effect === 'high-s' || (effect !== 'low-s' && (form & 1) === 1);
  const signature = withHighS(plain, high);
  const prefix = effect === 'with-prefix' || (form & 2) === 2 ? '0x' : '';
  const hasV = effect === 'with-v' || (effect !== 'missing-v' && (form & 4) === 0);
  const r = signature.r.toString(16);
  const s = signature.s.toString(16).padStart(64, '0');
  const content = (effect === 'other-content' ? otherDigest : digest).slice(2);
  return {
    derivationPath: derivationPathOf(account),
    algorithm: 'MPC_ECDSA_SECP256K1',
    publicKey: publicKeyOf(account, true),
    signature: {
      fullSig: `${prefix}${r.padStart(64, '0')}${s}`,
      r: `${prefix}${effect === 'short-r' ? r : r.padStart(64, '0')}`,
      s: `${prefix}${s}`,
      ...(hasV ? { v: signature.v } : {}),
    },
    content: `${prefix}${content}`,
  };
}
