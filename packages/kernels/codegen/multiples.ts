// Multiples of many points, each its own: one step of double-and-add for all of them. A sum is at its place in `sums`;
// the additions of a step are independent (add-pairs.ts). At most 1024 points. A table for one point: fixed-base.ts.
//
// Scalars are used unchanged (256 bits, no reduction): the points need not have order r.

import { appendJob, infinityBits, pointBytes, runJobs } from './add-pairs.ts';
import type { CoordinateField } from './fp2.ts';
import { bump, type FunctionWriter, get, i64, type ModuleWriter } from './wat.ts';

/** Runs `body` for each of `count` items; `pointers` are locals with their strides. */
function each(
  f: FunctionWriter,
  label: string,
  pointers: ReadonlyArray<readonly [string, number]>,
  body: string,
): void {
  const index = f.take('i32');
  f.push(`(local.set $${index} (i32.const 0)) (block $${label}e (loop $${label}
    (br_if $${label}e (i32.ge_u ${get(index)} ${get('count')}))
    ${body}
    ${pointers.map(([name, stride]) => bump(name, stride)).join(' ')} ${bump(index, 1)} (br $${label})))`);
  f.give(index);
}

export function writeMultiples(module: ModuleWriter, name: string, c: CoordinateField): void {
  const bytes = pointBytes(c);
  const zkeyBytes = 64 * c.components;
  const run = (end: string): string => runJobs(name, 'jobs', end, get('scratch'));

  module.func(`${name}_clear`, { exported: true, params: ['to', 'count'] }, (f) => {
    each(f, 'c', [['to', bytes]], `(i64.store ${get('to')} ${i64(infinityBits)})`);
  });

  // sums = 2·sums + bit·points. `stride`: 32, or 0 for one scalar for all.
  const step = ['sums', 'points', 'scalars', 'stride', 'bit', 'count', 'jobs', 'scratch'];
  module.func(`${name}_doubleAndAdd`, { exported: true, params: step }, (f) => {
    const [end, sum, point, scalar] = [0, 1, 2, 3].map(() => f.take('i32')) as [
      string,
      string,
      string,
      string,
    ];
    const emit = (second: string): string => appendJob(end, get(sum), second, get(sum));
    f.push(`(local.set $${end} ${get('jobs')}) (local.set $${sum} ${get('sums')})`);
    each(f, 'd', [[sum, bytes]], emit(get(sum)));
    f.push(run(end));
    f.push(`(local.set $${end} ${get('jobs')}) (local.set $${sum} ${get('sums')}) (local.set $${point} ${get('points')})
      (local.set $${scalar} (i32.add ${get('scalars')} (i32.shr_u ${get('bit')} (i32.const 3))))`);
    each(
      f,
      'a',
      [
        [sum, bytes],
        [point, bytes],
      ],
      `(if (i32.and (i32.shr_u (i32.load8_u ${get(scalar)}) (i32.and ${get('bit')} (i32.const 7))) (i32.const 1)) (then ${emit(get(point))}))
       (local.set $${scalar} (i32.add ${get(scalar)} ${get('stride')}))`,
    );
    f.push(run(end));
  });

  // Points of kernels to points of proving keys.
  module.func(`${name}_toZkey`, { exported: true, params: ['to', 'from', 'count'] }, (f) => {
    f.push(
      `(call $q_toMontgomery256 ${get('to')} ${get('from')} (i32.mul ${get('count')} (i32.const ${2 * c.components})))`,
    );
    each(
      f,
      'z',
      [
        ['to', zkeyBytes],
        ['from', bytes],
      ],
      `(if (i64.eq (i64.load ${get('from')}) ${i64(infinityBits)}) (then (memory.fill ${get('to')} (i32.const 0) (i32.const ${zkeyBytes}))))`,
    );
  });
}
