/**
 * Runs a witness program: the WebAssembly that circom 2 compiles a circuit to. Its interface is the one that the compiler's own
 * JavaScript uses. Values are passed through a small shared area of eight 32-bit words, the lowest first. Signals are identified
 * by hash. The program computes when the last input arrives. A failed assertion calls `runtime.exceptionHandler` with a number,
 * after texts that name templates and signals and never values.
 *
 * @module
 */
import { ProverError } from '../base/errors.ts';
import { scalarFieldOrder } from '../base/field.ts';
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

/** Meanings of the numbers of `exceptionHandler`. */
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
/** A longer text is cut off here. */
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

/** Thrown when the program reports an exception. */
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
    // The log of a circuit may be secret. It is read, as the program expects, and discarded.
    writeBufferMessage: () => {
      takeMessage();
    },
    showSharedRWMemory: () => {},
    // Circuits of circom before 2.0.7 use this function to log.
    log: () => {},
  };
  try {
    instance = new WebAssembly.Instance(program, { runtime });
  } catch (error) {
    throw new ProverError(
      'witness_program_malformed',
      'The witness program imports functions that a program of circom 2 does not. Compile the circuit with circom 2.',
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
    throw malformed(`The witness program was made by circom ${version}.`);
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

/** More problems are only counted in a message. */
const maximumProblems = 10;

/** @param findNames - names of signals of the circuit, as far as they are known */
function refuseInputs(
  program: Exports,
  sized: readonly (SignalValues & { readonly size: number })[],
  findNames: () => readonly string[],
): void {
  const problems = sized
    .filter(({ size, values }) => values.length !== size)
    .map(({ name, size, values }) =>
      size === 0
        ? `The circuit has no input signal ${name}.`
        : `The signal ${name} takes ${countOf(size)}; ${values.length} given.`,
    );
  const expected = program.getInputSize();
  const known = sized.reduce((sum, { size }) => sum + size, 0);
  if (known !== expected) {
    const given = new Set(sized.map(({ name }) => name));
    const missing = findNames()
      .map((name) => ({ name, size: sizeOf(program, name) }))
      .filter(({ name, size }) => size > 0 && !given.has(name))
      .map(({ name, size }) => `The signal ${name} is missing: ${countOf(size)}.`);
    problems.push(
      `The circuit takes ${expected} input values; ${known} given.`,
      ...(missing.length > 0
        ? missing
        : [
            `${countOf(expected - known)} of signals that the input does not name: the program knows no names, but circom --sym writes them to a file, which is read if it is beside the program.`,
          ]),
    );
  }
  if (problems.length > 0) {
    const more = problems.length - maximumProblems;
    const rest = more > 0 ? [`And ${more} more.`] : [];
    throw refused([...problems.slice(0, maximumProblems), ...rest].join(' '));
  }
}

function countOf(values: number): string {
  return `${values} value${values === 1 ? '' : 's'}`;
}

/** The number of values of an input signal. Depending on its version, the program returns 0 or -1 for an unknown name. */
function sizeOf(program: Exports, name: string): number {
  return Math.max(0, program.getInputSignalSize(...hashSignalName(name)));
}

function setInputs(
  program: Exports,
  signals: readonly SignalValues[],
  findNames: () => readonly string[],
): void {
  const sized = signals.map((signal) => ({ ...signal, size: sizeOf(program, signal.name) }));
  // Checked before anything is set: the program computes as soon as it has its last input.
  refuseInputs(program, sized, findNames);
  for (const { name, values } of sized) {
    const [high, low] = hashSignalName(name);
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

/** All wires. They are read from the program's memory if it exports the address of its shared area. */
function readWires(program: Exports, maximumBytes: number): Uint8Array<ArrayBuffer> {
  const wires = program.getWitnessSize();
  if (wires < 1) {
    throw malformed('The witness program returns no wires.');
  }
  if (wires * 4 * wordCount > maximumBytes) {
    throw new ProverError(
      'memory_budget_exceeded',
      `A witness of ${wires} wires needs more memory than the prover may use. Raise memoryBudgetBytes.`,
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
        // The memory grew, which detached the old view.
        shared = new Uint32Array(program.memory.buffer, start, wordCount);
      }
      words.set(shared, wordCount * wire);
    }
    if (!isBelowOrder(words, wordCount * wire)) {
      throw malformed(`The witness program returned a value outside the field for wire ${wire}.`);
    }
  }
  return bytes;
}

/**
 * @param program - the compiled witness program; a run leaves no data in it
 * @param maximumBytes - limit of the witness
 * @param findNames - names of signals of the circuit, for messages
 * @returns all wires, 32 bytes little-endian each, below r. Secret
 * @throws ProverError `witness_refused`, `witness_program_malformed`, `memory_budget_exceeded`
 */
export function computeWitness(
  program: WebAssembly.Module,
  signals: readonly SignalValues[],
  maximumBytes: number,
  findNames: () => readonly string[] = () => [],
): Uint8Array<ArrayBuffer> {
  // A fresh instance for each run: after a failed assertion, the state of the old one is undefined.
  const exports = instantiate(program);
  try {
    checkField(exports);
    exports.init(0);
    setInputs(exports, signals, findNames);
    return readWires(exports, maximumBytes);
  } finally {
    // The secrets must not stay in memory until the garbage collector frees it.
    new Uint8Array(exports.memory.buffer).fill(0);
  }
}
