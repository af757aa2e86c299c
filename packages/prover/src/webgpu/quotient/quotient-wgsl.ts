/**
 * Shaders of the quotient: row products, the product of A and B on the domain, and the quotient on the odd coset.
 *
 * @module
 */
import { generateField, wordsPrelude } from '../field/field.ts';
import type { LimbLayout } from '../field/limbs.ts';
import { groupIndex, loadElement, mainParameters, storeElement } from './ntt.ts';

export const quotientWorkgroup = 64;

function shader(layout: LimbLayout, declarations: string, body: string): string {
  return `${wordsPrelude}${generateField('fr', layout)}${declarations}
@group(0) @binding(0) var<uniform> range: vec4<u32>;
@compute @workgroup_size(${quotientWorkgroup})
fn main(${mainParameters}) {
  let i = ${groupIndex} * ${quotientWorkgroup}u + lane;
  if (i >= range.x) { return; }
  ${body}
}
`;
}

/**
 * Values of the dictionary, times 2^512 as a zkey has them, become times R^2: multiplied with a plain scalar of the witness, which is
 * uploaded once and never converted, they give a product in Montgomery form.
 */
export function generateEnterValues(layout: LimbLayout): string {
  return shader(
    layout,
    loadElement('values', 'read_write', 1) + storeElement('values'),
    'store_values(i, fr_enter(fr_enter_512(load_values(i))));',
  );
}

/** Sums of entries: value times wire. */
export function generateEntrySums(layout: LimbLayout): string {
  return shader(
    layout,
    `@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> entries: array<vec2<u32>>;
${loadElement('values', 'read', 3)}${loadElement('witness', 'read', 4)}${loadElement('sums', 'read_write', 5)}${storeElement('sums')}`,
    `var sum = fr_zero();
  for (var k = starts[i]; k < starts[i + 1u]; k++) {
    let entry = entries[k];
    sum = fr_add(sum, fr_mul(load_values(entry.y), load_witness(entry.x)));
  }
  store_sums(i, sum);`,
  );
}

/** Sums of sums. */
export function generateSumSums(layout: LimbLayout): string {
  return shader(
    layout,
    `@group(0) @binding(1) var<storage, read> starts: array<u32>;
${loadElement('parts', 'read', 2)}${loadElement('sums', 'read_write', 3)}${storeElement('sums')}`,
    `var sum = fr_zero();
  for (var k = starts[i]; k < starts[i + 1u]; k++) {
    sum = fr_add(sum, load_parts(k));
  }
  store_sums(i, sum);`,
  );
}

/** Whether A, B and C are one after the other in one binding, range.x elements each, or in separate bindings. */
export type Polynomials = 'together' | 'apart';

/** C = A B on the domain. */
export function generateProducts(layout: LimbLayout, polynomials: Polynomials): string {
  return polynomials === 'together'
    ? shader(
        layout,
        loadElement('data', 'read_write', 1) + storeElement('data'),
        'store_data(i + 2u * range.x, fr_mul(load_data(i), load_data(i + range.x)));',
      )
    : shader(
        layout,
        `${loadElement('a', 'read', 1)}${loadElement('b', 'read', 2)}${loadElement('c', 'read_write', 3)}${storeElement('c')}`,
        'store_c(i, fr_mul(load_a(i), load_b(i)));',
      );
}

/** A B - C, as plain scalars. */
export function generateQuotient(layout: LimbLayout, polynomials: Polynomials): string {
  return polynomials === 'together'
    ? shader(
        layout,
        `${loadElement('data', 'read', 1)}${loadElement('quotient', 'read_write', 2)}${storeElement('quotient')}`,
        `let product = fr_mul(load_data(i), load_data(i + range.x));
  store_quotient(i, fr_leave(fr_sub(product, load_data(i + 2u * range.x))));`,
      )
    : shader(
        layout,
        `${['a', 'b', 'c'].map((name, k) => loadElement(name, 'read', k + 1)).join('')}${loadElement('quotient', 'read_write', 4)}${storeElement('quotient')}`,
        'store_quotient(i, fr_leave(fr_sub(fr_mul(load_a(i), load_b(i)), load_c(i))));',
      );
}
