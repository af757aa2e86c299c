/**
 * Limits the memory of a witness program. circom declares no limit, and the program is another party's code. This module rewrites
 * the memory section of the WebAssembly binary (WebAssembly core specification, section 5.5.8), and the engine enforces the
 * limit.
 *
 * @module
 */
import { ProverError } from '../base/errors.ts';

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
