/**
 * The orders of BN254's two prime fields (EIP-196).
 *
 * @module
 */

/** q: coordinates of points are below it. */
export const baseFieldOrder =
  21888242871839275222246405745257275088696311157297823662689037894645226208583n;

/** r, the order of G1 and G2: scalars, circuit signals and public inputs are below it. */
export const scalarFieldOrder =
  21888242871839275222246405745257275088548364400416034343698204186575808495617n;
