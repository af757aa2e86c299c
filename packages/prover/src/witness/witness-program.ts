/**
 * Runs a witness program: the WebAssembly that circom 2 makes of a circuit. Its interface, as the compiler's own JavaScript uses it:
 * values pass through a small shared area of eight 32-bit words, the lowest first; signals are named by hash; the program computes when
 * the last input arrives; a failed assertion calls `runtime.exceptionHandler` with a number, after texts that name templates and
 * signals and never values.
 *
 * @module
 */
import { ProverError } from '../errors.ts';
import { scalarFieldOrder } from '../field.ts';
import { hashSignalName, type SignalValues } from './witness-input.ts';

type Exports = {
  readonly memory: WebAssembly.Memory;
  readonly getVersion: () => number;
  readonly getFieldNumLen32: () => number;
  readonly getRawPrime: () => void;
  readonly getSharedRWMemoryStart: () => number;
  readonly readSharedRWMemory: (word: number) => number;
  readonly writeSharedRWMemory: (word: number, value: number) => void;
  readonly init: (sanityCheck: number) => void;
  readonly getInputSignalSize: (high: number, low: number) => number;
  readonly setInputSignal: (high: number, low: number, index: number) => void;
  readonly getInputSize: () => number;
  readonly getWitnessSize: () => number;
  readonly getWitness: (wire: number) => void;
  readonly getMessageChar: () => number;
};

const functions = [
  'getVersion',
  'getFieldNumLen32',
  'getRawPrime',
  'readSharedRWMemory',
  'writeSharedRWMemory',
  'init',
  'getInputSignalSize',
  'setInputSignal',
  'getInputSize',
  'getWitnessSize',
  'getWitness',
] as const;

/** What the numbers of `exceptionHandler` mean. */
const exceptions: Readonly<Record<number, string>> = {
  1: 'A signal was not found.',
  2: 'Too many signals were set.',
  3: 'A signal was set twice.',
  4: 'An assertion failed.',
  5: 'The program ran out of memory.',
  6: 'An input was set beyond the size of its array.',
  7: 'An array was accessed out of bounds.',
};

/** Field elements in eight words. */
const wordCount = 8;
const mask = 0xffffffffn;
/** A text that does not end is cut here. */
const maximumMessage = 4_096;

function malformed(message: string): ProverError {
  return new ProverError(
    'witness_program_malformed',
    `${message} Compile the circuit with circom 2: circom --wasm --prime bn128.`,
  );
}

function refused(message: string, cause?: unknown): ProverError {
  return new ProverError('witness_refused', message, { cause });
}

/** Thrown out of the program by its own report. */
class ProgramExceptionError extends Error {
  readonly number: number;
  constructor(number: number, details: string) {
    super(details);
    this.name = 'ProgramExceptionError';
    this.number = number;
  }
}

function isExports(exports: Record<string, unknown>): boolean {
  return (
    exports['memory'] instanceof WebAssembly.Memory &&
    functions.every((name) => typeof exports[name] === 'function')
  );
}

/** Order r as words, the lowest first. */
const orderWords = Array.from({ length: wordCount }, (_, i) =>
  Number((scalarFieldOrder >> BigInt(32 * i)) & mask),
);

/** Whether the eight words from `start` are below r. */
function isBelowOrder(words: Uint32Array, start: number): boolean {
  for (let i = wordCount - 1; i >= 0; i--) {
    const word = words[start + i] ?? 0;
    const bound = orderWords[i] ?? 0;
    if (word !== bound) {
      return word < bound;
    }
  }
  return false;
}

function instantiate(program: WebAssembly.Module): Exports {
  let instance: WebAssembly.Instance | undefined;
  let details = '';
  const takeMessage = (): string => {
    const { getMessageChar: next } = (instance?.exports ?? {}) as Partial<Exports>;
    let message = '';
    if (next !== undefined) {
      for (let code = next(); code !== 0 && message.length < maximumMessage; ) {
        message += String.fromCharCode(code);
        code = next();
      }
    }
    return message;
  };
  const runtime = {
    exceptionHandler: (number: number) => {
      throw new ProgramExceptionError(number, details.trim());
    },
    printErrorMessage: () => {
      details = `${details}${takeMessage()}\n`.slice(-maximumMessage);
    },
    // What a circuit logs may be secret: it is taken, as the program expects, and goes nowhere.
    writeBufferMessage: () => {
      takeMessage();
    },
    showSharedRWMemory: () => {},
    // Circuits of circom before 2.0.7 log through this one.
    log: () => {},
  };
  try {
    instance = new WebAssembly.Instance(program, { runtime });
  } catch (error) {
    throw new ProverError(
      'witness_program_malformed',
      'The witness program asks for what a program of circom 2 does not. Compile the circuit with circom 2.',
      { cause: error },
    );
  }
  if (!isExports(instance.exports)) {
    throw malformed('This is not a witness program of circom 2.');
  }
  return instance.exports as unknown as Exports;
}

function checkField(program: Exports): void {
  const version = program.getVersion();
  if (version !== 2) {
    throw malformed(`The witness program is of circom ${version}.`);
  }
  let prime = 0n;
  if (program.getFieldNumLen32() === wordCount) {
    program.getRawPrime();
    for (let word = wordCount - 1; word >= 0; word--) {
      prime = (prime << 32n) | BigInt(program.readSharedRWMemory(word) >>> 0);
    }
  }
  if (prime !== scalarFieldOrder) {
    throw malformed('The witness program computes in another field than that of BN254.');
  }
}

function setInputs(program: Exports, signals: readonly SignalValues[]): void {
  const expected = program.getInputSize();
  const sized = signals.map(({ name, values }) => {
    const [high, low] = hashSignalName(name);
    const size = program.getInputSignalSize(high, low);
    // The program answers 0 or -1 for a name it does not know, depending on its version.
    if (size < 0 || (size === 0 && values.length > 0)) {
      throw refused(`The circuit has no input signal ${name}.`);
    }
    if (values.length !== size) {
      throw refused(
        `The signal ${name} takes ${size} value${size === 1 ? '' : 's'}; ${values.length} given.`,
      );
    }
    return { name, values, high, low };
  });
  // Before anything is set: the program computes as soon as it has its last input.
  const given = sized.reduce((sum, { values }) => sum + values.length, 0);
  if (given !== expected) {
    throw refused(
      `The circuit takes ${expected} input values; ${given} given. Name every input signal of the main component.`,
    );
  }
  for (const { name, values, high, low } of sized) {
    for (const [index, value] of values.entries()) {
      for (let word = 0; word < wordCount; word++) {
        program.writeSharedRWMemory(word, Number((value >> BigInt(32 * word)) & mask));
      }
      try {
        program.setInputSignal(high, low, index);
      } catch (error) {
        if (error instanceof ProgramExceptionError) {
          throw refused(
            `The input does not satisfy the circuit. ${exceptions[error.number] ?? 'The witness program stopped.'}`,
            error.message === '' ? undefined : new Error(error.message),
          );
        }
        throw refused(`The witness program stopped after the signal ${name}.`, error);
      }
    }
  }
}

/** All wires, read out of the program's memory where it exports the place of its shared area. */
function readWires(program: Exports, maximumBytes: number): Uint8Array<ArrayBuffer> {
  const wires = program.getWitnessSize();
  if (wires < 1) {
    throw malformed('The witness program gives no wires.');
  }
  if (wires * 4 * wordCount > maximumBytes) {
    throw new ProverError(
      'memory_budget_exceeded',
      `A witness of ${wires} wires is more than the prover may hold. Raise memoryBudgetBytes.`,
    );
  }
  const bytes = new Uint8Array(wires * 4 * wordCount);
  const words = new Uint32Array(bytes.buffer);
  const start =
    typeof program.getSharedRWMemoryStart === 'function' ? program.getSharedRWMemoryStart() : -1;
  let shared =
    start >= 0 && start % 4 === 0
      ? new Uint32Array(program.memory.buffer, start, wordCount)
      : undefined;
  for (let wire = 0; wire < wires; wire++) {
    program.getWitness(wire);
    if (shared === undefined) {
      for (let word = 0; word < wordCount; word++) {
        words[wordCount * wire + word] = program.readSharedRWMemory(word);
      }
    } else {
      if (shared.length === 0) {
        // The memory grew and took its old view with it.
        shared = new Uint32Array(program.memory.buffer, start, wordCount);
      }
      words.set(shared, wordCount * wire);
    }
    if (!isBelowOrder(words, wordCount * wire)) {
      throw malformed(`The witness program gave wire ${wire} a value outside the field.`);
    }
  }
  return bytes;
}

/**
 * @param program - what circom made, compiled; nothing of a run stays in it
 * @param maximumBytes - of the witness
 * @returns all wires, 32 bytes little-endian each, below r. Secret.
 * @throws ProverError `witness_refused`, `witness_program_malformed`, `memory_budget_exceeded`
 */
export function computeWitness(
  program: WebAssembly.Module,
  signals: readonly SignalValues[],
  maximumBytes: number,
): Uint8Array<ArrayBuffer> {
  // A fresh instance each time: after a failed assertion the old one is in no defined state.
  const exports = instantiate(program);
  try {
    checkField(exports);
    exports.init(0);
    setInputs(exports, signals);
    return readWires(exports, maximumBytes);
  } finally {
    // The memory waits for the collector; the secrets in it should not.
    new Uint8Array(exports.memory.buffer).fill(0);
  }
}
