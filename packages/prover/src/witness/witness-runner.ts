/**
 * Computes witnesses with circom's programs in a separate thread, within limits of memory and time. Programs are compiled once,
 * and the last ones are kept.
 *
 * @module
 */
import { readFile } from 'node:fs/promises';
import { moduleBeside } from '@pool/kernels';
import { ProverError } from '../base/errors.ts';
import { readFileIdentity } from '../base/file-identity.ts';
import { joinSignals } from '../base/join-signals.ts';
import { createWorkerLink } from '../base/worker-link.ts';
import { limitMemory } from './limit-memory.ts';
import type { WitnessRequest } from './witness-worker.ts';

export type WitnessRunner = {
  /**
   * @param input - signals by name, see parseWitnessInput. Secret.
   * @returns all wires, 32 bytes little-endian each, below r. Secret; the caller wipes it.
   * @throws ProverError `witness_refused`, `witness_program_malformed`, `witness_timeout`, `memory_budget_exceeded`, `proof_failed`,
   *   `prover_closed`; the signal's reason
   */
  readonly compute: (
    wasmPath: string,
    input: unknown,
    signal?: AbortSignal,
  ) => Promise<Uint8Array<ArrayBuffer>>;
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

function unreadable(cause: unknown): ProverError {
  return new ProverError(
    'proof_failed',
    'The witness program cannot be read. Check its path and permissions.',
    {
      retryable: true,
      cause,
    },
  );
}

async function compile(wasmPath: string, maximumBytes: number): Promise<WebAssembly.Module> {
  const bytes = await readFile(wasmPath).catch((error: unknown) => {
    throw unreadable(error);
  });
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
  );
  /** In the order of their last use. */
  const programs = new Map<string, Promise<WebAssembly.Module>>();

  const load = async (wasmPath: string): Promise<WebAssembly.Module> => {
    const identity = await readFileIdentity(wasmPath).catch((error: unknown) => {
      throw unreadable(error);
    });
    const program = programs.get(identity) ?? compile(wasmPath, maximumBytes);
    programs.delete(identity);
    programs.set(identity, program);
    for (const oldest of programs.keys()) {
      if (programs.size <= maximumPrograms) {
        break;
      }
      programs.delete(oldest);
    }
    try {
      return await program;
    } catch (error) {
      programs.delete(identity);
      throw error;
    }
  };

  return {
    compute: async (wasmPath, input, signal) => {
      const program = await load(wasmPath);
      const timer = startTimer(timeoutMs, signal);
      try {
        return await link.call({ program, input, maximumBytes }, timer.signal);
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
    close: link.close,
  };
}
