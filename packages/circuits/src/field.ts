/** The BN254 (alt_bn128) moduli (protocol §1): r orders the scalar field, q the curve's base field. */

/** r: order of the scalar field; circuit signals and every public input are below it. */
export const fieldOrder =
  21888242871839275222246405745257275088548364400416034343698204186575808495617n;

/** q: order of the base field; coordinates of curve points are below it. */
export const baseFieldOrder =
  21888242871839275222246405745257275088696311157297823662689037894645226208583n;
