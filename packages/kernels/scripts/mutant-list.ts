/**
 * What `mutants.ts` breaks: in each place one constant, carry, case or end of a loop. The generator's own checks of bounds and the tests
 * named beside each must notice.
 *
 * @module
 */
import { setupMutants } from './setup-mutants.ts';

export type Mutant = {
  readonly name: string;
  /** Within the package. */
  readonly file: string;
  /** Its first occurrence is replaced. `#{` stands for a template's `${`. */
  readonly find: string;
  readonly replace: string;
  /** Test files that must notice, without `.test.ts`. */
  readonly tests: readonly string[];
};

const field = ['codegen/field'];
const sums = ['src/msm', 'src/msm-sizes'];
const transforms = ['src/quotient', 'src/transform'];
const scanning = ['src/scan-kernels'];

export const mutants: readonly Mutant[] = [
  {
    name: 'float products: the carry rounds up on a tie',
    file: 'codegen/multiply-float.ts',
    find: 'load(HALF - 1n)',
    replace: 'load(HALF)',
    tests: field,
  },
  {
    name: 'float products: carries of the upper columns are dropped',
    file: 'codegen/multiply-float.ts',
    find: "op('i64x2.shr_u', get(column), '(i32.const 51)')",
    replace: "op('i64x2.shr_u', get(column), '(i32.const 63)')",
    tests: field,
  },
  {
    name: 'float products: a square takes mixed products once',
    file: 'codegen/multiply-float.ts',
    find: "op('f64x2.add', get(name), get(name))",
    replace: "op('f64x2.add', get(name), load(0n))",
    tests: field,
  },
  {
    name: 'integer products: 3p is not added to negative operands',
    file: 'codegen/multiply-integer.ts',
    find: 'splitBalanced(3n * modulus)',
    replace: 'splitBalanced(0n * modulus)',
    tests: field,
  },
  {
    name: 'integer products: the carry into the next limb is dropped',
    file: 'codegen/multiply-integer.ts',
    find: 'carry === undefined ? masked :',
    replace: 'carry !== undefined || limb >= 0 ? masked :',
    tests: field,
  },
  {
    name: 'normalising: no carry into the last limb',
    file: 'codegen/field-arithmetic.ts',
    find: 'index < LIMBS - 1; index++) {\n      const limb',
    replace: 'index < LIMBS - 2; index++) {\n      const limb',
    tests: [...field, ...transforms],
  },
  {
    name: 'comparing: -0 is not 0',
    file: 'codegen/field-arithmetic.ts',
    find: "op('v128.andnot', joined, vector(f, 1n << 63n))",
    replace: "op('v128.andnot', joined, vector(f, 0n))",
    tests: ['src/scan-kernels', ...sums],
  },
  {
    name: 'bytes: negative values are not lifted into [0, p)',
    file: 'codegen/field-bytes.ts',
    find: "op('v128.and', get(sign), vector(f, p))",
    replace: "op('v128.and', get(sign), vector(f, 0n))",
    tests: field,
  },
  {
    name: 'bytes: a bit between two limbs is lost',
    file: 'codegen/field-bytes.ts',
    find: 'shiftLeft(word(3), 39)',
    replace: 'shiftLeft(word(3), 40)',
    tests: field,
  },
  {
    name: 'functions of a field: an odd last item is left out',
    file: 'codegen/field-functions.ts',
    find: "(br_if $#{label}e (i32.le_s #{get('count')} (i32.const 0)))",
    replace: "(br_if $#{label}e (i32.le_s #{get('count')} (i32.const 1)))",
    tests: field,
  },
  {
    name: 'inversion: the exponent is p - 3',
    file: 'codegen/field-functions.ts',
    find: 'k.modulus - 2n',
    replace: 'k.modulus - 3n',
    tests: field,
  },
  {
    name: 'comparing: a difference of p does not look like zero',
    file: 'codegen/field-arithmetic.ts',
    find: 'multiple <= a.value / field.modulus',
    replace: 'multiple <= 0n',
    tests: sums,
  },
  {
    name: 'comparing: a negative difference of p does not look like zero',
    file: 'codegen/field-arithmetic.ts',
    find: 'for (let size = radix - rest;',
    replace: 'for (let size = 2n * radix - rest;',
    tests: sums,
  },
  {
    name: 'divsteps: f is not negated when it changes places with g',
    file: 'codegen/invert-gcd.ts',
    find: "assign(lower, op('i32.sub', i32(0), get(kept)));",
    replace: 'assign(lower, get(kept));',
    tests: field,
  },
  {
    name: 'divsteps: negative d and e get no multiple of p',
    file: 'codegen/invert-gcd.ts',
    find: "op('i64.add', op('i64.and', get(a), sign(ds)), op('i64.and', get(b), sign(es)))",
    replace: 'i64(0n)',
    tests: field,
  },
  {
    name: 'divsteps: the sign of the last f is not seen',
    file: 'codegen/invert-gcd.ts',
    find: "set(multiple, op('i64.shr_s', get(name(fs, COUNT - 1)), i64(63n)))",
    replace: 'set(multiple, i64(0n))',
    tests: field,
  },
  {
    name: 'divsteps: more bits of g at once than eta allows',
    file: 'codegen/invert-gcd.ts',
    find: "assign(kept, op('i32.add', get(low.eta), i32(1)));",
    replace: "assign(kept, op('i32.add', get(low.eta), i32(6)));",
    tests: field,
  },
  {
    name: 'fp2: u² is +1',
    file: 'codegen/fp2.ts',
    find: 'const negative = field.neg(f, one(a1));',
    replace: 'const negative = one(a1);',
    tests: sums,
  },
  {
    name: 'additions: equal points are not doubled',
    file: 'codegen/add-pairs.ts',
    find: "const twice = f.let('v128', op('v128.and', get(equal), flat));",
    replace: "const twice = f.let('v128', op('v128.and', get(equal), op('v128.not', flat)));",
    tests: sums,
  },
  {
    name: 'additions: the tangent is 2·x²',
    file: 'codegen/add-pairs.ts',
    find: 'sum(f, sum(f, square, square), square)',
    replace: 'sum(f, square, square)',
    tests: sums,
  },
  {
    name: 'additions: infinity as the first summand is not seen',
    file: 'codegen/add-pairs.ts',
    find: 'choose(f, names.p, x2, choose(f, names.q, x1, x3))',
    replace: 'choose(f, names.q, x1, x3)',
    tests: sums,
  },
  {
    name: 'additions: infinity as the second summand is not seen',
    file: 'codegen/add-pairs.ts',
    find: 'choose(f, names.q, y1, y3)',
    replace: 'y3',
    tests: sums,
  },
  {
    name: 'additions: a point and its negative give no infinity',
    file: 'codegen/add-pairs.ts',
    find: "op('v128.bitselect', nothing, get(limb), get(names.none))",
    replace: 'get(limb)',
    tests: sums,
  },
  {
    name: 'additions: the sign of a summand is not seen',
    file: 'codegen/add-pairs.ts',
    find: "f.push(set(limb, op('v128.xor', get(limb), get(sign))))",
    replace: "f.push(set(limb, op('v128.or', get(limb), get(limb))))",
    tests: sums,
  },
  {
    name: 'digits: negated scalars lose their sign',
    file: 'codegen/msm.ts',
    find: 'const value = index === 3 ?',
    replace: 'const value = index === 4 ?',
    tests: sums,
  },
  {
    name: 'digits: bits from the next word are lost',
    file: 'codegen/msm.ts',
    find: "(i32.add #{get('bit')} #{get('bits')}) (i32.const 64))",
    replace: "(i32.add #{get('bit')} #{get('bits')}) (i32.const 128))",
    tests: sums,
  },
  {
    name: 'digits: the sign bit is read into the last digit',
    file: 'src/msm.ts',
    find: 'Math.min(bits, 255 - bits * window)',
    replace: 'bits',
    tests: sums,
  },
  {
    name: 'sorting: a negative digit adds the point itself',
    file: 'codegen/msm.ts',
    find: '(i32.or #{get(point)} (i32.shr_u #{get(digit)} (i32.const 31)))',
    replace: '#{get(point)}',
    tests: sums,
  },
  {
    name: 'sorting: the last point is dropped',
    file: 'codegen/msm.ts',
    find: "(i32.ge_u #{get(index)} #{get('count')})",
    replace: "(i32.ge_u (i32.add #{get(index)} (i32.const 1)) #{get('count')})",
    tests: sums,
  },
  {
    name: 'buckets: the last point of a list is paired beyond it',
    file: 'codegen/msm.ts',
    find: '(i32.lt_u #{get(read)} #{get(count)}) (i32.eq',
    replace: '(i32.const 1) (i32.eq',
    tests: sums,
  },
  {
    name: 'buckets: a sum overwrites a point of the table',
    file: 'codegen/msm.ts',
    find: '(i32.lt_u (i32.sub #{get(a)} #{get(work)}) #{get(span)})',
    replace: '(i32.lt_u (i32.sub #{get(a)} (i32.const 0)) #{get(fresh)})',
    tests: sums,
  },
  {
    name: 'halving: odd buckets are left out',
    file: 'codegen/msm.ts',
    find: '(if #{get(b)} (then',
    replace: '(if (i32.const 0) (then',
    tests: sums,
  },
  {
    name: 'multiples: the first bit is left out',
    file: 'src/multiples.ts',
    find: 'SCALAR_BITS - 1 - index,',
    replace: 'Math.max(1, SCALAR_BITS - 1 - index),',
    tests: sums,
  },
  ...setupMutants,
  {
    name: 'rows: the last two entries of a row are left out',
    file: 'codegen/rows.ts',
    find: '(i32.ge_u #{get(entry)} #{get(end)})',
    replace: '(i32.ge_u (i32.add #{get(entry)} (i32.const 16)) #{get(end)})',
    tests: transforms,
  },
  {
    name: 'rows: the two lanes are not added up',
    file: 'codegen/rows.ts',
    find: 'field.norm(f, k, field.add(f, sum, swapped))',
    replace: 'field.norm(f, k, sum)',
    tests: transforms,
  },
  {
    name: 'transforms: the coset is shifted by w, not by its root',
    file: 'src/domain.ts',
    find: 'describeStage(h, computeRootOfUnity(k + 2), computeRootOfUnity(k + 1))',
    replace: 'describeStage(h, computeRootOfUnity(k + 1), computeRootOfUnity(k + 1))',
    tests: transforms,
  },
  {
    name: 'transforms: the odd stage between rows is skipped',
    file: 'codegen/ntt.ts',
    find: "const isOdd = op('i32.and', op('i32.ctz', get('rows')), i32(1));",
    replace: 'const isOdd = i32(0);',
    tests: transforms,
  },
  {
    name: 'transforms: the product on the coset is not divided by n',
    file: 'codegen/ntt.ts',
    find: 'const scaled = field.mul(f, k, product, inverse);',
    replace: 'const scaled = product;',
    tests: transforms,
  },
  {
    name: 'transforms: lanes are exchanged on the way back',
    file: 'codegen/ntt.ts',
    find: "gather(f, y0, y1, 0), get('at')",
    replace: "gather(f, y1, y0, 0), get('at')",
    tests: transforms,
  },
  {
    name: 'Poseidon: the first partial matrix column is left out',
    file: 'codegen/poseidon.ts',
    find: 'field.norm(f, k, field.add(f, value, change))',
    replace: 'field.norm(f, k, value)',
    tests: ['src/poseidon'],
  },
  {
    name: 'Baby Jubjub: y + r is another spelling of y',
    file: 'codegen/babyjubjub-unpack.ts',
    find: "'i64.eq',",
    replace: "'i64.ge_u',",
    tests: scanning,
  },
  {
    name: 'Baby Jubjub: points outside the subgroup pass',
    file: 'codegen/babyjubjub-unpack.ts',
    find: "op('i32.and', before, inside)",
    replace: 'before',
    tests: scanning,
  },
  {
    name: 'Baby Jubjub: the last digit of the scalar is left out',
    file: 'codegen/babyjubjub-multiply.ts',
    find: '(i32.lt_s #{get(window)} #{i32(DIGITS)})',
    replace: '(i32.lt_s #{get(window)} #{i32(DIGITS - 1)})',
    tests: scanning,
  },
  {
    name: 'secrets: the states of sums stay in memory',
    file: 'src/msm.ts',
    find: 'const states = secret(',
    replace: 'const states = allocate(',
    tests: ['src/secrets'],
  },
  {
    name: 'secrets: lists of additions stay in memory',
    file: 'src/multiples.ts',
    find: 'allocate(JOBS_BYTES, secret)',
    replace: 'allocate(JOBS_BYTES)',
    tests: ['src/secrets'],
  },
  {
    name: 'secrets: closing leaves what was not released',
    file: 'src/kernels.ts',
    find: 'memory.wipe();',
    replace: '',
    tests: ['src/secrets'],
  },
  {
    name: 'secrets: the wires stay in memory after a quotient',
    file: 'src/quotient.ts',
    find: 'allocate(ELEMENT_BYTES * rows.wires, { secret: true })',
    replace: 'allocate(ELEMENT_BYTES * rows.wires)',
    tests: ['src/secrets'],
  },
];
