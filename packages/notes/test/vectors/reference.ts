/**
 * The primitives of the protocol, from libraries that @pool/core and @pool/notes do not use (poseidon-lite, @zk-kit, ethers,
 * node:crypto) or written out here. This file must not import packages of this repository, so that the vectors are independent.
 *
 * @module
 */
import { createCipheriv, createHash, hkdfSync } from 'node:crypto';
import { Base8, mulPointEscalar, packPoint, subOrder, unpackPoint } from '@zk-kit/baby-jubjub';
import { keccak256, SigningKey, toUtf8Bytes } from 'ethers';
import { poseidon1, poseidon2, poseidon3, poseidon4, poseidon5, poseidon6 } from 'poseidon-lite';

export const r = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
export const l = subOrder;

export type Point = { x: bigint; y: bigint };

/** 32 bytes big-endian, as hex. */
export function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`;
}
export function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}
export function bytesOf(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}
export function wordBytes(value: bigint): Buffer {
  return bytesOf(word(value));
}
export function integerOf(bytes: Uint8Array): bigint {
  return BigInt(hex(bytes));
}

const hashes = [poseidon1, poseidon2, poseidon3, poseidon4, poseidon5, poseidon6];

/** By inputs: the paths of one tree have most nodes in common. */
const hashed = new Map<string, bigint>();

/** H_k. */
export function hash(...inputs: bigint[]): bigint {
  const k = hashes[inputs.length - 1];
  if (k === undefined) {
    throw new RangeError('1 to 6 inputs');
  }
  const key = inputs.join();
  const result = hashed.get(key) ?? BigInt(k(inputs));
  hashed.set(key, result);
  return result;
}

/** HC, computed from the end: split into groups first, then fold. */
export function chainHash(tag: bigint, elements: readonly bigint[]): bigint {
  const padded = [...elements];
  while (padded.length % 4 !== 0) {
    padded.push(0n);
  }
  let state = hash(tag, BigInt(elements.length));
  while (padded.length > 0) {
    state = hash(state, ...padded.splice(0, 4));
  }
  return state;
}

export function keccak(bytes: Uint8Array): string {
  return keccak256(bytes);
}
export function keccakText(text: string): string {
  return keccak256(toUtf8Bytes(text));
}
export function tag(name: string): bigint {
  return BigInt(keccakText(`pool/v1/${name}`)) % r;
}
export function sha256(...parts: (Uint8Array | string)[]): Buffer {
  const digest = createHash('sha256');
  for (const part of parts) {
    digest.update(part);
  }
  return digest.digest();
}

export function hkdf(
  ikm: Uint8Array,
  salt: Uint8Array | string,
  info: Uint8Array | string,
  length: number,
): Buffer {
  return Buffer.from(hkdfSync('sha256', ikm, salt, info, length));
}

/** RFC 8785 for the contents of manifests: objects, arrays, integers and well-formed strings. */
export function jcs(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(jcs).join(',')}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    members.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${jcs(member)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

/** Coordinates of a wallet's public key, and its compressed form. */
export function walletOf(privateKey: string): { walletPub: string; x: bigint; y: bigint } {
  const full = SigningKey.computePublicKey(privateKey, false).slice(4);
  return {
    walletPub: SigningKey.computePublicKey(privateKey, true),
    x: BigInt(`0x${full.slice(0, 64)}`),
    y: BigInt(`0x${full.slice(64)}`),
  };
}

export function walletIdOf({ x, y }: Point): bigint {
  const low = (1n << 128n) - 1n;
  return hash(tag('WALLET'), x & low, x >> 128n, y & low, y >> 128n);
}

/** scalar · point on Baby Jubjub. */
export function times(point: readonly [bigint, bigint], scalar: bigint): Point {
  const [x, y] = mulPointEscalar([point[0], point[1]], scalar);
  return { x, y };
}
export function timesBase(scalar: bigint): Point {
  return times([Base8[0], Base8[1]], scalar);
}

/** 32 bytes, y little-endian with the sign of x in the top bit. */
export function pack({ x, y }: Point): string {
  return hex(wordBytes(packPoint([x, y])).reverse());
}

/** The point of a packed key. */
export function unpack(packed: string): [bigint, bigint] {
  const point = unpackPoint(integerOf(bytesOf(packed).reverse()));
  if (point === null) {
    throw new RangeError('not a point');
  }
  return [BigInt(point[0]), BigInt(point[1])];
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}

/** HChaCha20 of draft-irtf-cfrg-xchacha: the 20 rounds without the final addition. */
function hChaCha20(key: Uint8Array, nonce: Uint8Array): Buffer {
  const state = new Uint32Array(16);
  state.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]);
  const input = Buffer.concat([key, nonce]);
  for (let i = 0; i < 12; i += 1) {
    state[4 + i] = input.readUInt32LE(4 * i);
  }
  const at = (i: number): number => state[i] ?? 0;
  const quarter = (a: number, b: number, c: number, d: number): void => {
    for (const [by, next] of [
      [16, 12],
      [8, 7],
    ] as const) {
      state[a] = at(a) + at(b);
      state[d] = rotate(at(d) ^ at(a), by);
      state[c] = at(c) + at(d);
      state[b] = rotate(at(b) ^ at(c), next);
    }
  };
  for (let round = 0; round < 10; round += 1) {
    quarter(0, 4, 8, 12);
    quarter(1, 5, 9, 13);
    quarter(2, 6, 10, 14);
    quarter(3, 7, 11, 15);
    quarter(0, 5, 10, 15);
    quarter(1, 6, 11, 12);
    quarter(2, 7, 8, 13);
    quarter(3, 4, 9, 14);
  }
  const output = Buffer.alloc(32);
  for (let i = 0; i < 4; i += 1) {
    output.writeUInt32LE(at(i), 4 * i);
    output.writeUInt32LE(at(12 + i), 16 + 4 * i);
  }
  return output;
}

/** XChaCha20-Poly1305 with a 24-byte nonce: HChaCha20, then node's ChaCha20-Poly1305. */
function xChaCha20Poly1305(
  key: Uint8Array,
  nonce: Uint8Array,
  plaintext: Uint8Array,
  additional: Uint8Array = new Uint8Array(0),
): Buffer {
  const subkey = hChaCha20(key, nonce.subarray(0, 16));
  const short = Buffer.concat([Buffer.alloc(4), nonce.subarray(16)]);
  const cipher = createCipheriv('chacha20-poly1305', subkey, short, { authTagLength: 16 });
  cipher.setAAD(additional, { plaintextLength: plaintext.length });
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** A sealed note of suite 1, with its intermediate values. */
export function seal(note: {
  amount: bigint;
  nonce: bigint;
  memo: string | undefined;
  to: Point;
  commitment: bigint;
  assetId: bigint;
  ephemeral: bigint;
}): { sharedPoint: string; key: string; plaintext: string; sealed: string } {
  const memo = Buffer.from(note.memo ?? '', 'utf8');
  const plaintext = Buffer.concat([
    wordBytes(note.amount).subarray(16),
    wordBytes(note.nonce),
    Buffer.of(memo.length),
    memo,
    Buffer.alloc(111 - memo.length),
  ]);
  return { ...sealBytes({ ...note, plaintext }), plaintext: hex(plaintext) };
}

/** Seals any 160 bytes, well-formed or not. */
export function sealBytes(note: {
  plaintext: Uint8Array;
  to: Point;
  commitment: bigint;
  assetId: bigint;
  ephemeral: bigint;
}): { sharedPoint: string; key: string; sealed: string } {
  const header = Buffer.concat([Buffer.of(1), bytesOf(pack(timesBase(note.ephemeral)))]);
  const sharedPoint = pack(times([note.to.x, note.to.y], note.ephemeral));
  const salt = Buffer.concat([
    header,
    bytesOf(pack(note.to)),
    wordBytes(note.commitment),
    wordBytes(note.assetId),
  ]);
  const key = hkdf(bytesOf(sharedPoint), salt, 'pool/v1/seal', 32);
  const box = xChaCha20Poly1305(key, Buffer.alloc(24), note.plaintext);
  return { sharedPoint, key: hex(key), sealed: hex(Buffer.concat([header, box])) };
}

/** Root of a full binary tree, by halves. */
export function binaryRoot(leaves: readonly bigint[]): bigint {
  const half = leaves.length / 2;
  return leaves.length === 1
    ? (leaves[0] ?? 0n)
    : hash(binaryRoot(leaves.slice(0, half)), binaryRoot(leaves.slice(half)));
}

/** Roots of empty arity-4 subtrees by height. */
export const emptyQuaternaryRoots: bigint[] = [0n];
for (let height = 1; height <= 10; height += 1) {
  const child = emptyQuaternaryRoots[height - 1] ?? 0n;
  emptyQuaternaryRoots.push(hash(child, child, child, child));
}

/** Root of the subtree of a height over `leaves`, whose positions count from its first leaf. */
export function quaternaryRoot(leaves: ReadonlyMap<number, bigint>, height = 10): bigint {
  if (leaves.size === 0) {
    return emptyQuaternaryRoots[height] ?? 0n;
  }
  if (height === 0) {
    return leaves.get(0) ?? 0n;
  }
  return hash(...quaternaryChildren(leaves, height));
}

function quaternaryChildren(leaves: ReadonlyMap<number, bigint>, height: number): bigint[] {
  const width = 4 ** (height - 1);
  return [0, 1, 2, 3].map((child) => {
    const inside = [...leaves].filter(([position]) => Math.floor(position / width) === child);
    const shifted = inside.map(([position, leaf]) => [position - child * width, leaf] as const);
    return quaternaryRoot(new Map(shifted), height - 1);
  });
}

/** Siblings of a leaf from the leaf up, each level in child order without its own node. */
export function quaternarySiblings(
  leaves: ReadonlyMap<number, bigint>,
  position: number,
  height = 10,
): string[][] {
  if (height === 0) {
    return [];
  }
  const width = 4 ** (height - 1);
  const own = Math.floor(position / width);
  const inside = [...leaves].filter(([place]) => Math.floor(place / width) === own);
  const shifted = inside.map(([place, leaf]) => [place - own * width, leaf] as const);
  const below = quaternarySiblings(new Map(shifted), position % width, height - 1);
  const siblings = quaternaryChildren(leaves, height).filter((_, child) => child !== own);
  return [...below, siblings.map(word)];
}

/** z and y from D and x; y as a sum of powers. */
export function challengeOf(digest: bigint, x: readonly bigint[]): { z: bigint; y: bigint } {
  const z = BigInt(keccak(Buffer.concat([digest, ...x].map(wordBytes)))) % r;
  let y = 0n;
  let power = 1n;
  for (const element of x) {
    y = (y + element * power) % r;
    power = (power * z) % r;
  }
  return { z, y };
}

/** x, D, z, y of a fund batch. */
export function fundPublicInputs(batch: {
  assetId: bigint;
  total: bigint;
  batchId: bigint;
  eligibilityRoot: bigint;
  batchRoot: bigint;
  commitments: readonly bigint[];
}): { x: string[]; digest: string; z: string; y: string } {
  const { assetId, total, batchId, eligibilityRoot, batchRoot, commitments } = batch;
  const x = [assetId, total, batchId, eligibilityRoot, batchRoot, ...commitments];
  const digest = hash(assetId, total, batchId, eligibilityRoot, batchRoot);
  const { z, y } = challengeOf(digest, x);
  return { x: x.map(word), digest: word(digest), z: word(z), y: word(y) };
}

/** The random values of a manifest by label and index: HKDF over its digest. */
export function createDerivation(seed: Uint8Array, manifest: unknown) {
  const salt = sha256(jcs(manifest));
  return (label: string, index: number, length = 48): bigint => {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(index);
    return integerOf(hkdf(seed, salt, Buffer.concat([Buffer.from(label), counter]), length));
  };
}

/** Fisher–Yates over 0 … size-1 with the values of a label. */
export function permute(size: number, draw: (step: number) => bigint): number[] {
  const order = Array.from({ length: size }, (_, i) => i);
  for (let i = size - 1; i >= 1; i -= 1) {
    const j = Number(draw(i) % BigInt(i + 1));
    const moved = order[i] ?? 0;
    order[i] = order[j] ?? 0;
    order[j] = moved;
  }
  return order;
}

/** A well-spread number for examples, from a label. */
export function sample(label: string): bigint {
  return integerOf(sha256('pool vectors: ', label)) % r;
}
export function sampleScalar(label: string): bigint {
  return 1n + (integerOf(sha256('pool vectors: ', label)) % (l - 1n));
}
export function samplePrivateKey(label: string): string {
  return hex(sha256('pool vectors key: ', label));
}
