/**
 * The names and sizes of the deployed circuits. Imports nothing, so that the command's usage is printed at once.
 *
 * @module
 */
export const fundCircuitNames = ['fund-16', 'fund-64', 'fund-256'] as const;
export type FundCircuitName = (typeof fundCircuitNames)[number];

export const spendCircuitNames = ['spend-2x4', 'spend-16x8'] as const;
export type SpendCircuitName = (typeof spendCircuitNames)[number];

export const circuitNames = [...fundCircuitNames, ...spendCircuitNames] as const;
export type CircuitName = (typeof circuitNames)[number];

/** Slots of each fund circuit, including dummies: the maximum number of recipients in one batch. */
export const circuitSizes: Readonly<Record<FundCircuitName, number>> = {
  'fund-16': 16,
  'fund-64': 64,
  'fund-256': 256,
};

/** Notes that each circuit creates, dummies and the change of a spend included. */
export const circuitSlots: Readonly<Record<CircuitName, number>> = {
  ...circuitSizes,
  'spend-2x4': 4,
  'spend-16x8': 8,
};
