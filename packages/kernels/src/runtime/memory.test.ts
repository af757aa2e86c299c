import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Block, createKernelMemory } from './memory.ts';

const MiB = 1_048_576;

describe('memory of the kernels', () => {
  it('returns aligned blocks behind the reserved part and counts them', () => {
    const memory = createKernelMemory(1000, 16 * MiB);
    const blocks = [1, 64, 65, 100_000].map((bytes) => memory.allocate(bytes));
    expect(blocks.map(({ address }) => address % 64)).toEqual([0, 0, 0, 0]);
    expect(Math.min(...blocks.map(({ address }) => address))).toBeGreaterThanOrEqual(1000);
    expect(memory.bytesInUse).toBe(64 + 64 + 128 + 100_032);
    for (const block of blocks) block.release();
    for (const block of blocks) block.release();
    expect(memory.bytesInUse).toBe(0);
  });

  it('can allocate the whole budget again after blocks were released in any order', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            bytes: fc.integer({ min: 1, max: 400_000 }),
            released: fc.nat({ max: 5 }),
          }),
          { maxLength: 60 },
        ),
        (steps) => {
          const memory = createKernelMemory(65_536, 32 * MiB);
          const held: Block[] = [];
          for (const { bytes, released } of steps) {
            const block = memory.allocate(bytes);
            for (const other of held) {
              const apart =
                block.address + bytes <= other.address ||
                other.address + other.bytes <= block.address;
              expect(apart).toBe(true);
            }
            held.push(block);
            for (const gone of held.splice(held.length >> 1, released)) gone.release();
          }
          for (const block of held) block.release();
          const whole = memory.allocate(32 * MiB - 65_536);
          expect(whole.address).toBe(65_536);
          whole.release();
        },
      ),
      { numRuns: 30 },
    );
  });

  it('reuses released memory instead of growing', () => {
    const memory = createKernelMemory(0, 64 * MiB);
    memory.allocate(5 * MiB).release();
    const size = memory.memory.buffer.byteLength;
    for (let round = 0; round < 1000; round += 1) {
      const first = memory.allocate(MiB + round);
      const second = memory.allocate(3 * MiB);
      first.release();
      second.release();
    }
    expect(memory.memory.buffer.byteLength).toBe(size);
  });

  it('refuses more than the budget and says how much was requested', () => {
    const memory = createKernelMemory(0, 8 * MiB);
    const block = memory.allocate(6 * MiB);
    expect(() => memory.allocate(3 * MiB)).toThrow(
      expect.objectContaining({
        code: 'out_of_memory',
        retryable: true,
        message: expect.stringMatching(/^3 MiB requested, 6 MiB in use, budget 8 MiB: /),
      }),
    );
    expect(() => memory.allocate(9 * MiB)).toThrow(
      expect.objectContaining({ code: 'out_of_memory', retryable: false }),
    );
    block.release();
    expect(memory.allocate(8 * MiB).bytes).toBe(8 * MiB);
  });

  it('zeroes secret blocks on release, and no other memory', () => {
    const memory = createKernelMemory(0, MiB);
    for (const secret of [true, false]) {
      const block = memory.allocate(100, { secret });
      memory.view(block.address, 100).fill(7);
      block.release();
      expect(memory.view(block.address, 100)).toEqual(new Uint8Array(100).fill(secret ? 0 : 7));
    }
  });
});
