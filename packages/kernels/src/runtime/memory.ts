/**
 * The memory that all threads share, and the ownership of its parts. Only the main thread allocates; kernels receive addresses.
 *
 * A block is aligned to 64 bytes (a cache line, so that two threads never write to the same line). Its initial contents are
 * arbitrary. Released blocks are merged with free neighbours and reused, best fit first. WebAssembly returns memory to the system
 * only when the whole memory is dropped. Where threads cannot share memory, it is not shared: then a view is valid only until the next
 * allocation, which may move the memory.
 *
 * @module
 */
import { KernelsError } from './errors.ts';
import { canShareMemory } from './thread-port.ts';

const alignment = 64;
const pageBytes = 65_536;
/** Memory grows by at least this much, so that many small blocks do not cause many system calls. */
const growthBytes = 4 * 1_048_576;
/** The start of the memory. Every instance of the module writes the same constants there. */
export const reservedBytes = 65_536;
/** The range of 32-bit addresses. */
export const addressableBytes = 2 ** 32;

/** A part of the memory that belongs to its owner until `release`, which may be called more than once. */
export type Block = {
  readonly address: number;
  readonly bytes: number;
  readonly release: () => void;
};

export type KernelMemory = {
  readonly memory: WebAssembly.Memory;
  /** Bytes in blocks that were not released. */
  readonly bytesInUse: number;
  /**
   * @param options.secret - the block is zeroed on release, because its contents must not outlive their use
   * @throws KernelsError `out_of_memory`
   */
  readonly allocate: (bytes: number, options?: { readonly secret?: boolean }) => Block;
  /** Zeroes every secret block that was not released. Call it after all threads have ended. */
  readonly wipe: () => void;
  /** A view of the memory. Take it again after every pause: memory that is not shared moves when it grows. */
  readonly view: (address: number, bytes: number) => Uint8Array;
};

type Span = { readonly address: number; readonly bytes: number };

function roundUp(bytes: number, unit: number): number {
  return Math.ceil(bytes / unit) * unit;
}

/** Whole MiB, at least one, for messages. */
function inMebibytes(bytes: number): string {
  return `${Math.max(1, Math.ceil(bytes / 1_048_576)).toLocaleString('en')} MiB`;
}

/** The free list with `span` inserted and merged with adjacent spans. */
function insertFree(free: readonly Span[], span: Span): Span[] {
  const before = free.filter(({ address }) => address < span.address);
  const after = free.slice(before.length);
  const left = before.at(-1);
  const right = after[0];
  const joinsLeft = left !== undefined && left.address + left.bytes === span.address;
  const joinsRight = right !== undefined && span.address + span.bytes === right.address;
  const merged = {
    address: joinsLeft ? left.address : span.address,
    bytes: (joinsLeft ? left.bytes : 0) + span.bytes + (joinsRight ? right.bytes : 0),
  };
  return [
    ...(joinsLeft ? before.slice(0, -1) : before),
    merged,
    ...(joinsRight ? after.slice(1) : after),
  ];
}

/**
 * @param reservedBytes - the start of the memory, which contains the module's own constants
 * @param maximumBytes - the budget, including the reserved bytes. Address space is reserved for all of it, memory only when it is
 *   used
 * @param shared - with other threads
 * @throws KernelsError `start_failed` if the system refuses the address space
 */
export function createKernelMemory(
  reservedBytes: number,
  maximumBytes: number,
  shared: boolean = canShareMemory(),
): KernelMemory {
  const limit = Math.floor(Math.min(maximumBytes, addressableBytes) / pageBytes) * pageBytes;
  const start = roundUp(reservedBytes, alignment);
  const memory = (() => {
    try {
      return new WebAssembly.Memory({
        initial: Math.ceil(reservedBytes / pageBytes),
        maximum: limit / pageBytes,
        shared,
      });
    } catch (cause) {
      throw new KernelsError(
        'start_failed',
        `could not reserve ${inMebibytes(maximumBytes)} of address space; lower maximumBytes`,
        { cause },
      );
    }
  })();
  let end = memory.buffer.byteLength;
  let free: readonly Span[] = end > start ? [{ address: start, bytes: end - start }] : [];
  let bytesInUse = 0;
  const secrets = new Map<number, number>();

  const refuse = (bytes: number, cause?: unknown): KernelsError =>
    new KernelsError(
      'out_of_memory',
      `${inMebibytes(bytes)} requested, ${inMebibytes(bytesInUse)} in use, budget ${inMebibytes(limit)}: release what is no longer needed, run fewer operations at once, or raise maximumBytes (at most 4,096 MiB)`,
      { retryable: bytes <= limit - start, cause },
    );

  /** Makes a free span of at least `bytes` at the end of the memory. */
  const grow = (bytes: number): Span => {
    const last = free.at(-1);
    const reusable = last !== undefined && last.address + last.bytes === end ? last.bytes : 0;
    const needed = roundUp(bytes - reusable, pageBytes);
    if (end + needed > limit) throw refuse(bytes);
    const added = Math.min(Math.max(needed, growthBytes), limit - end);
    try {
      memory.grow(added / pageBytes);
    } catch (cause) {
      throw refuse(bytes, cause);
    }
    free = insertFree(free, { address: end, bytes: added });
    end += added;
    const span = free.at(-1);
    if (span === undefined) throw refuse(bytes);
    return span;
  };

  const view = (address: number, bytes: number): Uint8Array =>
    new Uint8Array(memory.buffer, address, bytes);

  const allocate = (
    bytes: number,
    { secret = false }: { readonly secret?: boolean } = {},
  ): Block => {
    const size = roundUp(Math.max(bytes, 1), alignment);
    const fitting = free.filter((span) => span.bytes >= size);
    const span =
      fitting.length > 0
        ? fitting.reduce((best, other) => (other.bytes < best.bytes ? other : best))
        : grow(size);
    free = free.flatMap((other) => {
      if (other !== span) return [other];
      return span.bytes > size ? [{ address: span.address + size, bytes: span.bytes - size }] : [];
    });
    bytesInUse += size;
    if (secret) secrets.set(span.address, size);
    let held = true;
    return {
      address: span.address,
      bytes,
      release: () => {
        if (!held) return;
        held = false;
        if (secrets.delete(span.address)) view(span.address, size).fill(0);
        bytesInUse -= size;
        free = insertFree(free, { address: span.address, bytes: size });
      },
    };
  };

  return {
    memory,
    get bytesInUse() {
      return bytesInUse;
    },
    allocate,
    wipe: () => {
      for (const [address, bytes] of secrets) view(address, bytes).fill(0);
    },
    view,
  };
}
