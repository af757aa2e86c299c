// Multi-scalar multiplication by signed windows: scalars to digits, points sorted by digit, buckets summed as trees of
// independent additions (add-pairs.ts), and the weighted sum of the buckets by halving. src/curve/msm.ts defines the order.
// Source: N. Pippenger, "On the evaluation of powers and related problems", FOCS 1976 (buckets).
//
// Prepared scalar (32 bytes): |s| + H, where s is taken in (-r/2, r/2], its sign in bit 255, and H = sum over all windows
// except the last of 2^(start + bits-1). Then the digit of a window is its bits - 2^(bits-1), without any carry; the last window's
// digit is its bits. |s| < 2^253, and the windows cover 254 bits, so the last digit is at most 2^(bits-1).
//
// One window is one job with its own state, 64 bytes at `state`:
//   0 refs   references of the points still to be summed (i32 each)      4 keys   the bucket of each (i32)
//   8 count  how many                                                    12 read, 16 write: position of the current round
//   20 paired  whether this round has added anything                     24 fresh  place of the next new point
//   28 work  start of this window's own points: while buckets are summed, a sum overwrites a summand from there on
//   32 level, 36 width, 40 cursor: of the weighted sum; 44 buckets (i32 each): reference of each bucket's sum or 0
//   48 stage: 0 summing buckets, 1 halving, 2 summing the halves, 3 done   52 jobs   56 scratch
// A round adds neighbours with the same key; a round without additions ends the stage. Weighted sum of B_0 … B_m-1:
// 2·(sum of i·(B_2i + B_2i+1)) + (sum of the odd ones), and so on: the odd ones of level j get key j. Those sums, at most
// sixteen, are the window's result.

import { appendJob, infinityBits, jobBytes, pointBytes, runJobs } from './add-pairs.ts';
import { scalarModulus } from './constants.ts';
import type { CoordinateField } from './fp2.ts';
import { bump, get, i64, type ModuleWriter, plus, set } from './wat.ts';

/** Maximum number of additions in one call, which share one inversion. */
const jobsPerCall = 1024;

/**
 * Scalars to prepared scalars; `offset` is the address of H (32 bytes). The scalar of a point at infinity becomes 0, so that the many
 * sorts, one for each window, do not read the points.
 */
function writePrepare(module: ModuleWriter): void {
  const half = (scalarModulus - 1n) / 2n;
  const word = (value: bigint, index: number): string =>
    i64((value >> BigInt(64 * index)) & ((1n << 64n) - 1n));
  const params = ['to', 'from', 'points', 'pointBytes', 'count', 'offset'];
  module.func('msm_prepare', { exported: true, params }, (f) => {
    const s = [0, 1, 2, 3].map(() => f.take('i64'));
    const h = [0, 1, 2, 3].map((index) =>
      f.let('i64', `(i64.load offset=${8 * index} ${get('offset')})`),
    );
    const [borrow, word0, sign] = [f.take('i64'), f.take('i64'), f.take('i64')];
    f.push(`(block $end (loop $next (br_if $end (i32.eqz ${get('count')}))`);
    s.forEach((name, index) => {
      f.push(`(local.set $${name} (i64.load offset=${8 * index} ${get('from')}))`);
    });
    f.push(`(if (i64.eq (i64.load ${get('points')}) ${i64(infinityBits)}) (then`);
    for (const name of s) f.push(set(name, i64(0n)));
    f.push('))');
    // half - s borrows if s is above half.
    f.push(`(local.set $${borrow} (i64.const 0))`);
    for (const [index, name] of s.entries()) {
      f.push(`(local.set $${borrow} (i64.extend_i32_u (i32.or
        (i64.lt_u ${word(half, index)} ${get(name)})
        (i32.and (i64.eq ${word(half, index)} ${get(name)}) (i32.wrap_i64 ${get(borrow)})))))`);
    }
    f.push(`(local.set $${sign} (i64.shl ${get(borrow)} (i64.const 63)))`);
    f.push(`(if (i32.wrap_i64 ${get(borrow)}) (then (local.set $${borrow} (i64.const 0))`);
    for (const [index, name] of s.entries()) {
      f.push(
        `(local.set $${word0} (i64.sub (i64.sub ${word(scalarModulus, index)} ${get(name)}) ${get(borrow)}))`,
      );
      f.push(`(local.set $${borrow} (i64.extend_i32_u (i32.or
        (i64.lt_u ${word(scalarModulus, index)} ${get(name)})
        (i32.and (i64.eq ${word(scalarModulus, index)} ${get(name)}) (i32.wrap_i64 ${get(borrow)})))))`);
      f.push(`(local.set $${name} ${get(word0)})`);
    }
    f.push('))');
    f.push(`(local.set $${borrow} (i64.const 0))`);
    for (const [index, name] of s.entries()) {
      const added = h[index] ?? '';
      f.push(`(local.set $${word0} (i64.add ${get(name)} ${get(added)}))`);
      f.push(`(local.set $${name} (i64.add ${get(word0)} ${get(borrow)}))`);
      f.push(
        `(local.set $${borrow} (i64.extend_i32_u (i32.or (i64.lt_u ${get(word0)} ${get(added)}) (i64.lt_u ${get(name)} ${get(word0)}))))`,
      );
      const value = index === 3 ? `(i64.or ${get(name)} ${get(sign)})` : get(name);
      f.push(`(i64.store offset=${8 * index} ${get('to')} ${value})`);
    }
    for (const pointer of ['to', 'from']) f.push(bump(pointer, 32));
    f.push(set('points', plus('points', get('pointBytes'))));
    f.push(`(local.set $count (i32.sub ${get('count')} (i32.const 1)))(br $next)))`);
  });
  // The digit of a prepared scalar: its size in the low 31 bits (0: skip), bit 31 when negative.
  const digit = ['scalar', 'bit', 'bits', 'bias'];
  module.func('msm_digit', { params: digit, results: ['i32'] }, (f) => {
    const raw = f.take('i32');
    const high = f.take('i64');
    const at = f.let(
      'i32',
      `(i32.add ${get('scalar')} (i32.shl (i32.shr_u ${get('bit')} (i32.const 6)) (i32.const 3)))`,
    );
    f.push(`(local.set $bit (i32.and ${get('bit')} (i32.const 63)))`);
    f.push(
      `(local.set $${high} (i64.shr_u (i64.load ${get(at)}) (i64.extend_i32_u ${get('bit')})))`,
    );
    f.push(`(if (i32.and (i32.gt_u (i32.add ${get('bit')} ${get('bits')}) (i32.const 64))
        (i32.lt_u ${get(at)} (i32.add ${get('scalar')} (i32.const 24))))
      (then (local.set $${high} (i64.or ${get(high)} (i64.shl (i64.load offset=8 ${get(at)}) (i64.extend_i32_u (i32.sub (i32.const 64) ${get('bit')})))))))`);
    // The sign is bit 255, above every digit except perhaps the last, which is cut to its width.
    f.push(
      `(local.set $${high} (i64.and ${get(high)} (i64.sub (i64.shl (i64.const 1) (i64.extend_i32_u ${get('bits')})) (i64.const 1))))`,
    );
    f.push(`(local.set $${raw} (i32.sub (i32.wrap_i64 ${get(high)}) ${get('bias')}))`);
    f.push(`(local.set $at (i32.shr_s ${get(raw)} (i32.const 31)))`.replace('$at', `$${at}`));
    f.push(`(i32.or
      (i32.sub (i32.xor ${get(raw)} ${get(at)}) ${get(at)})
      (i32.xor (i32.and ${get(at)} (i32.const 0x80000000))
        (i32.and (i32.shl (i32.load8_u offset=31 ${get('scalar')}) (i32.const 24)) (i32.const 0x80000000))))`);
  });
}

/**
 * Sorts the points whose digit is not 0 into `refs` and `keys` (counting sort). `buckets` (2^bits + 1 words) must be zero
 * and is zero afterwards. `bias` is 2^(bits-1), or 0 in the last window. After `before` points (if that many come), addresses grow by `jump`.
 */
function writeSort(module: ModuleWriter): void {
  const params = [
    'state',
    'scalars',
    'points',
    'pointBytes',
    'count',
    'before',
    'jump',
    'bit',
    'bits',
    'bias',
    'buckets',
    'bucketCount',
  ];
  module.func('msm_sort', { exported: true, params }, (f) => {
    const [index, scalar, point, digit, cell, total, bucket] = [0, 1, 2, 3, 4, 5, 6].map(() =>
      f.take('i32'),
    ) as [string, string, string, string, string, string, string];
    const eachDigit = (label: string, body: string): void => {
      f.push(`(local.set $${index} (i32.const 0)) (local.set $${scalar} ${get('scalars')}) (local.set $${point} ${get('points')})
      (block $${label}e (loop $${label} (br_if $${label}e (i32.ge_u ${get(index)} ${get('count')}))
        (local.set $${digit} (call $msm_digit ${get(scalar)} ${get('bit')} ${get('bits')} ${get('bias')}))
        (local.set $${cell} (i32.add ${get('buckets')} (i32.shl ${get(digit)} (i32.const 2))))
        (if (i32.shl ${get(digit)} (i32.const 1)) (then ${body}))
        (local.set $${index} (i32.add ${get(index)} (i32.const 1)))
        (local.set $${scalar} (i32.add ${get(scalar)} (i32.const 32)))
        (local.set $${point} (i32.add ${get(point)} (i32.add ${get('pointBytes')}
          (select ${get('jump')} (i32.const 0) (i32.eq ${get(index)} ${get('before')})))))
        (br $${label})))`);
    };
    // A cell's address: the shift by two drops the sign.
    eachDigit('count_', `(i32.store ${get(cell)} (i32.add (i32.load ${get(cell)}) (i32.const 1)))`);
    f.push(`(local.set $${bucket} ${get('buckets')}) (local.set $${index} (i32.const 0))
      (block $pe (loop $p (br_if $pe (i32.ge_u ${get(index)} ${get('bucketCount')}))
        (local.set $${digit} (i32.load ${get(bucket)}))
        (i32.store ${get(bucket)} ${get(total)})
        (local.set $${total} (i32.add ${get(total)} ${get(digit)}))
        (local.set $${bucket} (i32.add ${get(bucket)} (i32.const 4)))
        (local.set $${index} (i32.add ${get(index)} (i32.const 1)))
        (br $p)))`);
    f.push(`(i32.store offset=8 ${get('state')} ${get(total)})`);
    eachDigit(
      'place_',
      `(local.set $${bucket} (i32.shl (i32.load ${get(cell)}) (i32.const 2)))
       (i32.store ${get(cell)} (i32.add (i32.load ${get(cell)}) (i32.const 1)))
       (i32.store (i32.add (i32.load ${get('state')}) ${get(bucket)}) (i32.or ${get(point)} (i32.shr_u ${get(digit)} (i32.const 31))))
       (i32.store (i32.add (i32.load offset=4 ${get('state')}) ${get(bucket)}) (i32.and ${get(digit)} (i32.const 0x7fffffff)))`,
    );
    f.push(
      `(memory.fill ${get('buckets')} (i32.const 0) (i32.shl ${get('bucketCount')} (i32.const 2)))`,
    );
  });
}

/** One step of a window: plans up to jobsPerCall additions and computes them. */
function writeStep(module: ModuleWriter, name: string, c: CoordinateField): void {
  const bytes = pointBytes(c);
  const load = (offset: number): string => `(i32.load offset=${offset} ${get('state')})`;
  const store = (offset: number, value: string): string =>
    `(i32.store offset=${offset} ${get('state')} ${value})`;
  const params = ['state'];
  module.func(`${name}_step`, { exported: true, params }, (f) => {
    const [refs, keys, count, read, write, jobs, job, limit, a, b, out, fresh, work, key, span] =
      Array.from({ length: 15 }, () => f.take('i32')) as [
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
      ];
    const emit = appendJob(job, get(a), get(b), get(out));
    f.push(`(local.set $${refs} ${load(0)}) (local.set $${keys} ${load(4)}) (local.set $${count} (i32.shl ${load(8)} (i32.const 2)))
      (local.set $${fresh} ${load(24)}) (local.set $${work} ${load(28)})
      (local.set $${span} (select (i32.const 0) (i32.sub ${get(fresh)} ${get(work)}) ${load(48)}))
      (local.set $${jobs} ${load(52)}) (local.set $${job} ${get(jobs)})
      (local.set $${limit} (i32.add ${get(jobs)} (i32.const ${jobsPerCall * jobBytes})))`);
    // Halving: the bucket sums of one level into those of the next.
    f.push(`(if (i32.eq ${load(48)} (i32.const 1)) (then
      (local.set $${read} ${load(40)})
      (local.set $${write} ${load(44)})
      (block $e (loop $l
        (br_if $e (i32.ge_u ${get(read)} ${load(36)}))
        (br_if $e (i32.ge_u ${get(job)} ${get(limit)}))
        (local.set $${key} (i32.add ${get(write)} (i32.shl ${get(read)} (i32.const 2))))
        (local.set $${a} (i32.load ${get(key)}))
        (local.set $${b} (i32.load offset=4 ${get(key)}))
        (if ${get(b)} (then
          (i32.store (i32.add ${get(refs)} ${get(count)}) ${get(b)})
          (i32.store (i32.add ${get(keys)} ${get(count)}) ${load(32)})
          ${bump(count, 4)}))
        (local.set $${out} (i32.or ${get(a)} ${get(b)}))
        (if (i32.and (i32.ne ${get(a)} (i32.const 0)) (i32.ne ${get(b)} (i32.const 0))) (then
          (local.set $${out} ${get(fresh)}) ${bump(fresh, bytes)} ${emit}))
        (i32.store (i32.add ${get(write)} (i32.shl ${get(read)} (i32.const 1))) ${get(out)})
        ${bump(read, 2)}
        (br $l)))
      ${store(40, get(read))} ${store(8, `(i32.shr_u ${get(count)} (i32.const 2))`)}
      (if (i32.ge_u ${get(read)} ${load(36)}) (then
        ${store(40, '(i32.const 0)')}
        ${store(32, `(i32.add ${load(32)} (i32.const 1))`)}
        ${store(36, `(i32.shr_u ${load(36)} (i32.const 1))`)}
        (if (i32.le_u ${load(36)} (i32.const 1)) (then
          ${store(48, '(i32.const 2)')} ${store(12, '(i32.const 0)')} ${store(16, '(i32.const 0)')} ${store(20, '(i32.const 0)')}))))
    ) (else (if (i32.lt_u ${load(48)} (i32.const 3)) (then
      (local.set $${read} ${load(12)}) (local.set $${write} ${load(16)})
      (block $e (loop $l
        (br_if $e (i32.ge_u ${get(read)} ${get(count)}))
        (br_if $e (i32.ge_u ${get(job)} ${get(limit)}))
        (local.set $${a} (i32.load (i32.add ${get(refs)} ${get(read)})))
        (local.set $${key} (i32.load (i32.add ${get(keys)} ${get(read)})))
        ${bump(read, 4)}
        (if (i32.and (i32.lt_u ${get(read)} ${get(count)}) (i32.eq (i32.load (i32.add ${get(keys)} (select ${get(read)} (i32.const 0) (i32.lt_u ${get(read)} ${get(count)})))) ${get(key)})) (then
          (local.set $${b} (i32.load (i32.add ${get(refs)} ${get(read)})))
          ${bump(read, 4)}
          (if (i32.lt_u (i32.sub ${get(a)} ${get(work)}) ${get(span)}) (then (local.set $${out} (i32.and ${get(a)} (i32.const -2))))
          (else (if (i32.lt_u (i32.sub ${get(b)} ${get(work)}) ${get(span)}) (then (local.set $${out} (i32.and ${get(b)} (i32.const -2))))
          (else (local.set $${out} ${get(fresh)}) ${bump(fresh, bytes)}))))
          ${emit}
          ${store(20, '(i32.const 1)')}
          (local.set $${a} ${get(out)})))
        (i32.store (i32.add ${get(refs)} ${get(write)}) ${get(a)})
        (i32.store (i32.add ${get(keys)} ${get(write)}) ${get(key)})
        ${bump(write, 4)}
        (br $l)))
      ${store(12, get(read))} ${store(16, get(write))}
      (if (i32.ge_u ${get(read)} ${get(count)}) (then
        ${store(8, `(i32.shr_u ${get(write)} (i32.const 2))`)} ${store(12, '(i32.const 0)')} ${store(16, '(i32.const 0)')}
        (if (i32.eqz ${load(20)}) (then
          ${store(48, `(i32.add ${load(48)} (i32.const 1))`)}
          (if (i32.eq ${load(48)} (i32.const 1)) (then
            (local.set $${read} (i32.const 0))
            (block $se (loop $s
              (br_if $se (i32.ge_u ${get(read)} ${get(write)}))
              (i32.store (i32.add ${load(44)} (i32.shl (i32.load (i32.add ${get(keys)} ${get(read)})) (i32.const 2))) (i32.load (i32.add ${get(refs)} ${get(read)})))
              ${bump(read, 4)} (br $s)))
            ${store(8, '(i32.const 0)')}))))
        ${store(20, '(i32.const 0)')}))))))`);
    f.push(store(24, get(fresh)));
    f.push(runJobs(name, jobs, job, load(56)));
  });
  // Writes the sums to the places of their keys (points, zero bytes for none), and clears the buckets.
  const output = ['state', 'to', 'slots', 'bucketCount'];
  module.func(`${name}_finish`, { exported: true, params: output }, (f) => {
    const [index, reference, to] = [f.take('i32'), f.take('i32'), f.take('i32')];
    f.push(`(if (i32.ne ${load(48)} (i32.const 3)) (then (unreachable)))
      (memory.fill ${get('to')} (i32.const 0) (i32.mul ${get('slots')} (i32.const ${bytes})))
      (memory.fill ${load(44)} (i32.const 0) (i32.shl ${get('bucketCount')} (i32.const 2)))
      (block $e (loop $l (br_if $e (i32.ge_u ${get(index)} ${load(8)}))
      (local.set $${reference} (i32.load (i32.add ${load(0)} (i32.shl ${get(index)} (i32.const 2)))))
      (local.set $${to} (i32.add ${get('to')} (i32.mul (i32.const ${bytes}) (i32.load (i32.add ${load(4)} (i32.shl ${get(index)} (i32.const 2)))))))
      (call $${name}_copyPoint ${get(to)} ${get(reference)})
      (local.set $${index} (i32.add ${get(index)} (i32.const 1))) (br $l)))`);
  });
  module.func(`${name}_copyPoint`, { params: ['to', 'reference'] }, (f) => {
    const from = f.let('i32', `(i32.and ${get('reference')} (i32.const -2))`);
    f.push(`(if (i64.ne (i64.load ${get(from)}) ${i64(infinityBits)}) (then`);
    for (let offset = 0; offset < bytes; offset += 8) {
      const value = `(i64.load offset=${offset} ${get(from)})`;
      const signed = `(i64.xor ${value} (i64.shl (i64.extend_i32_u (i32.and ${get('reference')} (i32.const 1))) (i64.const 63)))`;
      f.push(`(i64.store offset=${offset} ${get('to')} ${offset < bytes / 2 ? value : signed})`);
    }
    f.push('))');
  });
}

/** Points of proving keys (coordinates times 2^256, zero bytes for infinity) to points of kernels. */
function writeLoadPoints(module: ModuleWriter, name: string, c: CoordinateField): void {
  const bytes = pointBytes(c);
  const zkeyBytes = 64 * c.components;
  module.func(`${name}_fromZkey`, { exported: true, params: ['to', 'from', 'count'] }, (f) => {
    f.push(
      `(call $q_fromMontgomery256 ${get('to')} ${get('from')} (i32.mul ${get('count')} (i32.const ${2 * c.components})))`,
    );
    f.push(`(block $e (loop $l (br_if $e (i32.eqz ${get('count')}))`);
    const words = Array.from(
      { length: zkeyBytes / 8 },
      (_, index) => `(i64.load offset=${index * 8} ${get('from')})`,
    );
    const joined = words.reduce((left, right) => `(i64.or ${left} ${right})`);
    f.push(`(if (i64.eqz ${joined}) (then (i64.store ${get('to')} ${i64(infinityBits)})))`);
    f.push(`(local.set $from (i32.add ${get('from')} (i32.const ${zkeyBytes}))) (local.set $to (i32.add ${get('to')} (i32.const ${bytes})))
      (local.set $count (i32.sub ${get('count')} (i32.const 1))) (br $l)))`);
  });
}

export function writeMsm(module: ModuleWriter): void {
  writePrepare(module);
  writeSort(module);
}

export function writeMsmOf(module: ModuleWriter, name: string, c: CoordinateField): void {
  writeStep(module, name, c);
  writeLoadPoints(module, name, c);
}
