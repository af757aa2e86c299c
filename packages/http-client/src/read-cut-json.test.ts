import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Cut, readCutJson, tooLarge } from './read-cut-json.ts';

const whole: Cut = { depth: 3, maxLength: 100_000, maxBytes: 1_000_000 };

async function* split(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let start = 0; start < bytes.length; start += size) {
    yield await Promise.resolve(bytes.subarray(start, start + size));
  }
}

function read(text: string, changes: Partial<Cut> = {}, size = 1_000): Promise<unknown> {
  return readCutJson(split(text, size), { ...whole, ...changes }, () => new Error('too much'));
}

describe('an answer whose size others decide', () => {
  it('is read as JSON.parse reads it, wherever its chunks end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.integer({ min: 1, max: 9 }), async (text, size) => {
        expect(await read(text, {}, size)).toEqual(JSON.parse(text));
      }),
      { numRuns: 100 },
    );
    const text =
      '{"__proto__": {"a": 1}, "b": [1.5e3, -0, null, true, "\\u00e9\\n\\ud83d\\ude00"]}';
    expect(JSON.stringify(await read(text, {}, 1))).toBe(JSON.stringify(JSON.parse(text)));
  });

  it.each(['', '{', '{"a":}', '[1,]', '<html>', '{} x'])('is undefined for %s', async (text) => {
    expect(await read(text)).toBeUndefined();
  });

  it('loses only the value that is too large, wherever it is in its item', async () => {
    const items = [
      { id: 'a', body: { text: 'x'.repeat(200) }, status: 'Pending' },
      { id: 'b', body: { many: Array.from({ length: 200 }, () => ({})) }, status: 'Pending' },
      { id: 'c', body: { [`k${'x'.repeat(200)}`]: 1 }, status: 'Pending' },
      { id: 'd', body: { text: 'small' }, status: 'x'.repeat(200) },
    ];
    const text = JSON.stringify({ items, nextPageToken: 'n' });
    expect(await read(text, { maxLength: 100 }, 7)).toEqual({
      items: [
        { id: 'a', body: tooLarge, status: 'Pending' },
        { id: 'b', body: tooLarge, status: 'Pending' },
        { id: 'c', body: tooLarge, status: 'Pending' },
        { id: 'd', body: { text: 'small' }, status: tooLarge },
      ],
      nextPageToken: 'n',
    });
  });

  it('is cut at the depth that is asked for', async () => {
    const long = 'x'.repeat(200);
    const cut = { maxLength: 100 };
    expect(await read(JSON.stringify({ a: [long], b: 1 }), { ...cut, depth: 1 })).toEqual({
      a: tooLarge,
      b: 1,
    });
    expect(await read(JSON.stringify([{ a: [long], b: 1 }]), { ...cut, depth: 2 })).toEqual([
      { a: tooLarge, b: 1 },
    ]);
    expect(await read(JSON.stringify({ a: [long, 2] }), { ...cut, depth: 2 })).toEqual({
      a: [tooLarge, 2],
    });
    expect(await read(JSON.stringify(long), { ...cut, depth: 1 })).toBe(tooLarge);
  });

  it('keeps a value that is nested deeply, and the items beside it', async () => {
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    const answer = await read(`[{"id":"a","body":${deep}},{"id":"b"}]`, { depth: 2 });
    expect(answer).toMatchObject([{ id: 'a' }, { id: 'b' }]);
  });

  it('may be small values without end: more than 64 MiB are an error', async () => {
    const items = `${'"a",'.repeat(250_000)}`;
    async function* endless(): AsyncGenerator<Uint8Array> {
      const bytes = new TextEncoder().encode(items);
      yield new TextEncoder().encode('[');
      for (let count = 0; count < 80; count += 1) {
        yield await Promise.resolve(bytes);
      }
    }
    const cut = { ...whole, maxBytes: Number.POSITIVE_INFINITY };
    await expect(readCutJson(endless(), cut, () => new Error('too much'))).rejects.toThrow(
      'too much',
    );
  });

  it('does not hide why its connection ended', async () => {
    const reason = new Error('lost');
    async function* lost(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(new TextEncoder().encode('{"a":'));
      throw reason;
    }
    await expect(readCutJson(lost(), whole, () => new Error('too much'))).rejects.toBe(reason);
  });
});
