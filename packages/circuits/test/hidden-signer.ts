/** What the hidden-signer gadget proves, computed with @noble/curves; for tests only. */
import { secp256k1 } from '@noble/curves/secp256k1.js';

const { Point } = secp256k1;

/** Order of secp256k1's coordinate field. */
export const P = Point.Fp.ORDER;
/** Order of the group. */
export const N = Point.Fn.ORDER;

const half = 1n << 128n;

export type HiddenSigner = {
  readonly wallet: { readonly x: bigint; readonly y: bigint };
  readonly digest: bigint;
  /** b, below 2^(8 windows). */
  readonly mask: bigint;
  readonly scalar: bigint;
};

/** b plus 1 in each digit of radix 2^8. */
export function computeMaskHat(mask: bigint, windows: number): bigint {
  return mask + ((1n << BigInt(8 * windows)) - 1n) / 255n;
}

/** The input signals of HiddenSigner(windows). */
export function toSignals({ wallet, digest, mask, scalar }: HiddenSigner, windows: number) {
  return {
    wxLo: wallet.x % half,
    wxHi: wallet.x / half,
    wyLo: wallet.y % half,
    wyHi: wallet.y / half,
    m: digest,
    bBits: Array.from({ length: 8 * windows }, (_, i) => (mask >> BigInt(i)) & 1n),
    rLo: scalar % half,
    rHi: scalar / half,
  };
}

/** The output signals: halves of W' and m'. */
export function computeOutputs(
  { wallet, digest, mask, scalar }: HiddenSigner,
  windows: number,
): bigint[] {
  const maskHat = computeMaskHat(mask, windows);
  const { x, y } = Point.fromAffine(wallet).add(Point.BASE.multiply(maskHat)).toAffine();
  const masked = (((digest - scalar * maskHat) % N) + N) % N;
  return [x, y, masked].flatMap((value) => [value % half, value / half]);
}
