// A small writer of WebAssembly text: modules, functions, locals, constants in memory. It is independent of
// fields or curves. Code is written as folded expressions (strings); binaryen parses and checks the result.
//
// Constants of 16 bytes are kept in memory and loaded, not written as `v128.const`: V8 builds such an immediate with
// three instructions each time, a load costs one. They fill the range constantsStart … constantsEnd of the shared
// memory, written by every instantiation (the same bytes each time, so threads that start later change nothing).

export type ValueType = 'i32' | 'i64' | 'f64' | 'v128';

/** First byte of the constants in the shared memory. */
const constantsStart = 1024;
/** End of the range of constants; memory from here on belongs to the allocator. */
const constantsEnd = 65_536;

/** The body of one function during its generation. */
export type FunctionWriter = {
  readonly module: ModuleWriter;
  /** Appends a statement (a folded expression without a value). */
  push(statement: string): void;
  /** A local that is free to use; its name. */
  take(type: ValueType): string;
  /** Releases locals: a later `take` may return them again. */
  give(...names: readonly string[]): void;
  /** Takes a local and sets it. */
  let(type: ValueType, value: string): string;
  /** Every local taken inside `body` is free again after it. Locals released inside must have been taken inside. */
  scope<T>(body: () => T): T;
};

export type FunctionShape = {
  /** Exported under its own name. */
  readonly exported?: boolean;
  /** Names of i32 parameters, or names with their types. */
  readonly params?: ReadonlyArray<string | readonly [name: string, type: ValueType]>;
  readonly results?: readonly ValueType[];
};

export type ModuleWriter = {
  /** Adds a function. Names are without `$`, unique in the module. */
  func(name: string, shape: FunctionShape, body: (f: FunctionWriter) => void): void;
  /** The address of 16 constant bytes: two 64-bit lanes, low first. Equal constants share one address. */
  constant(low: bigint, high?: bigint): number;
  /** The address of constants that must be stored one after another (64-bit words). Equal blocks share one address. */
  block(words: readonly bigint[]): number;
  /** The module's text. */
  text(): string;
};

/** Reads a local. */
export function get(name: string): string {
  return `(local.get $${name})`;
}
/** Sets a local. */
export function set(name: string, value: string): string {
  return `(local.set $${name} ${value})`;
}
/** An instruction on operands. */
export function op(instruction: string, ...operands: readonly (string | number)[]): string {
  return `(${instruction} ${operands.join(' ')})`;
}
export function i32(value: number): string {
  return `(i32.const ${value})`;
}
export function i64(value: bigint): string {
  return `(i64.const ${BigInt.asIntN(64, value)})`;
}
export function call(name: string, ...operands: readonly string[]): string {
  return `(call $${name} ${operands.join(' ')})`;
}

/** `address + offset` as the two halves of a memory instruction: its `offset=` and its address operand. */
export function at(address: string | number, offset = 0): string {
  return typeof address === 'number'
    ? `offset=${address + offset} (i32.const 0)`
    : `offset=${offset} ${address}`;
}

/** Moves pointers on. */
export function advance(f: FunctionWriter, bytes: number, ...names: readonly string[]): void {
  for (const name of names) f.push(bump(name, bytes));
}

/** Runs `body` until the condition, read before each turn, holds. */
export function loopUntil(f: FunctionWriter, condition: string, body: () => void): void {
  const label = createLabel();
  f.push(`(block $${label}e (loop $${label} (br_if $${label}e ${condition})`);
  body();
  f.push(`(br $${label})))`);
}

/** Runs `body` once, and again while the condition holds. */
export function loopWhile(f: FunctionWriter, condition: string, body: () => void): void {
  const label = createLabel();
  f.push(`(loop $${label}`);
  body();
  f.push(`(br_if $${label} ${condition}))`);
}

/** The 64 bits of a double. */
export function bitsOf(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}

/** The local `name` plus a number or an expression. */
export function plus(name: string, offset: string | number): string {
  return op('i32.add', get(name), typeof offset === 'number' ? i32(offset) : offset);
}
/** The local `name` times a number or an expression. */
export function times(name: string, factor: string | number): string {
  return op('i32.mul', get(name), typeof factor === 'number' ? i32(factor) : factor);
}

/** Adds a constant to a local. */
export function bump(name: string, by: number): string {
  return set(name, plus(name, by));
}

let labelCount = 0;

/** A fresh label for a block, unique in the module. */
export function createLabel(): string {
  return `b${labelCount++}`;
}

function createFunction(
  module: ModuleWriter,
  name: string,
  shape: FunctionShape,
  write: (f: FunctionWriter) => void,
): string {
  const locals: Array<readonly [string, ValueType]> = [];
  const free: Record<ValueType, string[]> = { i32: [], i64: [], f64: [], v128: [] };
  const types = new Map<string, ValueType>();
  const scopes: Array<Set<string>> = [];
  const lines: string[] = [];
  const writer: FunctionWriter = {
    module,
    push: (statement) => {
      lines.push(statement);
    },
    take: (type) => {
      let local = free[type].pop();
      if (local === undefined) {
        local = `t${locals.length}`;
        locals.push([local, type]);
        types.set(local, type);
      }
      scopes.at(-1)?.add(local);
      return local;
    },
    give: (...names) => {
      for (const local of names) {
        const type = types.get(local);
        if (type === undefined)
          throw new Error(`${name}: ${local} is not a local of this function`);
        if (free[type].includes(local)) throw new Error(`${name}: ${local} was given back twice`);
        for (const scope of scopes) scope.delete(local);
        free[type].push(local);
      }
    },
    let: (type, value) => {
      const local = writer.take(type);
      writer.push(set(local, value));
      return local;
    },
    scope: (body) => {
      const taken = new Set<string>();
      scopes.push(taken);
      const result = body();
      scopes.pop();
      writer.give(...taken);
      return result;
    },
  };
  write(writer);
  const params = (shape.params ?? [])
    .map((param) => (typeof param === 'string' ? ([param, 'i32'] as const) : param))
    .map(([param, type]) => ` (param $${param} ${type})`)
    .join('');
  const results = (shape.results ?? []).map((type) => ` (result ${type})`).join('');
  const declared = locals.map(([local, type]) => `(local $${local} ${type})`).join(' ');
  const exported = shape.exported ? ` (export "${name}")` : '';
  return `(func $${name}${exported}${params}${results} ${declared}\n${lines.join('\n')}\n)`;
}

function escapeBytes(words: readonly bigint[]): string {
  const view = new DataView(new ArrayBuffer(words.length * 8));
  words.forEach((word, index) => {
    view.setBigUint64(index * 8, BigInt.asUintN(64, word), true);
  });
  return Array.from(
    new Uint8Array(view.buffer),
    (byte) => `\\${byte.toString(16).padStart(2, '0')}`,
  ).join('');
}

/** A module that imports one shared memory as `env.memory`. */
export function createModule(): ModuleWriter {
  const functions: string[] = [];
  const names = new Set<string>();
  const addresses = new Map<string, number>();
  const words: bigint[] = [];
  const module: ModuleWriter = {
    func: (name, shape, body) => {
      if (names.has(name)) throw new Error(`two functions are called ${name}`);
      names.add(name);
      functions.push(createFunction(module, name, shape, body));
    },
    constant: (low, high = low) => module.block([low, high]),
    block: (content) => {
      const padded = content.length % 2 === 0 ? content : [...content, 0n];
      const key = padded.map((word) => BigInt.asUintN(64, word)).join(',');
      let address = addresses.get(key);
      if (address === undefined) {
        address = constantsStart + words.length * 8;
        addresses.set(key, address);
        words.push(...padded);
        if (address + padded.length * 8 > constantsEnd) throw new Error('too many constants');
      }
      return address;
    },
    text: () =>
      `(module\n(import "env" "memory" (memory 1 65536 shared))\n(data (i32.const ${constantsStart}) "${escapeBytes(words)}")\n${functions.join('\n')}\n)`,
  };
  return module;
}
