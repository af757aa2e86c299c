/**
 * A statement that a person signs with an Ed25519 key: one line of canonical JSON with its newline, so that a text file with it can be
 * signed as it is.
 *
 * @module
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { bytesToHex, canonicalJson, type Hex, hexToBytes, parseStrictJson } from '@pool/core';
import * as v from 'valibot';

export type PersonSignature = {
  /** Ed25519, 32 bytes of hex. */
  readonly publicKey: string;
  /** Ed25519 over the text, 64 bytes of hex. */
  readonly signature: string;
};

export type Statement<TContent> = {
  /** What a person's key signs. */
  compute(this: void, content: TContent): string;
  /** Reads the text back. @returns undefined for every other text, also for one with other spaces */
  parse(this: void, text: string): TContent | undefined;
  /** @param privateKey - Ed25519 key of the person */
  sign<T extends TContent>(
    this: void,
    content: T,
    privateKey: KeyObject,
  ): T & { readonly publicKey: Hex; readonly signature: Hex };
  /** Whether the key signed this content. */
  isSigned(this: void, signed: TContent & PersonSignature): boolean;
};

/**
 * @param text - PKCS#8 PEM, or the 32 bytes of an Ed25519 seed as hex. Secret
 * @returns undefined for everything else
 */
export function parsePersonKey(text: string): KeyObject | undefined {
  const [, seed] = /^(?:0x)?([0-9a-f]{64})$/i.exec(text.trim()) ?? [];
  try {
    const key =
      seed === undefined
        ? createPrivateKey(text)
        : createPrivateKey({
            // The fixed beginning of an Ed25519 key in PKCS#8 (RFC 8410).
            key: Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex'),
            format: 'der',
            type: 'pkcs8',
          });
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    // The cause is dropped on purpose: parsers repeat their input in messages.
    return undefined;
  }
}

/** @param purpose - it keeps the signature from counting anywhere else */
export function createStatement<TEntries extends v.ObjectEntries>(
  purpose: string,
  entries: TEntries,
): Statement<Readonly<v.InferOutput<v.StrictObjectSchema<TEntries, undefined>>>> {
  type Content = Readonly<v.InferOutput<v.StrictObjectSchema<TEntries, undefined>>>;
  const schema = v.strictObject({ ...entries, purpose: v.literal(purpose) });

  function compute(content: Content): string {
    const fields = Object.keys(entries).map((name) => [name, content[name as keyof Content]]);
    return `${canonicalJson({ ...Object.fromEntries(fields), purpose })}\n`;
  }

  return {
    compute,
    parse(text) {
      try {
        const { purpose: _, ...content } = v.parse(schema, parseStrictJson(text, 'the statement'));
        return compute(content as Content) === text ? (content as Content) : undefined;
      } catch {
        return undefined;
      }
    },
    sign(content, privateKey) {
      const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
      return {
        ...content,
        publicKey: bytesToHex(Buffer.from(x ?? '', 'base64url')),
        signature: bytesToHex(sign(null, Buffer.from(compute(content)), privateKey)),
      };
    },
    isSigned(signed) {
      const { publicKey, signature } = signed;
      try {
        const x = Buffer.from(hexToBytes(publicKey, 32)).toString('base64url');
        const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
        return verify(null, Buffer.from(compute(signed)), key, hexToBytes(signature, 64));
      } catch {
        return false;
      }
    },
  };
}
