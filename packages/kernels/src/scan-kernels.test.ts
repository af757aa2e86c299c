import { afterEach, expect, it, vi } from 'vitest';
import { encodeIntegers } from './runtime/integers.ts';
import { detectMultiplier } from './runtime/wasm-module.ts';
import { createScanKernels, type OpenScanKernels } from './scan-kernels.ts';

// B8 (EIP-2494), packed.
const base = encodeIntegers([0x25797203f7a0b24925572e1cd16bf9edfce0051fb9e133774b3c257a872d7d8bn]);
const five = encodeIntegers([5n]);

const open: OpenScanKernels[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(open.splice(0).map((kernels) => kernels.close()));
});

async function start(): Promise<OpenScanKernels> {
  const kernels = await createScanKernels({ threads: 2, maximumBytes: 2 ** 28 });
  open.push(kernels);
  return kernels;
}

function repeat(count: number): Uint8Array {
  return Uint8Array.from({ length: count * base.length }, (_, i) => base[i % base.length] ?? 0);
}

it('multiplies few points without threads, and many with other code to the same products', async () => {
  const kernels = await start();
  const compile = vi.spyOn(WebAssembly, 'compile');
  const few = await kernels.multiplyPackedPoints(repeat(1_000), five);
  expect(compile).not.toHaveBeenCalled();
  const many = await kernels.multiplyPackedPoints(repeat(1), five);
  expect(compile).toHaveBeenCalledTimes(1);
  expect(many.packed).toEqual(few.packed.slice(0, base.length));
  expect(kernels.detail).toBe(
    `WebAssembly, 2 threads, ${detectMultiplier() === 'float' ? 'relaxed SIMD' : 'SIMD'}`,
  );
});

it('loads the code again after it could not', async () => {
  const kernels = await start();
  const failure = new Error('no network');
  vi.spyOn(WebAssembly, 'compile').mockRejectedValueOnce(failure);
  await expect(kernels.multiplyPackedPoints(repeat(1_001), five)).rejects.toBe(failure);
  expect((await kernels.multiplyPackedPoints(repeat(1), five)).valid).toEqual(Uint8Array.of(1));
});

it.each([1, 1_001])('refuses %i points after it was closed', async (count) => {
  const kernels = await start();
  await kernels.close();
  await expect(kernels.multiplyPackedPoints(repeat(count), five)).rejects.toMatchObject({
    code: 'kernels_closed',
  });
});
