// vectors/ed25519-sign-in.json was made with the official client libraries of both chains; here they check it, and our own texts. The
// example of SEP-53 is the published one.
import { getPublicKeyFromAddress } from '@solana/addresses';
import { createKeyPairFromPrivateKeyBytes, signBytes, verifySignature } from '@solana/keys';
import { hash, Keypair } from '@stellar/stellar-base';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/ed25519-sign-in.json' with { type: 'json' };
import { bytesToHex, hexToBytes, parseHex } from '../values/hex.ts';
import {
  computeEd25519SignInBytes,
  createEd25519SignInMessage,
  type Ed25519SignIn,
  findEd25519Family,
  parseEd25519SignIn,
  readSignInKey,
  verifyEd25519Evidence,
  verifyEd25519SignIn,
} from './ed25519-sign-in.ts';

type Vector = { seed: string; fields: Ed25519SignIn; message: string; signature: string };
const texts = vectors.texts as unknown as readonly Vector[];
const place = { domain: 'pool.example', uri: 'https://pool.example' };

function evidenceOf({ message, signature }: Vector) {
  return { message, signature: parseHex(signature) };
}

function vectorOf(family: string, withKey = true): Vector {
  const found = texts.find(
    ({ fields }) =>
      fields.family === family && (fields.encryptionPublicKey !== undefined) === withKey,
  );
  if (found === undefined) throw new Error('no such vector');
  return found;
}

describe('the sign-in text of an ed25519 wallet', () => {
  it.each(texts)('is the one of the vectors: $fields.family, $fields.network', (vector) => {
    const { fields, message } = vector;
    expect(createEd25519SignInMessage(fields)).toBe(message);
    expect(parseEd25519SignIn(message)).toEqual(fields);
    expect(findEd25519Family(message)).toBe(fields.family);
    expect(readSignInKey(message)).toMatchObject({ issuedAtMs: fields.issuedAtMs });
    const walletPub = verifyEd25519SignIn(evidenceOf(vector), fields);
    expect(walletPub).toMatch(/^0x[0-9a-f]{64}$/);
  });

  it.each(texts.filter(({ fields }) => fields.family === 'solana'))(
    'is signed and verified alike by @solana/keys: $fields.network',
    async ({ seed, fields, message, signature }) => {
      const { privateKey } = await createKeyPairFromPrivateKeyBytes(hexToBytes(seed, 32));
      const bytes = computeEd25519SignInBytes('solana', message);
      expect(bytesToHex(await signBytes(privateKey, bytes))).toBe(signature);
      const publicKey = await getPublicKeyFromAddress(fields.address as never);
      expect(await verifySignature(publicKey, hexToBytes(signature, 64) as never, bytes)).toBe(
        true,
      );
    },
  );

  it.each(texts.filter(({ fields }) => fields.family === 'stellar'))(
    'is signed and verified alike by @stellar/stellar-base: $fields.network',
    ({ seed, fields, message, signature }) => {
      const signer = Keypair.fromRawEd25519Seed(Buffer.from(hexToBytes(seed, 32)));
      const bytes = Buffer.from(computeEd25519SignInBytes('stellar', message));
      expect(bytesToHex(new Uint8Array(signer.sign(bytes)))).toBe(signature);
      const reader = Keypair.fromPublicKey(fields.address);
      expect(reader.verify(bytes, Buffer.from(hexToBytes(signature, 64)))).toBe(true);
    },
  );

  it('of Stellar is hashed as SEP-53 has it', () => {
    const signer = Keypair.fromSecret('SAKICEVQLYWGSOJS4WW7HZJWAHZVEEBS527LHK5V4MLJALYKICQCJXMW');
    const bytes = computeEd25519SignInBytes('stellar', 'Hello, World!');
    expect(signer.sign(Buffer.from(bytes)).toString('base64')).toBe(
      'fO5dbYhXUhBMhe6kId/cuVq/AfEnHRHEvsP8vXh03M1uLpi5e46yO2Q8rEBzu3feXQewcQE5GArp88u6ePK6BA==',
    );
    expect(Buffer.from(bytes)).toEqual(hash(Buffer.from('Stellar Signed Message:\nHello, World!')));
  });

  const good = vectorOf('solana');
  it.each([
    ['another version', (text: string) => text.replace('Version: 1', 'Version: 2')],
    [
      'a chain of the other family',
      (text: string) => text.replace('solana:mainnet', 'stellar:pubnet'),
    ],
    ['an unknown network', (text: string) => text.replace('solana:mainnet', 'solana:other')],
    ['a second encryption key', (text: string) => `${text}\n${text.split('\n').at(-1)}`],
    ['another resource', (text: string) => text.replace('urn:pool:', 'urn:other:')],
    ['a line of its own', (text: string) => text.replace('Nonce:', 'Not Before: x\nNonce:')],
    [
      'lines in another order',
      (text: string) => text.replace(/(Nonce: .*)\n(Issued At: .*)/, '$2\n$1'),
    ],
    ['a time in another spelling', (text: string) => text.replace('.123Z', '.12Z')],
    [
      'a date that does not exist',
      (text: string) => text.replace('2026-11-18T11:06', '2026-11-31T11:06'),
    ],
    [
      'an address of the other family',
      (text: string) => text.replace(good.fields.address, vectorOf('stellar').fields.address),
    ],
    [
      'a domain with user information',
      (text: string) => text.replace('pool.example', 'a@pool.example'),
    ],
    ['no expiry', (text: string) => text.replace(/\nExpiration Time: .*/, '')],
    ['a line feed at the end', (text: string) => `${text}\n`],
  ])('is refused with %s', (_case, change) => {
    const changed = change(good.message);
    expect(changed).not.toBe(good.message);
    expect(() => parseEd25519SignIn(changed)).toThrow(
      expect.objectContaining({ code: 'invalid_sign_in' }),
    );
  });

  it.each([
    ['a line break in a field', { statement: 'a\nNonce: b' }],
    ['a time that is none', { issuedAtMs: Number.NaN }],
    ['an address of another family', { family: 'stellar', network: 'pubnet' }],
  ] as const)('is not made with %s', (_case, change) => {
    expect(() => createEd25519SignInMessage({ ...good.fields, ...change })).toThrow(
      expect.objectContaining({ code: 'invalid_sign_in' }),
    );
  });
});

describe('the signature of an ed25519 wallet', () => {
  it.each(['solana', 'stellar'])(
    'of %s is refused when one bit of it, or of the text, differs',
    (family) => {
      const vector = vectorOf(family);
      const { fields, message } = vector;
      const { signature } = evidenceOf(vector);
      const bytes = hexToBytes(signature, 64);
      for (const at of [0, 31, 32, 62]) {
        const changed = Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ 1 : byte));
        expect(() =>
          verifyEd25519SignIn({ message, signature: bytesToHex(changed) }, fields),
        ).toThrow(expect.objectContaining({ code: 'invalid_signature' }));
      }
      expect(() => verifyEd25519SignIn({ message: `${message} `, signature }, fields)).toThrow();
      const short = parseHex(signature.slice(0, -2));
      expect(() => verifyEd25519SignIn({ message, signature: short }, fields)).toThrow();
    },
  );

  it('of one family is none of the other', () => {
    const { message, signature, fields } = vectorOf('stellar');
    expect(() =>
      verifyEd25519SignIn(
        { message, signature: parseHex(signature) },
        { ...fields, family: 'solana' },
      ),
    ).toThrow();
  });
});

describe('the evidence of an ed25519 wallet', () => {
  const now = 1_795_000_100_000;
  it.each(['solana', 'stellar'])('of %s proves W, P and the time', (family) => {
    const vector = vectorOf(family);
    const { address, encryptionPublicKey, issuedAtMs } = vector.fields;
    expect(verifyEd25519Evidence(evidenceOf(vector), place, now)).toMatchObject({
      family,
      address,
      encryptionPublicKey,
      issuedAtMs,
    });
  });

  const solana = vectorOf('solana');
  it.each([
    ['for another domain', solana, { ...place, domain: 'other.example' }, now],
    ['for another URI', solana, { ...place, uri: 'https://other.example' }, now],
    ['without a key', vectorOf('solana', false), place, now],
    ['of the future', solana, place, solana.fields.issuedAtMs - 5 * 60_000 - 1],
    ['of another signer', { ...solana, signature: vectorOf('stellar').signature }, place, now],
    ['that is no text', { ...solana, message: 'hello' }, place, now],
  ] as const)('is refused %s', (_case, vector, expected, nowMs) => {
    expect(() => verifyEd25519Evidence(evidenceOf(vector), expected, nowMs)).toThrow(
      expect.objectContaining({ code: 'invalid_evidence' }),
    );
  });
});
