/**
 * Writes WebAssembly code as bytes (WebAssembly core specification, section 5.4): expressions are lists of bytes, operands first.
 *
 * @module
 */

export type Code = readonly number[];

/** An unsigned LEB128 integer. */
export function encodeUnsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
  } while (rest > 0);
  return bytes;
}

/** A signed LEB128 integer. */
function encodeSigned(value: bigint): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; ) {
    const low = Number(BigInt.asUintN(7, rest));
    rest >>= 7n;
    if (rest === (low & 64 ? -1n : 0n)) {
      return [...bytes, low];
    }
    bytes.push(low + 128);
  }
}

/** Binary and unary operators by name. */
const operators = {
  'i32.add': 0x6a,
  'i32.div_u': 0x6e,
  'i32.rem_u': 0x70,
  'i32.and': 0x71,
  'i32.mul': 0x6c,
  'i32.eqz': 0x45,
  'i32.eq': 0x46,
  'i32.ne': 0x47,
  'i32.lt_s': 0x48,
  'i32.ge_s': 0x4e,
  'i32.or': 0x72,
  'i32.shl': 0x74,
  'i32.shr_u': 0x76,
  'i32.wrap_i64': 0xa7,
  'i64.eqz': 0x50,
  'i64.eq': 0x51,
  'i64.lt_s': 0x53,
  'i64.lt_u': 0x54,
  'i64.add': 0x7c,
  'i64.sub': 0x7d,
  'i64.mul': 0x7e,
  'i64.and': 0x83,
  'i64.or': 0x84,
  'i64.xor': 0x85,
  'i64.shl': 0x86,
  'i64.shr_s': 0x87,
  'i64.shr_u': 0x88,
  'i64.extend32_s': 0xc4,
  'i64.extend_i32_u': 0xad,
} as const;

export function op(name: keyof typeof operators, ...operands: readonly Code[]): Code {
  return [...operands.flat(), operators[name]];
}

/** Loads by name, with the exponent of their alignment. */
const loads = {
  'i32.load': [0x28, 2],
  'i64.load': [0x29, 3],
  'i64.load32_s': [0x34, 2],
  'i64.load32_u': [0x35, 2],
} as const;
const stores = {
  'i32.store': [0x36, 2],
  'i64.store': [0x37, 3],
  'i64.store32': [0x3e, 2],
} as const;

export function load(name: keyof typeof loads, address: Code, offset = 0): Code {
  return [...address, ...loads[name], ...encodeUnsigned(offset)];
}
export function store(name: keyof typeof stores, address: Code, value: Code, offset = 0): Code {
  return [...address, ...value, ...stores[name], ...encodeUnsigned(offset)];
}

export function i32(value: number): Code {
  return [0x41, ...encodeSigned(BigInt(value))];
}
export function i64(value: bigint | number): Code {
  return [0x42, ...encodeSigned(BigInt.asIntN(64, BigInt(value)))];
}
export function get(local: number): Code {
  return [0x20, ...encodeUnsigned(local)];
}
export function set(local: number, value: Code): Code {
  return [...value, 0x21, ...encodeUnsigned(local)];
}
export function call(index: number, ...operands: readonly Code[]): Code {
  return [...operands.flat(), 0x10, ...encodeUnsigned(index)];
}
export function when(condition: Code, then: Code, otherwise: Code = []): Code {
  const rest = otherwise.length === 0 ? [] : [0x05, ...otherwise];
  return [...condition, 0x04, 0x40, ...then, ...rest, 0x0b];
}

/** Repeats the code while the condition holds. The code runs at least once. */
export function repeat(code: Code, condition: Code): Code {
  return [0x03, 0x40, ...code, ...condition, 0x0d, 0, 0x0b];
}

/** The value after combining all terms, from the left. */
export function fold(name: keyof typeof operators, terms: readonly Code[]): Code {
  return terms.reduce((left, right) => op(name, left, right));
}

const i32Type = 0x7f;
const i64Type = 0x7e;

/** A function's entry in the code section, without its length. */
export function encodeBody(
  locals: { readonly i32: number; readonly i64: number },
  code: Code,
): Code {
  const groups = [
    [locals.i32, i32Type],
    [locals.i64, i64Type],
  ].filter(([count]) => count !== 0);
  const declared = groups.flatMap(([count = 0, type = 0]) => [...encodeUnsigned(count), type]);
  return [groups.length, ...declared, ...code, 0x0b];
}

/** The type of a function of i32 parameters and results. */
export function encodeType(parameters: number, results: number): Code {
  const list = (count: number): Code => [count, ...Array<number>(count).fill(i32Type)];
  return [0x60, ...list(parameters), ...list(results)];
}
