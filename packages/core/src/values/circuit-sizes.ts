/**
 * The circuits that a pool is deployed with: the one table of their sizes. Everything else that depends on a size is computed
 * from it, is a record that the compiler checks, or is generated (`pnpm generate`).
 *
 * A new size is an entry here, a main component in packages/circuits/circom, and its measured gas in the platform.
 *
 * @module
 */

/** Slots of a batch, dummies included: the most recipients of one batch. From small to large. */
export const batchSizes = [16, 64, 256] as const;
export type BatchSize = (typeof batchSizes)[number];
export type FundCircuit = `fund-${BatchSize}`;

/** Notes that a spend consumes at most, and notes that it creates: the change in slot 0, then payees and dummies. */
export type SpendShape = { readonly inputs: number; readonly outputs: number };

const shapes = {
  'spend-2x4': { inputs: 2, outputs: 4 },
  'spend-16x8': { inputs: 16, outputs: 8 },
} as const satisfies Readonly<Record<`spend-${number}x${number}`, SpendShape>>;
export type SpendCircuit = keyof typeof shapes;

/** By circuit, from small to large. */
export const spendShapes: Readonly<Record<SpendCircuit, SpendShape>> = shapes;

export type CircuitName = FundCircuit | SpendCircuit;

export const fundCircuits: readonly FundCircuit[] = batchSizes.map(
  (size) => `fund-${size}` as const,
);
export const spendCircuits = Object.keys(shapes) as readonly SpendCircuit[];
/** In the order in which a pool's contract takes their verifiers. */
export const circuitNames: readonly CircuitName[] = [...fundCircuits, ...spendCircuits];

/** Nullifiers (0 for a batch) and commitments of each circuit. */
export const circuitShapes = {
  ...Object.fromEntries(batchSizes.map((outputs) => [`fund-${outputs}`, { inputs: 0, outputs }])),
  ...shapes,
} as Readonly<Record<CircuitName, SpendShape>>;

/** Of the largest circuits. */
export const largestBatch = Math.max(...batchSizes);
export const maxSpendInputs = Math.max(...Object.values(spendShapes).map(({ inputs }) => inputs));
/** Slot 0 of the outputs is the change. */
export const maxSpendPayees = Math.max(
  ...Object.values(spendShapes).map(({ outputs }) => outputs - 1),
);

/** The sizes as a sentence has them: `16, 64 or 256`. */
export const batchSizesText = `${batchSizes.slice(0, -1).join(', ')} or ${batchSizes.at(-1)}`;

/** The smallest size that takes this many recipients. Undefined: no batch does. */
export function chooseBatchSize(count: number): BatchSize | undefined {
  return batchSizes.find((size) => count <= size);
}
