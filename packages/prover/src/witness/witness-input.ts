/**
 * Converts a caller's input of a circuit into the list of signals that a witness program takes.
 *
 * @module
 */
import { ProverError } from '../base/errors.ts';
import { scalarFieldOrder } from '../base/field.ts';

/** One input signal with all its values in row-major order. Secret. */
export type SignalValues = { readonly name: string; readonly values: readonly bigint[] };

function refuse(message: string): never {
  throw new ProverError('witness_refused', message);
}

/**
 * A value: a BigInt, a safe integer, a boolean, or a string (decimal, or hexadecimal with `0x`), of magnitude below r. A negative
 * value means r minus its magnitude, as in snarkjs. A magnitude of r or more is refused, where snarkjs would reduce it: an amount
 * that wraps around is a mistake.
 */
function parseValue(name: string, value: unknown): bigint {
  let integer: bigint | undefined;
  if (typeof value === 'bigint') {
    integer = value;
  } else if (typeof value === 'number' && Number.isSafeInteger(value)) {
    integer = BigInt(value);
  } else if (typeof value === 'boolean') {
    integer = value ? 1n : 0n;
  } else if (typeof value === 'string' && /^(-?[0-9]{1,90}|0x[0-9a-fA-F]{1,64})$/.test(value)) {
    integer = BigInt(value);
  }
  if (integer === undefined) {
    return refuse(
      `A value of the signal ${name} is not an integer: use BigInts, safe integers, or decimal or 0x strings.`,
    );
  }
  if (integer >= scalarFieldOrder || integer <= -scalarFieldOrder) {
    return refuse(`A value of the signal ${name} does not fit into the field.`);
  }
  return integer < 0n ? integer + scalarFieldOrder : integer;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Deeper than the nesting of any circuit. Stops cycles. */
const maximumDepth = 64;

/** More values than any witness program takes. Stops arrays that contain one another many times. */
const maximumValues = 2 ** 24;

/** Whether an array contains objects. The first items decide, because signals and buses do not mix in one array. */
function holdsRecord(value: unknown, depth = 0): boolean {
  return Array.isArray(value) && depth <= maximumDepth
    ? holdsRecord(value[0], depth + 1)
    : isRecord(value);
}

/**
 * Flattens an input. Nested arrays are one signal. Objects are buses, whose fields are separate signals: `bus.x`, `buses[0].x`.
 * @throws ProverError `witness_refused`, which names the signal and never a value
 */
export function parseWitnessInput(input: unknown): SignalValues[] {
  const signals: SignalValues[] = [];
  let visited = 0;

  const count = (name: string): void => {
    visited += 1;
    if (visited > maximumValues) {
      refuse(`The signal ${name} has more values than any circuit takes.`);
    }
  };

  const flatten = (name: string, value: unknown, into: bigint[], depth: number): bigint[] => {
    count(name);
    if (depth > maximumDepth) {
      return refuse(`The signal ${name} is nested too deeply.`);
    }
    if (Array.isArray(value)) {
      for (const item of value) {
        flatten(name, item, into, depth + 1);
      }
    } else {
      into.push(parseValue(name, value));
    }
    return into;
  };

  const visit = (name: string, value: unknown, depth: number): void => {
    count(name);
    if (depth > maximumDepth) {
      refuse(`The signal ${name} is nested too deeply.`);
    } else if (isRecord(value)) {
      for (const [field, inner] of Object.entries(value)) {
        visit(name === '' ? field : `${name}.${field}`, inner, depth + 1);
      }
    } else if (Array.isArray(value) && holdsRecord(value)) {
      for (const [index, inner] of value.entries()) {
        visit(`${name}[${index}]`, inner, depth + 1);
      }
    } else {
      signals.push({ name, values: flatten(name, value, [], depth) });
    }
  };

  if (!isRecord(input)) {
    return refuse('The input is not an object of signals by name.');
  }
  visit('', input, 0);
  return signals;
}

const fnvOffset = 0xcbf29ce484222325n;
const fnvPrime = 0x100000001b3n;

/** FNV-1a of 64 bits, as its upper and lower 32 bits. Witness programs identify their signals by it. */
export function hashSignalName(name: string): readonly [number, number] {
  let hash = fnvOffset;
  for (const byte of new TextEncoder().encode(name)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * fnvPrime);
  }
  return [Number(hash >> 32n), Number(hash & 0xffffffffn)];
}
