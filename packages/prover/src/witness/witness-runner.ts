/**
 * Computes witnesses with circom's programs in a separate thread, within limits of memory and time. Programs are compiled once,
 * and the last ones are kept.
 *
 * @module
 */
import { moduleBeside, type WebWorkerConstructor } from '@pool/kernels';
import { ProverError } from '../base/errors.ts';
import { type FileInput, type IdentifiedFile, identifyFile, readFile } from '../base/file-input.ts';
import { createWorkerLink, joinSignals } from '../base/worker-link.ts';
import { readWitnessFile } from './witness-file.ts';
import type { WitnessRequest } from './witness-worker.ts';

declare const Worker: WebWorkerConstructor;

// Limits the memory of a witness program. circom declares no limit, and the program is another party's code. This module rewrites
// the memory section of the WebAssembly binary (WebAssembly core specification, section 5.5.8), and the engine enforces the
// limit.

const pageBytes = 65_536;
/** Magic and version. */
const preambleBytes = 8;
const memorySection = 5;
const hasMaximum = 1;

function malformed(): ProverError {
  return new ProverError(
    'witness_program_malformed',
    'The witness program is not WebAssembly, or declares a memory that programs of circom 2 do not have. Fetch or build it again.',
  );
}

/** An unsigned LEB128 integer of at most 32 bits, and the position of its end. */
function readInteger(bytes: Uint8Array, start: number): { value: number; end: number } {
  let value = 0;
  for (let i = 0; i < 5; i++) {
    const byte = bytes[start + i];
    if (byte === undefined) {
      throw malformed();
    }
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) {
      return { value, end: start + i + 1 };
    }
  }
  throw malformed();
}

function encodeInteger(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
  } while (rest > 0);
  return bytes;
}

/** Start and end of the memory section with its head, and the start of its contents. */
function findMemorySection(bytes: Uint8Array) {
  for (let start = preambleBytes; start < bytes.length; ) {
    const { value: length, end: contents } = readInteger(bytes, start + 1);
    if (bytes[start] === memorySection) {
      return { start, contents, end: contents + length };
    }
    start = contents + length;
  }
  return undefined;
}

/**
 * @param bytes - a WebAssembly module; a module without its own memory is not changed
 * @param maximumBytes - the limit for its memory
 * @throws ProverError `memory_budget_exceeded` if it starts with more; `witness_program_malformed`
 */
export function limitMemory(
  bytes: Uint8Array<ArrayBuffer>,
  maximumBytes: number,
): Uint8Array<ArrayBuffer> {
  const section = findMemorySection(bytes);
  if (section === undefined) {
    return bytes;
  }
  const { value: count, end: flagsAt } = readInteger(bytes, section.contents);
  const flags = bytes[flagsAt];
  // One memory of 32-bit addresses that is not shared.
  if (count !== 1 || (flags !== 0 && flags !== hasMaximum)) {
    throw malformed();
  }
  const { value: initial, end } = readInteger(bytes, flagsAt + 1);
  const declared = flags === hasMaximum ? readInteger(bytes, end).value : Number.POSITIVE_INFINITY;
  const maximum = Math.min(declared, Math.floor(maximumBytes / pageBytes));
  if (initial > maximum) {
    throw new ProverError(
      'memory_budget_exceeded',
      `The witness program needs ${Math.ceil((initial * pageBytes) / 2 ** 20)} MB; the prover may use ${Math.floor(maximumBytes / 2 ** 20)} MB. Raise memoryBudgetBytes.`,
    );
  }
  const contents = [1, hasMaximum, ...encodeInteger(initial), ...encodeInteger(maximum)];
  const rewritten = [memorySection, ...encodeInteger(contents.length), ...contents];
  const limited = new Uint8Array(section.start + rewritten.length + bytes.length - section.end);
  limited.set(bytes.subarray(0, section.start));
  limited.set(rewritten, section.start);
  limited.set(bytes.subarray(section.end), section.start + rewritten.length);
  return limited;
}

export type WitnessRunner = {
  /** Starts the thread and compiles a program, for the next `compute`. @throws like `compute`, about the program */
  readonly prepare: (wasm: FileInput, signal?: AbortSignal) => Promise<void>;
  /**
   * @param input - signals by name, see parseWitnessInput. Secret.
   * @returns all wires, 32 bytes little-endian each, below r. Secret; the caller wipes it.
   * @throws ProverError `witness_refused`, `witness_program_malformed`, `witness_timeout`, `memory_budget_exceeded`,
   *   `artifact_unreadable`, `proof_failed`, `prover_closed`; the signal's reason
   */
  readonly compute: (
    wasm: FileInput,
    input: unknown,
    signal?: AbortSignal,
  ) => Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Reads a `.wtns` file within the same limit of memory.
   * @returns like `compute`
   * @throws ProverError `witness_malformed`, `memory_budget_exceeded`, `artifact_unreadable`; the signal's reason
   */
  readonly read: (file: FileInput, signal?: AbortSignal) => Promise<Uint8Array<ArrayBuffer>>;
  readonly close: () => Promise<void>;
};

export type WitnessLimits = {
  /** Memory that a program, and a witness, may use. In bytes. */
  readonly maximumBytes: number;
  /** How long a program may run, in milliseconds. */
  readonly timeoutMs: number;
};

/** The maximum for a program with 32-bit addresses, and ten minutes. */
export const defaultWitnessLimits: WitnessLimits = { maximumBytes: 2 ** 32, timeoutMs: 600_000 };

/** Number of compiled programs that are kept: a few hundred KB to a few MB each. */
const maximumPrograms = 16;

async function compile(
  file: IdentifiedFile,
  maximumBytes: number,
  signal: AbortSignal | undefined,
): Promise<WebAssembly.Module> {
  const bytes = await readFile(file, 'witness program', { maximumBytes, signal });
  try {
    return await WebAssembly.compile(limitMemory(bytes, maximumBytes));
  } catch (error) {
    if (error instanceof ProverError) {
      throw error;
    }
    throw new ProverError(
      'witness_program_malformed',
      'The witness program is not WebAssembly. Fetch or build it again.',
      { cause: error },
    );
  }
}

/** Like the caller's signal, and aborted when time is up. */
function startTimer(timeoutMs: number, signal: AbortSignal | undefined) {
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort(
      new ProverError(
        'witness_timeout',
        `The witness program did not end within ${timeoutMs / 1000} s. Raise witnessTimeoutMs if the circuit needs longer.`,
      ),
    );
  }, timeoutMs);
  const joined = joinSignals(signal, late.signal);
  return {
    signal: joined.signal,
    stop: () => {
      clearTimeout(timer);
      joined.release();
    },
  };
}

export function createWitnessRunner({ maximumBytes, timeoutMs }: WitnessLimits): WitnessRunner {
  const link = createWorkerLink<WitnessRequest, Uint8Array<ArrayBuffer>>(
    moduleBeside(import.meta.url, 'witness-worker'),
    () => new Worker(new URL('./witness-worker.js', import.meta.url), { type: 'module' }),
  );
  /** In the order of their last use. */
  const programs = new Map<string, Promise<WebAssembly.Module>>();

  const load = async (
    wasm: FileInput,
    signal: AbortSignal | undefined,
  ): Promise<Pick<WitnessRequest, 'program' | 'path'>> => {
    const file = await identifyFile(wasm, 'witness program');
    const { identity, path } = file;
    const program = programs.get(identity) ?? compile(file, maximumBytes, signal);
    programs.delete(identity);
    programs.set(identity, program);
    for (const oldest of programs.keys()) {
      if (programs.size <= maximumPrograms) {
        break;
      }
      programs.delete(oldest);
    }
    try {
      return { program: await program, path };
    } catch (error) {
      programs.delete(identity);
      throw error;
    }
  };

  return {
    prepare: async (wasm, signal) => {
      link.start();
      await load(wasm, signal);
    },
    compute: async (wasm, input, signal) => {
      // The thread starts while the program is read and compiled.
      link.start();
      const program = await load(wasm, signal);
      const timer = startTimer(timeoutMs, signal);
      try {
        return await link.call({ ...program, input, maximumBytes }, timer.signal);
      } catch (error) {
        if (error instanceof ProverError && error.code === 'argument_invalid') {
          throw new ProverError(
            'witness_refused',
            'The input contains something that is not a value. Use BigInts, safe integers, strings, and arrays of them.',
            { cause: error.cause },
          );
        }
        throw error;
      } finally {
        timer.stop();
      }
    },
    read: (file, signal) => readWitnessFile(file, { maximumBytes, signal }),
    close: link.close,
  };
}
