// The states of a spend and their order.
import { assertMove } from '@pool/idempotency/engine';
import { describe, expect, it } from 'vitest';
import {
  holdsInputs,
  isOpen,
  isUnreleased,
  type SpendState,
  type SpendStateKind,
  spendPhases,
} from './spend-state.ts';

const kinds = Object.keys(spendPhases) as SpendStateKind[];
const terminal: SpendStateKind[] = ['settled', 'reverted', 'expired', 'already-spent', 'abandoned'];

function nextOf(kind: SpendStateKind): readonly SpendStateKind[] {
  return spendPhases[kind].next;
}

/** Only the kind counts for these questions. */
function stateOf(kind: SpendStateKind): SpendState {
  return Reflect.apply((state: SpendState) => state, undefined, [{ kind }]);
}

describe('the states of a spend', () => {
  it('allow each change of the table, staying, and nothing else', () => {
    for (const from of kinds) {
      for (const to of kinds) {
        const isAllowed = from === to || nextOf(from).includes(to);
        const change = (): void => assertMove<SpendStateKind>(spendPhases, from, to);
        isAllowed ? expect(change).not.toThrow() : expect(change).toThrow(`${from} to ${to}`);
      }
    }
  });

  it('never go back from released, and never from an end', () => {
    for (const from of ['released', 'recovered'] as const) {
      expect(nextOf(from)).not.toContain('abandoned');
      expect(nextOf(from)).not.toContain('signed');
    }
    for (const from of terminal) {
      expect(nextOf(from)).toEqual([]);
    }
  });

  it('have one way to released: through signed', () => {
    expect(kinds.filter((from) => nextOf(from).includes('released'))).toEqual(['signed']);
    expect(kinds.filter((from) => nextOf(from).includes('signed'))).toEqual(['archived']);
  });

  it('lock the inputs until the spend is dead, and for good once it is settled', () => {
    expect(kinds.filter((kind) => holdsInputs(stateOf(kind)))).toEqual([
      'archived',
      'signed',
      'released',
      'recovered',
      'settled',
    ]);
    expect(kinds.filter((kind) => !isOpen(stateOf(kind)))).toEqual(terminal);
    expect(kinds.filter((kind) => isUnreleased(stateOf(kind)))).toEqual(['archived', 'signed']);
  });
});
