/**
 * The movements of several note stores of one holder as one history. A spend that used up notes of one P pays its change to another one
 * after a rotation: the two sides are in two stores, and are one movement.
 *
 * @module
 */
import type { Movement } from '../../sync/build-history.ts';

/** @param lists - of the stores, each in the order of the chain */
export function joinMovements(lists: readonly (readonly Movement[])[]): readonly Movement[] {
  const all = lists.flat();
  const spends = new Map(
    all.flatMap((movement) =>
      movement.kind === 'spent' ? [[movement.index, movement] as const] : [],
    ),
  );
  const others: Movement[] = [];
  for (const movement of all) {
    if (movement.kind === 'spent') {
      continue;
    }
    const spend = movement.isChange ? spends.get(movement.index) : undefined;
    if (spend === undefined) {
      others.push(movement);
    } else {
      spends.set(movement.index, { ...spend, change: spend.change + movement.amount });
    }
  }
  let balance = 0n;
  return [...others, ...spends.values()].sort(compare).map((movement) => {
    balance += movement.kind === 'received' ? movement.amount : movement.change - movement.spent;
    return { ...movement, balance };
  });
}

function compare(left: Movement, right: Movement): number {
  return left.index - right.index || slotOf(left) - slotOf(right);
}

/** A spend comes before what the holder paid to itself in it. */
function slotOf(movement: Movement): number {
  return movement.kind === 'received' ? movement.slot : -1;
}
