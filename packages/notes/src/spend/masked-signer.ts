/**
 * The masked authorisation of a spend (protocol §7). The holder's wallet W signs m. The chain must not learn W, so it sees
 * W' = W + b̂·G and m' = m - rSig·b̂ mod n. (rSig, s) is a signature of m under W if and only if it is one of m' under W':
 * s·R = m·G + rSig·W = m'·G + rSig·W'. Vectors: vectors/spend.json. Curve: SEC 2 v2, §2.4.1; recovery: SEC 1 v2, §4.1.6.
 *
 * @module
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import {
  bigintToBytes,
  computeWalletAddress,
  decodeWalletPub,
  type EvmAddress,
  encodeWalletPub,
  type Field,
  type Hex,
  isPoolError,
  PoolError,
  type WalletPoint,
} from '@pool/core';

/** Bytes of b: 31 windows of 8 bits, 248 bits in total. */
export const blindingBytes = 31;

const { Point } = secp256k1;
const { n, p } = Point.CURVE();
const generator = Point.BASE.toAffine();
const blindingLimit = 1n << BigInt(8 * blindingBytes);
/** Each window's digit d adds (d + 1)·2^{8j}·G, so that no window adds the point at infinity. */
const blindingOffset = (blindingLimit - 1n) / 255n;

/** What the contract and the circuit see of the signer. Public. */
export type MaskedSigner = {
  /** W'. */
  readonly maskedPub: WalletPoint;
  /** m', below n. */
  readonly maskedDigest: bigint;
  /** λ with λ·(W'x - Gx) = W'y - Gy mod p, by which the contract computes W' + G. */
  readonly slope: bigint;
};

/** The variable parts of a signature. Public once the spend is sent. At most one rSig for each m may leave the agent. */
export type SpendSignature = {
  /** 1 … n-1. */
  readonly rSig: bigint;
  /** 1 … n-1. */
  readonly s: bigint;
  readonly parity: 0 | 1;
};

function mod(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

/**
 * Masks a wallet and the digest that it signs.
 *
 * @param parts.walletPub - W
 * @param parts.digest - m, secret
 * @param parts.blinding - b, secret, 0 … 2^248-1
 * @param parts.rSig - of the signature over m, 1 … n-1. For a dry run, any such number
 * @throws PoolError `invalid_wallet_pub`, `invalid_value`, `invalid_signature` (rSig is out of range)
 */
export function computeMaskedSigner(parts: {
  readonly walletPub: Hex;
  readonly digest: Field;
  readonly blinding: bigint;
  readonly rSig: bigint;
}): MaskedSigner {
  const { walletPub, digest, blinding, rSig } = parts;
  if (blinding < 0n || blinding >= blindingLimit) {
    throw new PoolError('invalid_value', 'the blinding of a spend must be 0 to 2^248-1');
  }
  if (rSig < 1n || rSig >= n) {
    throw new PoolError('invalid_signature', 'rSig must be from 1 to below the group order');
  }
  const scalar = blinding + blindingOffset;
  const wallet = Point.fromAffine(decodeWalletPub(walletPub));
  const masked = wallet.add(Point.BASE.multiply(scalar));
  const { x, y } = masked.toAffine();
  // W' = ±G, or the point at infinity: whoever meets one of them has computed the private key of W.
  if (masked.is0() || x === generator.x) {
    throw new PoolError('invalid_value', 'this blinding does not hide the wallet; draw another');
  }
  return {
    maskedPub: { x, y },
    maskedDigest: mod(digest - rSig * scalar, n),
    slope: Point.Fp.div(mod(y - generator.y, p), mod(x - generator.x, p)),
  };
}

/**
 * The contract's check: recovering from m' gives the address of W', and recovering from m' - rSig gives the address of W' + G. One
 * comparison alone could be met by a search over 2^80 values of b; both together could not.
 *
 * @returns false for any value out of range, and for a wrong slope
 */
export function verifyMaskedSigner(
  { maskedPub, maskedDigest, slope }: MaskedSigner,
  { rSig, s, parity }: SpendSignature,
): boolean {
  const { x, y } = maskedPub;
  const inField = [x, y, slope].every((value) => value >= 0n && value < p);
  const inGroup = [rSig, s].every((value) => value > 0n && value < n);
  if (!inField || !inGroup || maskedDigest < 0n || maskedDigest >= n || x === generator.x) {
    return false;
  }
  if (mod(slope * (x - generator.x) - (y - generator.y), p) !== 0n) {
    return false;
  }
  const sumX = mod(slope * slope - x - generator.x, p);
  const sumY = mod(slope * (x - sumX) - y, p);
  const second = mod(maskedDigest - rSig, n);
  try {
    return (
      recover(maskedDigest, { rSig, s, parity }) === addressOf(maskedPub) &&
      recover(second, { rSig, s, parity }) === addressOf({ x: sumX, y: sumY })
    );
  } catch (error) {
    if (isPoolError(error)) {
      return false;
    }
    throw error;
  }
}

function addressOf(point: WalletPoint): EvmAddress {
  return computeWalletAddress(encodeWalletPub(point));
}

function recover(digest: bigint, { rSig, s, parity }: SpendSignature): EvmAddress {
  const signature = new secp256k1.Signature(rSig, s).addRecoveryBit(parity);
  let point: WalletPoint;
  try {
    point = signature.recoverPublicKey(bigintToBytes(digest, 32)).toAffine();
  } catch (cause) {
    throw new PoolError('invalid_signature', 'no public key gives this signature', { cause });
  }
  return addressOf(point);
}
