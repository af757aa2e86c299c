import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFrameReader, encodeFrame } from './frames.ts';

describe('createFrameReader', () => {
  it('reads the values of any frames, in whatever pieces they arrive', () => {
    const frames = fc.array(
      fc.jsonValue().map((value) => ({ value: value ?? null })),
      { maxLength: 5 },
    );
    const property = fc.property(frames, fc.integer({ min: 1, max: 40 }), (values, size) => {
      const bytes = Buffer.concat(values.map(encodeFrame));
      const read = createFrameReader(100_000);
      const got: unknown[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        got.push(...read(bytes.subarray(at, at + size)));
      }
      expect(got).toEqual(JSON.parse(JSON.stringify(values)));
    });
    fc.assert(property);
  });

  it('accepts a frame of exactly the limit and refuses one byte more before it arrives', () => {
    const body = JSON.stringify('x'.repeat(8));
    expect(createFrameReader(10)(encodeFrame('x'.repeat(8)))).toEqual([JSON.parse(body)]);
    expect(() => createFrameReader(9)(encodeFrame('x'.repeat(8)).subarray(0, 4))).toThrow(
      /^a frame has 10 bytes/,
    );
  });

  it('refuses an empty frame', () => {
    expect(() => createFrameReader(9)(new Uint8Array(4))).toThrow(/0 bytes/);
  });

  it('refuses text that is not JSON or not UTF-8, without repeating it', () => {
    for (const body of [Buffer.from('secret'), Buffer.from([0x22, 0xff, 0x22])]) {
      const frame = Buffer.concat([Buffer.from([0, 0, 0, body.length]), body]);
      expect(() => createFrameReader(99)(frame)).toThrow(/^a frame is not JSON in UTF-8$/);
    }
  });
});
