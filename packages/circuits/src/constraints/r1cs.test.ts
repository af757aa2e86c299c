import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { findBrokenConstraints, parseR1cs } from '../../test/constraints.ts';
import { R } from '../../test/fund-batch.ts';
import { type CompiledTest, compileTest } from '../../test/witness.ts';
import { computeDomainSize, readR1cs } from './r1cs.ts';

describe('the constraint file of x * x = y, y + 3 = z', () => {
  let compiled: CompiledTest;
  beforeAll(async () => {
    compiled = await compileTest(`
      template Tiny() {
        signal input x;
        signal output z;
        signal y <== x * x;
        z <== 2 * y + 3;
      }
      component main = Tiny();`);
  });

  it('is read', () => {
    const { r1cs, wireOf } = compiled;
    expect(r1cs).toMatchObject({ wires: 4, publicSignals: 1, constraints: 2 });
    const witness = [1n, 0n, 0n, 0n];
    witness[wireOf('x')] = 5n;
    witness[wireOf('y')] = 25n;
    witness[wireOf('z')] = 53n;
    expect(findBrokenConstraints(r1cs, witness)).toEqual([]);
    expect(findBrokenConstraints(r1cs, witness.with(wireOf('z'), 54n))).toHaveLength(1);
    expect(findBrokenConstraints(r1cs, witness.with(wireOf('y'), 26n))).toHaveLength(2);
  });

  it('refuses a witness of another length, or without the constant', () => {
    const refused = RangeError;
    expect(() => findBrokenConstraints(compiled.r1cs, [1n])).toThrow(refused);
    expect(() => findBrokenConstraints(compiled.r1cs, [2n, 0n, 0n, 0n])).toThrow(refused);
  });

  it('is refused if it is cut off or not a constraint file', () => {
    const refused = expect.objectContaining({ code: 'artifact_malformed' });
    const { r1csBytes } = compiled;
    for (const length of [0, 11, 20, 60, 130, r1csBytes.length - 1]) {
      expect(() => parseR1cs(r1csBytes.slice(0, length))).toThrow(refused);
    }
    expect(() => parseR1cs(Buffer.from('zkey').fill(0))).toThrow(refused);
    const otherField = Uint8Array.from(r1csBytes);
    const order = Buffer.from(r1csBytes).indexOf(Buffer.from('010000f093f5e143', 'hex'));
    otherField[order] = 3;
    expect(() => parseR1cs(otherField)).toThrow(refused);
  });
});

describe('a constraint file larger than the window it is read through', () => {
  it('is read completely, from memory and from disk', async () => {
    // Rows of 1, 2 and 0 terms, written here by hand: 60,000 rows are 6.5 MB, so terms and counts cross the boundaries of the 4 MB windows.
    const ROWS = 60_000;
    const WIRES = 101;
    const header = new DataView(new ArrayBuffer(64));
    header.setUint32(0, 32, true);
    for (let word = 0; word < 4; word++) {
      header.setBigUint64(4 + 8 * word, BigInt.asUintN(64, R >> BigInt(64 * word)), true);
    }
    header.setUint32(36, WIRES, true);
    header.setUint32(60, ROWS, true);
    const body = new Uint32Array(ROWS * (3 + 3 * 9));
    const term = (position: number, wire: number, coefficient: number) => {
      body[position] = wire;
      body[position + 1] = coefficient;
    };
    for (let row = 0; row < ROWS; row++) {
      const at = row * 30;
      body[at] = 1;
      term(at + 1, row % WIRES, 1 + (row % 7));
      body[at + 10] = 2;
      term(at + 11, (3 * row) % WIRES, row);
      term(at + 20, (5 * row) % WIRES, 2);
    }
    const section = (id: number, bytes: Uint8Array) => {
      const head = Buffer.alloc(12);
      head.writeUInt32LE(id);
      head.writeBigUInt64LE(BigInt(bytes.length), 4);
      return Buffer.concat([head, bytes]);
    };
    const start = Buffer.from('723163730100000002000000', 'hex');
    const file = Buffer.concat([
      start,
      section(2, new Uint8Array(body.buffer)),
      section(1, new Uint8Array(header.buffer)),
    ]);

    const r1cs = parseR1cs(file);
    expect(r1cs).toMatchObject({ wires: WIRES, constraints: ROWS });
    expect([r1cs.a, r1cs.b, r1cs.c].map(({ wire }) => wire.length)).toEqual([ROWS, 2 * ROWS, 0]);
    let different = 0;
    for (let row = 0; row < ROWS; row++) {
      const valueOfA = r1cs.coefficients[r1cs.a.coefficient[row] ?? -1];
      const valuesOfB = [0, 1].map((i) => r1cs.coefficients[r1cs.b.coefficient[2 * row + i] ?? -1]);
      const isRight =
        r1cs.a.wire[row] === row % WIRES &&
        valueOfA === BigInt(1 + (row % 7)) &&
        r1cs.b.wire[2 * row] === (3 * row) % WIRES &&
        r1cs.b.wire[2 * row + 1] === (5 * row) % WIRES &&
        valuesOfB[0] === BigInt(row) &&
        valuesOfB[1] === 2n;
      different += isRight ? 0 : 1;
    }
    expect(different).toBe(0);
    expect(new Set(r1cs.coefficients).size).toBe(r1cs.coefficients.length);

    const folder = await mkdtemp(join(tmpdir(), 'pool-r1cs-test-'));
    try {
      await writeFile(join(folder, 'whole.r1cs'), file);
      expect(readR1cs(join(folder, 'whole.r1cs'))).toEqual(r1cs);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('the evaluation domain', () => {
  it.each([
    [65_532, 3, 65_536],
    [65_533, 3, 131_072],
    [1, 0, 2],
    [3, 1, 8],
  ])('of %i rows and %i public signals is %i', (constraints, publicSignals, size) => {
    expect(computeDomainSize({ constraints, publicSignals })).toBe(size);
  });
});
