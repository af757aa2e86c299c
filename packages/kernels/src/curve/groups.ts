/**
 * The two groups of BN254 and the formats of their points.
 *
 * @module
 */

export type Group = 'g1' | 'g2';

/** Bytes of a point in a proving key (coordinates times 2^256 mod q, zeros for infinity) and in the kernels' memory. */
export const zkeyPointSize: Readonly<Record<Group, number>> = { g1: 64, g2: 128 };
export const pointSize: Readonly<Record<Group, number>> = { g1: 80, g2: 160 };
/** Elements of the base field per coordinate. */
export const components: Readonly<Record<Group, 1 | 2>> = { g1: 1, g2: 2 };
