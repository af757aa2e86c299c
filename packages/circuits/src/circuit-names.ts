/**
 * The names and sizes of the deployed circuits. Imports nothing, so that the command's usage is printed at once.
 *
 * @module
 */
export const circuitNames = ['fund-16', 'fund-64', 'fund-256'] as const;
export type CircuitName = (typeof circuitNames)[number];

/** Slots of each fund circuit, including dummies: the maximum number of recipients in one batch. */
export const circuitSizes: Readonly<Record<CircuitName, number>> = {
  'fund-16': 16,
  'fund-64': 64,
  'fund-256': 256,
};
