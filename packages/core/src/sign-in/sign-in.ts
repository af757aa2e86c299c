/**
 * EIP-4361 sign-in texts and the evidence they leave (protocol §2): a wallet that enrols or rotates lists
 * exactly one `urn:pool:encryption-key:<P>` among its resources, so its signature binds P to W. The
 * platform keeps message and signature; agent and approver verify them before they seal a note to P.
 *
 * @module
 */

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { ParsedMessage } from '@signinwithethereum/siwe-parser';
import { hashMessage } from 'ethers';
import type { Brand } from '../errors/brand.ts';
import { isPoolError, PoolError } from '../errors/pool-error.ts';
import { type EvmAddress, parseEvmAddress } from '../values/evm-address.ts';
import { type Hex, type Hex32, hexToBytes, parseHex, parseHex32 } from '../values/hex.ts';
import { computeWalletAddress, encodeWalletPub, type WalletPub } from '../values/wallet-pub.ts';

/**
 * P, 32 bytes of hex: a packed Baby Jubjub point for EVM wallets. Public. The brand covers the spelling; the code that decodes
 * it checks that it is a point of the subgroup.
 */
export type EncryptionPublicKey = Brand<Hex, 'EncryptionPublicKey'>;

/** @throws PoolError `invalid_value` unless the value is canonical hex of 32 bytes */
export function parseEncryptionPublicKey(value: unknown): EncryptionPublicKey {
  return parseHex(value, 32) as EncryptionPublicKey;
}

/** A signed sign-in text, exactly as signed. */
export type SignInEvidence = {
  readonly message: string;
  /** 65 bytes r ‖ s ‖ v, low s, v 27 or 28. */
  readonly signature: Hex;
};

/** A parsed and well-formed sign-in text. The signer is not checked. */
export type SignInMessage = {
  readonly domain: string;
  readonly address: EvmAddress;
  readonly uri: string;
  readonly chainId: number;
  readonly nonce: string;
  readonly issuedAtMs: number;
  readonly expirationTimeMs: number | undefined;
  /** P, when exactly one encryption-key resource is listed. */
  readonly encryptionPublicKey: EncryptionPublicKey | undefined;
};

/** What a sign-in text is made of. */
export type SignInFields = {
  readonly domain: string;
  readonly address: EvmAddress;
  /** Default: {@link signInStatement}, the only one that the signers of this repository sign. */
  readonly statement?: string;
  readonly uri: string;
  readonly chainId: number;
  readonly nonce: string;
  readonly issuedAtMs: number;
  readonly expirationTimeMs: number;
  readonly encryptionPublicKey?: EncryptionPublicKey;
};

/** The statement of every sign-in text that this software asks a wallet to sign. */
export const signInStatement = 'Sign in to the Pool platform.';

/** Resource prefix that names P in a sign-in text. */
export const encryptionKeyResourcePrefix = 'urn:pool:encryption-key:';

/** How far in the future `issuedAt` may lie: 5 minutes of clock skew. */
export const maxEvidenceSkewMs = 5 * 60_000;

/** The EIP-4361 text for the fields. @throws PoolError `invalid_sign_in` when they do not form one */
export function createSignInMessage(fields: SignInFields): string {
  const lines = [
    `${fields.domain} wants you to sign in with your Ethereum account:`,
    fields.address,
    '',
    fields.statement ?? signInStatement,
    '',
    `URI: ${fields.uri}`,
    'Version: 1',
    `Chain ID: ${fields.chainId}`,
    `Nonce: ${fields.nonce}`,
    `Issued At: ${formatSignInTime(fields.issuedAtMs)}`,
    `Expiration Time: ${formatSignInTime(fields.expirationTimeMs)}`,
  ];
  if (fields.encryptionPublicKey !== undefined) {
    lines.push('Resources:', `- ${encryptionKeyResourcePrefix}${fields.encryptionPublicKey}`);
  }
  const message = lines.join('\n');
  const read = parseSignInMessage(message);
  const { statement: _, ...given } = { ...fields, address: parseEvmAddress(fields.address) };
  assertFaithful(read, given);
  return message;
}

/** A line break in a field could add further lines: the fields that are read back must equal the given fields. */
export function assertFaithful<T extends object>(read: T, given: Partial<T>): void {
  const names = Object.keys(read) as (keyof T)[];
  if (!names.every((name) => read[name] === given[name])) {
    throw new PoolError('invalid_sign_in', 'the sign-in text does not say what its fields say');
  }
}

/**
 * Decides whether a text is exactly the one that {@link createSignInMessage} writes for its fields, with the pinned statement. Every
 * part that no check reads could carry a meaning of its own: a statement or a resource of EIP-5573 delegates a capability, and a
 * Request ID can name any document. So a signer of this repository signs no other text.
 *
 * @returns false also for a text that is not a sign-in text
 */
export function isPinnedSignIn(message: string): boolean {
  try {
    const { expirationTimeMs, encryptionPublicKey, ...fields } = parseSignInMessage(message);
    return (
      expirationTimeMs !== undefined &&
      message ===
        createSignInMessage({
          ...fields,
          expirationTimeMs,
          ...(encryptionPublicKey === undefined ? {} : { encryptionPublicKey }),
        })
    );
  } catch (error) {
    if (isPoolError(error)) {
      return false;
    }
    throw error;
  }
}

/** @throws PoolError `invalid_sign_in` */
export function formatSignInTime(milliseconds: number): string {
  if (!Number.isInteger(milliseconds) || Math.abs(milliseconds) > 8.64e15) {
    throw malformedSignIn('its times are not times');
  }
  return new Date(milliseconds).toISOString();
}

export function malformedSignIn(reason: string, cause?: unknown): PoolError {
  return new PoolError('invalid_sign_in', `the sign-in text is malformed: ${reason}`, { cause });
}

/** Parses a part of a text. @throws PoolError `invalid_sign_in` */
export function parseSignInPart<T>(name: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw malformedSignIn(`its ${name}`, cause);
  }
}

/** @throws PoolError `invalid_sign_in` for anything but a well-formed EIP-4361 text of version 1 */
export function parseSignInMessage(message: string): SignInMessage {
  let parsed: ParsedMessage;
  try {
    parsed = new ParsedMessage(message);
  } catch (cause) {
    throw new PoolError('invalid_sign_in', 'the sign-in text is not a valid EIP-4361 message', {
      cause,
    });
  }
  if (parsed.version !== '1' || parsed.scheme !== undefined || parsed.notBefore !== undefined) {
    throw new PoolError(
      'invalid_sign_in',
      'the sign-in text must be version 1, without scheme and without Not Before',
    );
  }
  return {
    domain: parsed.domain,
    address: parseSignInPart('address', () => parseEvmAddress(parsed.address)),
    uri: parsed.uri,
    chainId: parsed.chainId,
    nonce: parsed.nonce,
    issuedAtMs: Date.parse(parsed.issuedAt),
    expirationTimeMs:
      parsed.expirationTime === undefined ? undefined : Date.parse(parsed.expirationTime),
    encryptionPublicKey: parseEncryptionKeyResource(parsed.resources ?? []),
  };
}

function parseEncryptionKeyResource(resources: readonly string[]): EncryptionPublicKey | undefined {
  const keys = resources.filter((resource) => resource.startsWith(encryptionKeyResourcePrefix));
  if (keys.length > 1) {
    throw new PoolError('invalid_sign_in', 'the sign-in text lists more than one encryption key');
  }
  const key = keys[0];
  return key === undefined
    ? undefined
    : parseSignInPart('encryption key', () =>
        parseEncryptionPublicKey(key.slice(encryptionKeyResourcePrefix.length)),
      );
}

/**
 * Recovers W from an EIP-191 signature over a text.
 * @throws PoolError `invalid_signature` for a wrong length, a high s or a point that does not recover
 */
export function recoverWalletPub(message: string, signature: string): WalletPub {
  return recoverDigestSigner(parseHex32(hashMessage(message)), signature);
}

/**
 * Recovers W from a signature over a digest. Each signature has one encoding that is accepted.
 * @param digest - computed by the caller from the document, never received
 * @throws PoolError `invalid_signature` for a wrong length, a high s or a point that does not recover
 */
export function recoverDigestSigner(digest: Hex32, signature: string): WalletPub {
  try {
    const bytes = hexToBytes(signature, 65);
    const recovery = (bytes[64] ?? 0) - 27;
    if (recovery !== 0 && recovery !== 1) {
      throw new PoolError('invalid_signature', 'v must be 27 or 28');
    }
    const parsed = secp256k1.Signature.fromBytes(bytes.subarray(0, 64), 'compact');
    if (parsed.hasHighS()) {
      throw new PoolError('invalid_signature', 's must be in the lower half of the group order');
    }
    const point = parsed
      .addRecoveryBit(recovery)
      .recoverPublicKey(hexToBytes(digest, 32))
      .toAffine();
    return encodeWalletPub({ x: point.x, y: point.y });
  } catch (cause) {
    throw new PoolError(
      'invalid_signature',
      'the signature must be 65 bytes (r, low s, v of 27 or 28) over the given text or document',
      { cause, status: 401 },
    );
  }
}

/** The platform whose sign-in texts count as evidence: part of the agent's own configuration. */
export type EvidenceDomain = { readonly domain: string; readonly uri: string };

/** What valid evidence proves. */
export type VerifiedEvidence = {
  readonly walletPub: WalletPub;
  readonly address: EvmAddress;
  readonly encryptionPublicKey: EncryptionPublicKey;
  readonly issuedAtMs: number;
};

/**
 * Verifies that the owner of a wallet bound P to it: exact domain and URI, one encryption key, signature by
 * the address the text names. Expiry is ignored on purpose, evidence outlives the session.
 *
 * @param nowMs - present time; evidence issued more than {@link maxEvidenceSkewMs} ahead is refused
 * @throws PoolError `invalid_evidence`
 */
export function verifyEvidence(
  evidence: SignInEvidence,
  expected: EvidenceDomain,
  nowMs: number,
): VerifiedEvidence {
  let message: SignInMessage;
  let walletPub: WalletPub;
  try {
    message = parseSignInMessage(evidence.message);
    walletPub = recoverWalletPub(evidence.message, evidence.signature);
  } catch (cause) {
    throw refuseEvidence('text or signature is malformed', cause);
  }
  if (computeWalletAddress(walletPub) !== message.address) {
    throw refuseEvidence('it was not signed by the wallet it names');
  }
  return { walletPub, address: message.address, ...readBinding(message, expected, nowMs) };
}

export function refuseEvidence(reason: string, cause?: unknown): PoolError {
  return new PoolError('invalid_evidence', `sign-in evidence refused: ${reason}`, { cause });
}

/** The P that a signed text of any wallet binds, and when. @throws PoolError `invalid_evidence` */
export function readBinding(
  text: Pick<SignInMessage, 'domain' | 'uri' | 'issuedAtMs' | 'encryptionPublicKey'>,
  expected: EvidenceDomain,
  nowMs: number,
): Pick<VerifiedEvidence, 'encryptionPublicKey' | 'issuedAtMs'> {
  const { encryptionPublicKey, issuedAtMs } = text;
  if (text.domain !== expected.domain || text.uri !== expected.uri) {
    throw refuseEvidence('it was signed for another platform');
  }
  if (encryptionPublicKey === undefined) {
    throw refuseEvidence('it lists no encryption key');
  }
  if (!Number.isFinite(issuedAtMs) || issuedAtMs > nowMs + maxEvidenceSkewMs) {
    throw refuseEvidence('it is dated in the future');
  }
  return { encryptionPublicKey, issuedAtMs };
}
