/** Sections: field, poseidon, wallet-id, viewing-key, encryption-key (protocol §1, §2). */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { addPoint, inCurve, mulPointEscalar } from '@zk-kit/baby-jubjub';
import { computeAddress, hashMessage, SigningKey } from 'ethers';
import {
  bytesOf,
  chainHash,
  hash,
  hex,
  hkdf,
  integerOf,
  l,
  type Point,
  pack,
  r,
  sample,
  samplePrivateKey,
  sampleScalar,
  tag,
  timesBase,
  walletIdOf,
  walletOf,
  word,
  wordBytes,
} from './reference.ts';

const maxWord = (1n << 256n) - 1n;

export function field() {
  return {
    protocol: '§1',
    source: 'keccak256 from ethers',
    modulus: word(r),
    tags: ['WALLET', 'WALLET_ED', 'NULLIFIER', 'DUMMY', 'FUND_BASE', 'SPEND_BASE', 'OPERATION'].map(
      (name) => ({ name, tag: word(tag(name)) }),
    ),
    canonical: [0n, 1n, r - 1n, sample('field')].map(word),
    notCanonical: [r, r + 1n, 2n * r, maxWord].map(word),
    halves: [0n, 1n << 128n, maxWord, sample('halves')].map((value) => ({
      value: word(value),
      lo: word(value % 2n ** 128n),
      hi: word(value / 2n ** 128n),
    })),
  };
}

export function poseidon() {
  return {
    protocol: '§1',
    source: 'poseidon-lite',
    hashes: [1, 2, 3, 4, 5, 6].flatMap((k) => {
      const inputs = [
        Array.from({ length: k }, () => 0n),
        Array.from({ length: k }, (_, i) => BigInt(i + 1)),
        Array.from({ length: k }, () => r - 1n),
        Array.from({ length: k }, (_, i) => sample(`poseidon ${k} ${i}`)),
      ];
      return inputs.map((list) => ({ inputs: list.map(word), hash: word(hash(...list)) }));
    }),
    chainHashes: [0, 1, 3, 4, 5, 8, 21].map((length) => {
      const elements = Array.from({ length }, (_, i) => sample(`chain ${length} ${i}`));
      return {
        tag: word(tag('OPERATION')),
        elements: elements.map(word),
        hash: word(chainHash(tag('OPERATION'), elements)),
      };
    }),
  };
}

export function walletId() {
  return {
    protocol: '§2',
    source: 'public keys and addresses from ethers, poseidon-lite',
    wallets: [word(1n), word(2n), ...['a', 'b', 'c', 'd'].map(samplePrivateKey)].map(
      (privateKey) => {
        const wallet = walletOf(privateKey);
        return {
          privateKey,
          walletPub: wallet.walletPub,
          address: computeAddress(privateKey),
          x: word(wallet.x),
          y: word(wallet.y),
          walletId: word(walletIdOf(wallet)),
        };
      },
    ),
    invalid: [
      { why: 'uncompressed', walletPub: SigningKey.computePublicKey(word(1n), false) },
      { why: 'not on the curve', walletPub: `0x02${word(5n).slice(2)}` },
      { why: 'x is not below p', walletPub: `0x02${'ff'.repeat(32)}` },
      { why: 'prefix', walletPub: `0x05${walletOf(word(1n)).walletPub.slice(4)}` },
      { why: 'upper case', walletPub: `0x${walletOf(word(1n)).walletPub.slice(2).toUpperCase()}` },
      { why: 'an address', walletPub: computeAddress(word(1n)) },
      { why: 'no 0x', walletPub: walletOf(word(1n)).walletPub.slice(2) },
    ],
  };
}

/** The text is part of the protocol: one changed letter gives every wallet another key. */
function viewingText(domain: string): string {
  return (
    `${domain} asks this wallet for its viewing key.\n\nPurpose: pool/v1/viewing\nDomain: ${domain}\n\n` +
    'The signature over this text opens every note this wallet receives.\n' +
    'It moves no money. Sign it for your own agent only, and show the signature to nobody.'
  );
}

function viewingKeyOf(signature: Uint8Array): bigint {
  return 1n + (integerOf(hkdf(signature, 'pool/v1/viewing', '', 48)) % (l - 1n));
}

export function viewingKey() {
  return {
    protocol: '§2',
    source: 'signatures from ethers, HKDF and ed25519 from node:crypto',
    subgroupOrder: word(l),
    valid: [1n, l - 1n, sampleScalar('viewing')].map(word),
    invalid: [
      { why: 'zero', value: word(0n) },
      { why: 'l', value: word(l) },
      { why: 'l + 1, an alias of 1', value: word(l + 1n) },
      { why: '2^256 - 1', value: word(maxWord) },
      { why: '31 bytes', value: word(1n).slice(0, -2) },
      { why: 'no 0x', value: word(1n).slice(2) },
      { why: 'upper case', value: `0x${word(171n).slice(2).toUpperCase()}` },
    ],
    messages: ['localhost:8080', 'pool.example'].map((domain) => ({
      domain,
      message: viewingText(domain),
      digest: hashMessage(viewingText(domain)),
    })),
    derived: ['a', 'b'].map((label) => {
      const privateKey = samplePrivateKey(label);
      const signed = new SigningKey(privateKey).sign(hashMessage(viewingText('pool.example')));
      const signature = Buffer.concat([bytesOf(signed.r), bytesOf(signed.s)]);
      return {
        privateKey,
        domain: 'pool.example',
        signature: hex(signature),
        viewingKey: word(viewingKeyOf(signature)),
      };
    }),
    derivedEd25519: ['a', 'b'].map((label) => {
      const seed = bytesOf(samplePrivateKey(`ed25519 ${label}`));
      const key = rawPrivateKey('ed25519', seed);
      const signature = sign(null, Buffer.from(viewingText('pool.example')), key);
      return {
        seed: hex(seed),
        walletPub: hex(rawPublicKey(key)),
        domain: 'pool.example',
        signature: hex(signature),
        viewingKey: word(viewingKeyOf(signature)),
      };
    }),
    created: ['a', 'b'].map((label) => {
      const entropy = hkdf(bytesOf(samplePrivateKey(label)), 'entropy', '', 48);
      return { entropy: hex(entropy), viewingKey: word(1n + (integerOf(entropy) % (l - 1n))) };
    }),
  };
}

/** RFC 8410: the DER of a private key ends with its 32 bytes, and so does that of a public key. */
function rawPrivateKey(type: 'ed25519' | 'x25519', secret: Uint8Array) {
  const id = type === 'ed25519' ? '70' : '6e';
  const prefix = Buffer.from(`302e020100300506032b65${id}04220420`, 'hex');
  const der = Buffer.concat([prefix, secret]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

function rawPublicKey(key: ReturnType<typeof createPrivateKey>): Uint8Array {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
}

// A point of order 8 and one of full order 8l, both on the curve (EIP-2494's generator).
const generator: Point = {
  x: 995203441582195749578291179787384436505546430278305826713579947235728471134n,
  y: 5472060717959818805561601436314318772137091100104008585924551046643952123905n,
};
const [torsionX, torsionY] = mulPointEscalar([generator.x, generator.y], l);

function littleEndian(y: bigint, isSet: boolean): string {
  const bytes = wordBytes(y).reverse();
  bytes[31] = (bytes[31] ?? 0) | (isSet ? 0x80 : 0);
  return hex(bytes);
}

export function encryptionKey() {
  const [mixedX, mixedY] = addPoint(
    [torsionX, torsionY],
    Object.values(timesBase(7n)) as [bigint, bigint],
  );
  if (!inCurve([torsionX, torsionY]) || !inCurve([mixedX, mixedY])) {
    throw new Error('the invalid examples must lie on the curve');
  }
  const scalars = [1n, 2n, 3n, l - 1n, ...['e', 'f', 'g', 'h'].map(sampleScalar)];
  const smallY = timesBase(5n).y;
  return {
    protocol: '§2',
    source: '@zk-kit/baby-jubjub, X25519 and HKDF from node:crypto',
    keys: scalars.map((scalar) => {
      const point = timesBase(scalar);
      return {
        viewingKey: word(scalar),
        x: word(point.x),
        y: word(point.y),
        encryptionPublicKey: pack(point),
        x25519PublicKey: hex(
          rawPublicKey(rawPrivateKey('x25519', hkdf(wordBytes(scalar), '', 'pool/v1/x25519', 32))),
        ),
      };
    }),
    invalid: [
      { why: 'identity', encryptionPublicKey: littleEndian(1n, false) },
      { why: 'identity with a sign', encryptionPublicKey: littleEndian(1n, true) },
      { why: 'the point of order 2', encryptionPublicKey: littleEndian(r - 1n, false) },
      { why: 'the point of order 2 with a sign', encryptionPublicKey: littleEndian(r - 1n, true) },
      { why: 'order 8', encryptionPublicKey: pack({ x: torsionX, y: torsionY }) },
      { why: 'order 8l', encryptionPublicKey: pack(generator) },
      { why: 'a key plus a point of order 8', encryptionPublicKey: pack({ x: mixedX, y: mixedY }) },
      { why: 'y = r', encryptionPublicKey: littleEndian(r, false) },
      { why: 'y + r, an alias', encryptionPublicKey: littleEndian(smallY + r, false) },
      { why: 'not on the curve', encryptionPublicKey: littleEndian(offCurveY(), false) },
      { why: '31 bytes', encryptionPublicKey: pack(timesBase(2n)).slice(0, -2) },
      { why: 'upper case', encryptionPublicKey: `0x${pack(timesBase(2n)).slice(2).toUpperCase()}` },
    ],
  };
}

/** The smallest y > 1 for which (1 - y²) / (a - d y²) is not a square, by Euler's criterion. */
function offCurveY(): bigint {
  const power = (base: bigint, exponent: bigint): bigint => {
    let [result, square, rest] = [1n, base % r, exponent];
    for (; rest > 0n; rest >>= 1n) {
      result = rest & 1n ? (result * square) % r : result;
      square = (square * square) % r;
    }
    return result;
  };
  for (let y = 2n; ; y += 1n) {
    const numerator = (((1n - y * y) % r) + r) % r;
    const denominator = (((168700n - 168696n * y * y) % r) + r) % r;
    const x2 = (numerator * power(denominator, r - 2n)) % r;
    if (power(x2, (r - 1n) / 2n) === r - 1n) {
      return y;
    }
  }
}
