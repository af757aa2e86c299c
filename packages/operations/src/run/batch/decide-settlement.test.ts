// Protocol §8, "Late landing": the whole table.
import { type Hex32, parseHex32 } from '@pool/core';
import { describe, expect, it } from 'vitest';
import type { FundedBatch, NonceState } from '../../ports.ts';
import { decideSettlement } from './decide-settlement.ts';

function word(byte: string) {
  return parseHex32(`0x${byte.repeat(32)}`);
}
const ours = word('01');
const theirs = word('02');
const deadline = 1_000;

function funded(batchRoot: FundedBatch['batchRoot']): FundedBatch {
  return {
    batchId: word('03'),
    batchRoot,
    sealedNotesHash: word('04'),
    commitments: [],
    txHash: word('05'),
    blockNumber: 7,
  };
}

function state(changes: Partial<NonceState> = {}, timestampSeconds = deadline): NonceState {
  return {
    finalBlock: { number: 9, timestampSeconds },
    funded: undefined,
    voided: false,
    pending: false,
    ...changes,
  };
}

describe('decideSettlement', () => {
  const decide = (nonce: NonceState, batchRoot: Hex32 | undefined = ours) =>
    decideSettlement({ batchRoot, deadline, nonce }).kind;

  it('returns settled for our root, at any time', () => {
    expect(decide(state({ funded: funded(ours) }, deadline + 1_000))).toBe('settled');
  });

  it('returns settled elsewhere for another root, even if voided or late', () => {
    expect(decide(state({ funded: funded(theirs), voided: true }, deadline + 1))).toBe(
      'settled-elsewhere',
    );
  });

  it('never treats a use as ours if no batch of ours is known', () => {
    expect(
      decideSettlement({ batchRoot: undefined, deadline, nonce: state({ funded: funded(ours) }) })
        .kind,
    ).toBe('settled-elsewhere');
  });

  it('waits while a use is not final, even past the deadline', () => {
    expect(decide(state({ pending: true }, deadline + 1_000))).toBe('wait');
    expect(decide(state({ pending: true, voided: true }))).toBe('wait');
  });

  it('is alive in the second of the deadline, and dead in the next final second', () => {
    expect(decide(state({}, deadline))).toBe('wait');
    expect(decide(state({}, deadline + 1))).toBe('dead');
  });

  it('is dead once a void is final', () => {
    expect(
      decideSettlement({ batchRoot: ours, deadline, nonce: state({ voided: true }, 1) }),
    ).toEqual({
      kind: 'dead',
      cause: 'voided',
    });
  });

  it('does not expire if no authorisation is known to be released', () => {
    expect(
      decideSettlement({ batchRoot: undefined, deadline: undefined, nonce: state({}, 9_999) }).kind,
    ).toBe('wait');
  });
});
