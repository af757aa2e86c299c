/**
 * Sources of bytes beside files: chunks of a stream. Digests of bytes.
 *
 * @module
 */
import { type ByteSource, createMemorySource } from '@pool/kernels';
import { argumentError, ProverError } from './errors.ts';

/** What a file is to the prover, for messages. */
export type FileRole = 'proving key' | 'witness program' | 'witness' | 'constraint file';

export type OpenOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Limit for contents that are held in memory, in bytes. */
  readonly maximumBytes?: number | undefined;
  /** Called with the bytes that arrived, while a file is fetched. */
  readonly onBytes?: ((received: number, expected: number) => void) | undefined;
};

export type FileSource = ByteSource & { readonly close: () => Promise<void> };

/** The error for contents that need more memory than the prover may use. */
export function tooLarge(role: FileRole, maximumBytes: number): ProverError {
  const advice =
    role === 'proving key'
      ? 'Raise memoryBudgetBytes, or give a path or a Blob'
      : 'Raise memoryBudgetBytes';
  return new ProverError(
    'memory_budget_exceeded',
    `The ${role} has more than ${Math.floor(maximumBytes / 2 ** 20)} MB, which the prover may use. ${advice}.`,
  );
}

/**
 * Reads a stream to its end.
 * @param toError - for an error of the stream
 * @throws ProverError `argument_invalid` if it was read before; `memory_budget_exceeded`; the signal's reason
 */
export async function readChunks(
  stream: ReadableStream<Uint8Array>,
  options: Omit<OpenOptions, 'onBytes'> & {
    readonly role: FileRole;
    readonly onBytes?: ((received: number) => void) | undefined;
    readonly toError: (error: unknown) => ProverError;
    /** Longest time without a chunk, in milliseconds. Default: no limit. */
    readonly idleMs?: number | undefined;
    /** Wipes the chunks if the stream fails. */
    readonly isSecret?: boolean | undefined;
  },
): Promise<readonly Uint8Array[]> {
  const { role, signal, maximumBytes = Number.POSITIVE_INFINITY, onBytes, toError } = options;
  const { idleMs, isSecret = false } = options;
  if (stream.locked)
    throw argumentError(`The stream of the ${role} was read before. Give a new one.`);
  const reader = stream.getReader();
  const cancel = (): void => {
    reader.cancel().catch(() => undefined);
  };
  signal?.addEventListener('abort', cancel, { once: true });
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isIdle = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const startTimer = (): void => {
    clearTimeout(timer);
    if (idleMs === undefined) return;
    timer = setTimeout(() => {
      isIdle = true;
      cancel();
    }, idleMs);
  };
  try {
    for (;;) {
      startTimer();
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (isIdle) throw new Error(`no data arrived for ${idleMs} ms`);
      if (done) return chunks;
      if (!((value as unknown) instanceof Uint8Array)) {
        throw argumentError(`The stream of the ${role} must give chunks of type Uint8Array.`);
      }
      chunks.push(value);
      size += value.length;
      if (size > maximumBytes) throw tooLarge(role, maximumBytes);
      onBytes?.(size);
    }
  } catch (error) {
    cancel();
    if (isSecret) wipe(chunks);
    signal?.throwIfAborted();
    throw error instanceof ProverError ? error : toError(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
}

function wipe(chunks: readonly Uint8Array[]): void {
  for (const chunk of chunks) chunk.fill(0);
}

/** @param isSecret - whether `close` wipes the chunks */
export function createChunkSource(chunks: readonly Uint8Array[], isSecret = false): FileSource {
  let size = 0;
  const ends = chunks.map((chunk) => {
    size += chunk.length;
    return size;
  });
  /** The chunk with the byte at `position`: the first that ends behind it. */
  const find = (position: number): number => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle] ?? 0) > position) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return {
    size,
    read: async (position, into) => {
      let done = 0;
      for (let index = find(position); done < into.length; index++) {
        const chunk = chunks[index] ?? new Uint8Array();
        const start = position + done - ((ends[index] ?? 0) - chunk.length);
        const piece = chunk.subarray(start, start + into.length - done);
        // Beyond the last chunk: the memory source's error.
        if (index >= chunks.length) return await createMemorySource(chunk).read(0, into);
        into.set(piece, done);
        done += piece.length;
      }
    },
    close: () => {
      if (isSecret) wipe(chunks);
      return Promise.resolve();
    },
  };
}

/** WebCrypto copies what it hashes. Pieces bound the copies. */
const pieceBytes = 2 ** 23;

/** Identifies bytes by SHA-256 over the digests of their pieces. */
export async function digestBytes(bytes: Uint8Array): Promise<string> {
  // Pages outside of a secure context have no WebCrypto.
  const { subtle } = globalThis.crypto as Partial<typeof globalThis.crypto>;
  if (subtle === undefined) {
    throw argumentError('Bytes are hashed, which needs a page over https. Give a Blob or a URL.');
  }
  const count = Math.ceil(bytes.length / pieceBytes);
  const digests = new Uint8Array(32 * count);
  for (let index = 0; index < count; index++) {
    const piece = bytes.slice(index * pieceBytes, (index + 1) * pieceBytes);
    digests.set(new Uint8Array(await subtle.digest('SHA-256', piece)), 32 * index);
  }
  const digest = new Uint8Array(await subtle.digest('SHA-256', digests));
  return `${bytes.length} bytes ${digest.join()}`;
}
