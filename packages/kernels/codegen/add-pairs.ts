// Sums of many independent pairs of affine points with one inversion, two sums at a time. Source of the shared inversion:
// P. L. Montgomery, "Speeding the Pollard and elliptic curve methods of factorization", Math. Comp. 48 (1987), §10.3.1.
//
// A point in memory: x, y (a coordinate each). Infinity: the first double of x is not a number. A reference is a point's
// address (a multiple of 8), plus 1 for its negative. A job is three 32-bit words: references of both summands, and the
// address for the sum, which may be that of a summand. The jobs of one call are independent of each other.
//
// Forward: d = x2 - x1 (its key for the inversion), and the product of the keys so far. One inversion. Backward: the
// inverse of each key, slope = (y2 - y1)/d, x3 = slope² - x1 - x2, y3 = slope·(x1 - x3) - y1. If the summands have the
// same x or one is infinity, a branch that is hardly ever taken corrects the lane: doubling divides 3·x1² by 2·y1;
// otherwise d = 1 and the sum is written by selection. There is no point with y = 0 (the orders are odd).
//
// A table of points does not fit into the nearest caches, and its points come in the order of the buckets: hence `readAhead`.

import * as field from './field.ts';
import {
  assign,
  type Coordinate,
  type CoordinateField,
  choose,
  isZero,
  loadCoordinate,
  mayBeZero,
  normalise,
  storeCoordinate,
  subtract,
  sum,
} from './fp2.ts';
import {
  at,
  bitsOf,
  bump,
  call,
  type FunctionWriter,
  get,
  i32,
  loopWhile,
  type ModuleWriter,
  op,
  set,
} from './wat.ts';

export const jobBytes = 12;
/** Bits of the first double of a point at infinity. */
export const infinityBits = bitsOf(Number.NaN);
/** Scratch space of a call: this for the inversion, and three pairs for each two jobs. */
const scratchFixedBytes = 18 * field.pairBytes;

export function pointBytes(c: CoordinateField): number {
  return 2 * c.components * field.elementBytes;
}

/** Appends the job to = first + second to the list that ends at `end`. */
export function appendJob(end: string, first: string, second: string, to: string): string {
  return `(i32.store ${get(end)} ${first}) (i32.store offset=4 ${get(end)} ${second}) (i32.store offset=8 ${get(end)} ${to})
    ${bump(end, jobBytes)}`;
}

/** Adds all pairs of the list from `jobs` to `end`. */
export function runJobs(name: string, jobs: string, end: string, scratch: string): string {
  return `(call $${name}_addPairs ${get(jobs)}
    (i32.div_u (i32.sub ${get(end)} ${get(jobs)}) (i32.const ${jobBytes})) ${scratch})`;
}

type Operands = { readonly p: readonly [string, string]; readonly q: readonly [string, string] };

/** The addresses in two references, and the mask that negates y where they say so. */
function readReferences(
  f: FunctionWriter,
  jobs: readonly [string, string],
  offset: number,
): { addresses: readonly [string, string]; sign: string } {
  const references = jobs.map((job) => f.let('i32', op('i32.load', at(get(job), offset))));
  const bit = (index: number): string =>
    op('i64.extend_i32_u', op('i32.and', get(references[index] ?? ''), i32(1)));
  const bits = op('i64x2.replace_lane 1', op('i64x2.splat', bit(0)), bit(1));
  const sign = f.let('v128', op('i64x2.shl', bits, '(i32.const 63)'));
  const addresses = references.map((name) => f.let('i32', op('i32.and', get(name), i32(-2))));
  return { addresses: [addresses[0] ?? '', addresses[1] ?? ''], sign };
}

function withSign(f: FunctionWriter, y: Coordinate, sign: string): Coordinate {
  for (const pair of y) {
    for (const limb of pair.limbs) f.push(set(limb, op('v128.xor', get(limb), get(sign))));
  }
  return y;
}

function isInfinity(x: Coordinate): string {
  const first = get(x[0]?.limbs[0] ?? '');
  return op('f64x2.ne', first, first);
}

/** Jobs whose points are read ahead together. They fill half of the nearest cache. */
const jobsAhead = 64;
const cacheLineBytes = 64;

/**
 * Reads from every cache line of the points of some jobs. These reads wait for memory together; within the arithmetic, each would
 * make the additions wait.
 * @param job - local with the address of the first job; afterwards it is `end`
 */
function readAhead(f: FunctionWriter, c: CoordinateField, job: string, end: string): void {
  const last = pointBytes(c) - 8;
  const lines = Array.from({ length: Math.ceil(last / cacheLineBytes) }, (_, line) => line);
  const offsets = [...lines.map((line) => line * cacheLineBytes), last];
  f.scope(() => {
    const read = f.let('i32', i32(0));
    loopWhile(f, `(i32.lt_u ${get(job)} ${get(end)})`, () => {
      for (const summand of [0, 4]) {
        const reference = op('i32.load', at(get(job), summand));
        const point = f.let('i32', op('i32.and', reference, i32(-2)));
        for (const offset of offsets)
          f.push(set(read, op('i32.xor', get(read), op('i32.load', at(get(point), offset)))));
      }
      f.push(bump(job, jobBytes));
    });
    // Without a use, the reads could be left out.
    f.push(op('i32.store', at(get('scratch')), get(read)));
  });
}

export function writeAddPairs(module: ModuleWriter, name: string, c: CoordinateField): void {
  const k = c.base;
  const y = c.components * field.elementBytes;
  const step = 3 * field.pairBytes;
  const params = ['jobs', 'count', 'scratch'];
  const unit = (f: FunctionWriter): Coordinate =>
    Array.from({ length: c.components }, (_, index) => k.constant(f, index === 0 ? 1n : 0n));

  module.func(`${name}_addPairs`, { exported: true, params }, (f) => {
    f.push(`(if (i32.eqz ${get('count')}) (then (return)))`);
    // Per two jobs: the product before, the key, a flag.
    const start = f.let('i32', op('i32.add', get('scratch'), i32(scratchFixedBytes)));
    const place = f.let('i32', get(start));
    const job = f.let('i32', get('jobs'));
    const last = f.let(
      'i32',
      op('i32.add', get('jobs'), op('i32.mul', op('i32.sub', get('count'), i32(1)), i32(jobBytes))),
    );
    const product = { ...k.constant(f, 1n), ...k.stored };
    /** The second job of the two. If there is none, the first job again. */
    const second = (): string =>
      f.let(
        'i32',
        `(select ${get(job)} (i32.add ${get(job)} (i32.const ${jobBytes})) (i32.eq ${get(job)} ${get(last)}))`,
      );
    const read = (): Operands & { signP: string; signQ: string } => {
      const jobs = [job, second()] as const;
      const first = readReferences(f, jobs, 0);
      const other = readReferences(f, jobs, 4);
      return { p: first.addresses, q: other.addresses, signP: first.sign, signQ: other.sign };
    };
    const masks = (
      x1: Coordinate,
      x2: Coordinate,
      difference: Coordinate,
      rise: Coordinate,
    ): { none: string; equal: string; twice: string; p: string; q: string } => {
      const p = f.let('v128', isInfinity(x1));
      const q = f.let('v128', isInfinity(x2));
      const finite = op('v128.not', op('v128.or', get(p), get(q)));
      const same = isZero(f, c, normalise(f, c, difference));
      const equal = f.let('v128', op('v128.and', same, finite));
      const flat = isZero(f, c, normalise(f, c, rise));
      const twice = f.let('v128', op('v128.and', get(equal), flat));
      const none = f.let('v128', op('v128.andnot', get(equal), get(twice)));
      return { none, equal, twice, p, q };
    };

    /** The divisor: 2·y1 for a doubling, 1 if nothing is divided, otherwise the difference. */
    const chooseDivisor = (
      mask: ReturnType<typeof masks>,
      y1: Coordinate,
      difference: Coordinate,
    ): Coordinate => {
      const odd = f.let(
        'v128',
        op('v128.or', get(mask.none), op('v128.or', get(mask.p), get(mask.q))),
      );
      const doubled = normalise(f, c, sum(f, y1, y1));
      return choose(f, mask.twice, doubled, choose(f, odd, unit(f), difference));
    };
    const ahead = f.let('i32', get(job));
    const end = f.take('i32');
    loopWhile(f, `(i32.le_u ${get(job)} ${get(last)})`, () => {
      f.push(`(if (i32.ge_u ${get(job)} ${get(ahead)}) (then`);
      f.push(set(end, op('i32.add', get(job), i32(jobsAhead * jobBytes))));
      f.push(`(if (i32.gt_u ${get(end)} ${get(last)}) (then`);
      f.push(set(end, op('i32.add', get(last), i32(jobBytes))));
      f.push('))');
      readAhead(f, c, ahead, end);
      f.push('))');
      f.scope(() => {
        const { p, q, signP, signQ } = read();
        const x1 = loadCoordinate(f, c, ...p, 0);
        const x2 = loadCoordinate(f, c, ...q, 0);
        const difference = subtract(f, x2, x1);
        const suspect = op('v128.or', isInfinity(x1), isInfinity(x2));
        const flag = f.let(
          'i32',
          op('v128.any_true', op('v128.or', mayBeZero(f, c, difference), suspect)),
        );
        f.push(op('i32.store', at(get(place), 2 * field.pairBytes), get(flag)));
        f.push(`(if ${get(flag)} (then`);
        f.scope(() => {
          const y1 = withSign(f, loadCoordinate(f, c, ...p, y), signP);
          const y2 = withSign(f, loadCoordinate(f, c, ...q, y), signQ);
          const mask = masks(x1, x2, difference, subtract(f, y2, y1));
          assign(f, difference, chooseDivisor(mask, y1, difference));
        });
        f.push('))');
        const key = c.inverseKey(f, difference);
        k.storePair(f, product, get(place));
        if (c.components === 2)
          k.storePair(f, key, op('i32.add', get(place), i32(field.pairBytes)));
        field.assign(f, product, k.mul(f, product, key));
      });
      f.push(set(place, op('i32.add', get(place), i32(step))));
      f.push(set(job, op('i32.add', get(job), i32(2 * jobBytes))));
    });

    k.storePair(f, product, get('scratch'));
    f.push(
      call(
        `${k.name}_invertPairByGcd`,
        get('scratch'),
        get('scratch'),
        op('i32.add', get('scratch'), i32(field.pairBytes)),
      ),
    );
    f.scope(() => {
      field.assign(f, product, k.loadPair(f, get('scratch')));
    });
    loopWhile(f, `(i32.gt_u ${get(place)} ${get(start)})`, () => {
      f.push(set(place, op('i32.sub', get(place), i32(step))));
      f.push(set(job, op('i32.sub', get(job), i32(2 * jobBytes))));
      f.scope(() => {
        const { p, q, signP, signQ } = read();
        const [first, other] = [job, second()].map((one) =>
          f.let('i32', op('i32.load', at(get(one), 8))),
        ) as [string, string];
        const flag = f.let('i32', op('i32.load', at(get(place), 2 * field.pairBytes)));
        const inverse = k.mul(f, product, k.loadPair(f, get(place)));
        const x1 = loadCoordinate(f, c, ...p, 0);
        const x2 = loadCoordinate(f, c, ...q, 0);
        const y1 = withSign(f, loadCoordinate(f, c, ...p, y), signP);
        const y2 = withSign(f, loadCoordinate(f, c, ...q, y), signQ);
        const difference = subtract(f, x2, x1);
        const rise = subtract(f, y2, y1);
        const names = { none: f.take('v128'), p: f.take('v128'), q: f.take('v128') };
        f.push(`(if ${get(flag)} (then`);
        f.scope(() => {
          const mask = masks(x1, x2, difference, rise);
          f.push(set(names.none, get(mask.none)));
          f.push(set(names.p, get(mask.p)));
          f.push(set(names.q, get(mask.q)));
          const square = normalise(f, c, c.sqr(f, x1));
          const tripled = normalise(f, c, sum(f, sum(f, square, square), square));
          assign(f, rise, choose(f, mask.twice, tripled, rise));
          assign(f, difference, chooseDivisor(mask, y1, difference));
        });
        f.push('))');
        const key =
          c.components === 1
            ? c.inverseKey(f, difference)
            : k.loadPair(f, op('i32.add', get(place), i32(field.pairBytes)));
        field.assign(f, product, k.mul(f, product, key));
        const reciprocal = c.finishInverse(f, difference, inverse);
        const slope = c.mul(f, rise, reciprocal);
        const square = c.sqr(f, slope);
        const x3 = normalise(f, c, subtract(f, subtract(f, square, x1), x2));
        const run = c.mul(f, slope, subtract(f, x1, x3));
        const y3 = normalise(f, c, subtract(f, run, y1));
        f.push(`(if ${get(flag)} (then`);
        f.scope(() => {
          const chosenX = choose(f, names.p, x2, choose(f, names.q, x1, x3));
          const chosenY = choose(f, names.p, y2, choose(f, names.q, y1, y3));
          const limb = chosenX[0]?.limbs[0] ?? '';
          const nothing = op('v128.load', at(module.constant(infinityBits)));
          f.push(set(limb, op('v128.bitselect', nothing, get(limb), get(names.none))));
          storeCoordinate(f, c, chosenX, first, other, 0);
          storeCoordinate(f, c, chosenY, first, other, y);
        });
        f.push(') (else');
        storeCoordinate(f, c, x3, first, other, 0);
        storeCoordinate(f, c, y3, first, other, y);
        f.push('))');
      });
    });
  });
}
