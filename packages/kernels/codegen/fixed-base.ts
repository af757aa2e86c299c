// Multiples of one point by a table: signed digits of fixed width, one table of multiples for each digit's place, one
// addition per digit. src/curve/fixed-base.ts defines the width of digits and the order of the steps. At most 1024 points.

import { appendJob, pointBytes, runJobs } from './add-pairs.ts';
import type { CoordinateField } from './fp2.ts';
import { bump, type FunctionWriter, get, type ModuleWriter } from './wat.ts';

/** Runs `body` for each of `count` items, `count` a parameter that is 0 at the end. */
function each(f: FunctionWriter, body: string): void {
  f.push(`(block $end (loop $next (br_if $end (i32.eqz ${get('count')}))
    ${body} ${bump('count', -1)} (br $next)))`);
}

/**
 * `fixed_recode`: scalars (32 bytes) plus the number at `offset` (32 bytes), 40 bytes each. The offset has half of a digit's range in
 * every place except the last: digits of the sum, less that half, are the signed digits.
 */
function writeRecode(module: ModuleWriter): void {
  const params = ['to', 'from', 'offset', 'count'];
  module.func('fixed_recode', { exported: true, params }, (f) => {
    const [carry, added, sum] = [f.take('i64'), f.take('i64'), f.take('i64')];
    const words = [0, 8, 16, 24].map(
      (at) => `
      (local.set $${added} (i64.load offset=${at} ${get('offset')}))
      (local.set $${sum} (i64.add (i64.load offset=${at} ${get('from')}) ${get(added)}))
      (i64.store offset=${at} ${get('to')} (i64.add ${get(sum)} ${get(carry)}))
      (local.set $${carry} (i64.extend_i32_u (i32.or
        (i64.lt_u ${get(sum)} ${get(added)})
        (i64.lt_u (i64.load offset=${at} ${get('to')}) ${get(sum)}))))`,
    );
    each(
      f,
      `(local.set $${carry} (i64.const 0)) ${words.join('')}
       (i64.store offset=32 ${get('to')} ${get(carry)}) ${bump('to', 40)} ${bump('from', 32)}`,
    );
  });
}

function writeFixedBaseOf(module: ModuleWriter, name: string, c: CoordinateField): void {
  const bytes = pointBytes(c);
  const run = (end: string): string => runJobs(name, 'jobs', end, get('scratch'));

  const add = ['sums', 'table', 'scalars', 'bit', 'bits', 'bias', 'count', 'jobs', 'scratch'];
  module.func(`${name}_addDigits`, { exported: true, params: add }, (f) => {
    const [end, digit, sign, word] = [f.take('i32'), f.take('i32'), f.take('i32'), f.take('i64')];
    f.push(`(local.set $${end} ${get('jobs')})
      (local.set $scalars (i32.add ${get('scalars')} (i32.shr_u ${get('bit')} (i32.const 3))))
      (local.set $bit (i32.and ${get('bit')} (i32.const 7)))
      (local.set $bits (i32.sub (i32.shl (i32.const 1) ${get('bits')}) (i32.const 1)))`);
    const entry = `(i32.add ${get('table')} (i32.mul (i32.const ${bytes}) (i32.sub ${get(digit)} (i32.const 1))))`;
    each(
      f,
      `(local.set $${word} (i64.shr_u (i64.load ${get('scalars')}) (i64.extend_i32_u ${get('bit')})))
       (local.set $${digit} (i32.sub (i32.and (i32.wrap_i64 ${get(word)}) ${get('bits')}) ${get('bias')}))
       (local.set $${sign} (i32.shr_s ${get(digit)} (i32.const 31)))
       (local.set $${digit} (i32.sub (i32.xor ${get(digit)} ${get(sign)}) ${get(sign)}))
       (if ${get(digit)} (then
         ${appendJob(end, get('sums'), `(i32.or ${entry} (i32.and ${get(sign)} (i32.const 1)))`, get('sums'))}))
       ${bump('sums', bytes)} ${bump('scalars', 40)}`,
    );
    f.push(run(end));
  });

  // A table of the multiples 1 … `known` grows: number known + first + i + 1 is the sum of number first + i + 1 and number `known`.
  const extend = ['table', 'known', 'first', 'count', 'jobs', 'scratch'];
  module.func(`${name}_extendTable`, { exported: true, params: extend }, (f) => {
    const [end, from, step] = [f.take('i32'), f.take('i32'), f.take('i32')];
    f.push(`(local.set $${end} ${get('jobs')})
      (local.set $${from} (i32.add ${get('table')} (i32.mul ${get('first')} (i32.const ${bytes}))))
      (local.set $${step} (i32.mul ${get('known')} (i32.const ${bytes})))
      (local.set $table (i32.add ${get('table')} (i32.sub ${get(step)} (i32.const ${bytes}))))`);
    each(
      f,
      `${appendJob(end, get(from), get('table'), `(i32.add ${get(from)} ${get(step)})`)} ${bump(from, bytes)}`,
    );
    f.push(run(end));
  });
}

/** Writes the kernels of tables, for each group by its name. */
export function writeFixedBase(
  module: ModuleWriter,
  curves: Readonly<Record<string, CoordinateField>>,
): void {
  writeRecode(module);
  for (const [name, c] of Object.entries(curves)) writeFixedBaseOf(module, name, c);
}
