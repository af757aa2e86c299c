/** Where the sealed notes of a spend are found in a transaction, and what happens while a node does not have it. */
import { parseHex } from '@pool/core';
import { computeSealedNotesHash } from '@pool/notes';
import { AbiCoder, concat, hexlify, randomBytes, zeroPadValue } from 'ethers';
import { describe, expect, it } from 'vitest';
import { findSealedNotes } from './calldata-notes.ts';

const notes = Array.from({ length: 4 }, (_, slot) =>
  parseHex(hexlify(Uint8Array.from({ length: 209 }, (_byte, at) => (slot * 31 + at) % 256))),
);
const hash = computeSealedNotesHash(notes);
const coder = AbiCoder.defaultAbiCoder();
/** As the pool's own call has them: between other arguments. */
const call = concat(['0x12345678', coder.encode(['uint256', 'bytes'], [7n, concat(notes)])]);

describe('findSealedNotes', () => {
  it('finds them in a call to the pool', () => {
    expect(findSealedNotes(call, hash, 4)).toEqual(notes);
  });

  it('finds them in a call inside the calls of wallet contracts', () => {
    const wrapped = concat([
      '0xabcdef01',
      coder.encode(['address', 'bytes'], [zeroPadValue('0x01', 20), call]),
    ]);
    const twice = concat(['0x00000001', coder.encode(['bytes[]'], [['0x01', wrapped]])]);
    expect(findSealedNotes(twice, hash, 4)).toEqual(notes);
  });

  it.each([
    ['another hash', call, computeSealedNotesHash(notes.toReversed()), 4],
    ['another number of notes', call, hash, 8],
    ['an end in the middle of a note', call.slice(0, -100), hash, 4],
    ['no data', '0x', hash, 4],
  ])('finds nothing with %s', (_case, data, wanted, outputs) => {
    expect(findSealedNotes(data, wanted, outputs)).toBeUndefined();
  });

  it('gives up on a calldata full of places that look like notes', () => {
    const decoys = concat(
      Array.from({ length: 2_000 }, () => concat([zeroPadValue('0x0344', 32), randomBytes(4)])),
    );
    expect(findSealedNotes(concat([decoys, call]), hash, 4)).toBeUndefined();
  });
});
