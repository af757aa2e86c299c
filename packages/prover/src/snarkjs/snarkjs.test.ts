// The drop-in beside snarkjs itself: what one makes, the other takes.
import { execFile } from 'node:child_process';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import * as snarkjs from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
  squaresSource,
} from '../../test/small-circuit.ts';
import * as ours from './index.ts';

let circuit: SmallCircuit;
let wasm: string;
let zkey: string;
beforeAll(async () => {
  circuit = await createSmallCircuit(squaresSource(5), 4);
  wasm = join(circuit.folder, 'small.wasm');
  zkey = join(circuit.folder, 'small.zkey');
});
afterAll(async () => {
  await endSnarkjsThreads();
  await rm(circuit.folder, { recursive: true, force: true });
});

/** Three public signals: the end, and the offsets. */
const input = { start: '3', offsets: ['1', -1] };

function read(name: string): Promise<Buffer> {
  return readFile(join(circuit.folder, name));
}

describe('proofs', () => {
  it('of fullProve verify under snarkjs, and have the shape of its own', async () => {
    const mine = await ours.groth16.fullProve(input, wasm, zkey);
    const theirs = await snarkjs.groth16.fullProve(input, wasm, zkey);
    expect(mine.publicSignals).toEqual(theirs.publicSignals);
    const shapeOf = (proof: unknown) =>
      JSON.stringify(proof).replaceAll(/"[0-9]{2,}"/g, '"coordinate"');
    expect(shapeOf(mine.proof)).toBe(shapeOf(theirs.proof));
    const { verificationKey } = circuit;
    expect(await snarkjs.groth16.verify(verificationKey, mine.publicSignals, mine.proof)).toBe(
      true,
    );
    expect(
      await ours.groth16.verify(verificationKey, theirs.publicSignals, theirs.proof as object),
    ).toBe(true);
  });

  it('of prove verify under snarkjs, from the witness of either', async () => {
    const [mine, theirs]: snarkjs.MemoryFile[] = [{ type: 'mem' }, { type: 'mem' }];
    await ours.wtns.calculate(input, wasm, mine as ours.OutputFile);
    await snarkjs.wtns.calculate(input, wasm, theirs ?? { type: 'mem' });
    expect(mine).toEqual(theirs);
    const { proof, publicSignals } = await ours.groth16.prove(zkey, theirs as ours.InputFile);
    expect(await snarkjs.groth16.verify(circuit.verificationKey, publicSignals, proof)).toBe(true);
  });

  it.each<[string, (path: string) => Promise<ours.InputFile>]>([
    ['paths', (path) => Promise.resolve(path)],
    ['path objects', (fileName) => Promise.resolve({ type: 'file', fileName })],
    ['URLs', (path) => Promise.resolve(pathToFileURL(path))],
    ['URLs as text', (path) => Promise.resolve(pathToFileURL(path).href)],
    ['bytes', async (path) => new Uint8Array(await readFile(path))],
    ['memory files', async (path) => ({ type: 'mem', data: await readFile(path) })],
    ['Blobs', async (path) => new Blob([await readFile(path)])],
  ])('are made from files as %s', async (_, give) => {
    const witness = join(circuit.folder, 'given.wtns');
    await ours.wtns.calculate(input, await give(wasm), witness);
    const { proof, publicSignals } = await ours.groth16.prove(
      await give(zkey),
      await give(witness),
    );
    expect(await ours.groth16.verify(circuit.verificationKey, publicSignals, proof)).toBe(true);
    expect(await ours.zKey.exportVerificationKey(await give(zkey))).toMatchObject(
      circuit.verificationKey,
    );
  });

  it('log their stages to a logger', async () => {
    const debug = vi.fn<(message: string) => void>();
    await ours.groth16.fullProve(input, wasm, zkey, { debug }, {}, { singleThread: true });
    expect(debug.mock.calls.flat()).toEqual(
      ['queued', 'witness', 'proof', 'verify'].map((stage) => `Stage: ${stage}`),
    );
  });

  it('are refused for a witness that does not satisfy the circuit', async () => {
    const witness: ours.OutputFile = { type: 'mem' };
    await ours.wtns.calculate(input, wasm, witness);
    const data = witness.data ?? new Uint8Array();
    data[data.length - 32] = (data.at(-32) ?? 0) ^ 1;
    await expect(ours.groth16.prove(zkey, { type: 'mem', data })).rejects.toMatchObject({
      code: 'witness_refused',
      retryable: false,
      message: expect.stringContaining('wtns check'),
    });
  });

  it('are refused for the witness of another circuit', async () => {
    const other = await createSmallCircuit();
    const witness = { type: 'mem' as const, data: new Uint8Array() };
    await ours.wtns.calculate(
      { product: 391, a: 17, b: 23 },
      join(other.folder, 'small.wasm'),
      witness,
    );
    await rm(other.folder, { recursive: true });
    await expect(ours.groth16.prove(zkey, witness)).rejects.toMatchObject({
      code: 'artifacts_mismatch',
      message: expect.stringContaining('The witness has 4 wires'),
    });
  });

  it('refuse a value of r, which snarkjs reduces', async () => {
    const order = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
    const above = { ...input, start: order + 3n };
    const { publicSignals } = await snarkjs.groth16.fullProve(above, wasm, zkey);
    expect(publicSignals).toEqual((await ours.groth16.fullProve(input, wasm, zkey)).publicSignals);
    await expect(ours.groth16.fullProve(above, wasm, zkey)).rejects.toMatchObject({
      code: 'witness_refused',
    });
  });
});

describe('verify', () => {
  const wrong = ['1', '2', '3'];
  let made: ours.FullProof;
  beforeAll(async () => {
    made = await ours.groth16.fullProve(input, wasm, zkey);
  });

  it('tells a logger the result as snarkjs does', async () => {
    const messages: string[] = [];
    const log = (message: string) => messages.push(message);
    const logger = { debug: log, info: log, warn: log, error: log };
    for (const { groth16 } of [ours, snarkjs] as (typeof ours)[]) {
      const { publicSignals, proof } = made;
      expect(await groth16.verify(circuit.verificationKey, publicSignals, proof, logger)).toBe(
        true,
      );
      expect(await groth16.verify(circuit.verificationKey, wrong, proof, logger)).toBe(false);
    }
    expect(messages).toEqual(['OK!', 'Invalid proof', 'OK!', 'Invalid proof']);
  });

  it('takes public signals as BigInts and hexadecimal', async () => {
    const integers = made.publicSignals.map(BigInt);
    const spellings = [integers, integers.map((value) => `0x${value.toString(16)}`)];
    for (const signals of spellings) {
      expect(await ours.groth16.verify(circuit.verificationKey, signals, made.proof)).toBe(true);
    }
    expect(await ours.groth16.verify(circuit.verificationKey, [1, 2, 3], made.proof)).toBe(false);
  });

  it('refuses a second spelling of a proof, and fewer public signals, which snarkjs accepts', async () => {
    const { proof, publicSignals } = await ours.groth16.fullProve(
      { start: '3', offsets: ['1', 0] },
      wasm,
      zkey,
    );
    const order = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
    const [x = '', y = '', z = ''] = proof.pi_a;
    const second = { ...proof, pi_a: [String(BigInt(x) + order), y, z] };
    for (const [signals, given] of [
      [publicSignals, second],
      [publicSignals.slice(0, 2), proof],
    ] as const) {
      expect(await snarkjs.groth16.verify(circuit.verificationKey, signals, given)).toBe(true);
      expect(await ours.groth16.verify(circuit.verificationKey, signals, given)).toBe(false);
    }
  });

  it('refuses what is not a key', async () => {
    await expect(ours.groth16.verify({}, wrong, made.proof)).rejects.toMatchObject({
      code: 'verification_key_malformed',
    });
  });
});

describe('files', () => {
  it('a witness file has the bytes of snarkjs, and only its owner reads it', async () => {
    const [mine, theirs] = ['mine.wtns', 'theirs.wtns'].map((name) => join(circuit.folder, name));
    await ours.wtns.calculate(input, wasm, mine ?? '');
    await snarkjs.wtns.calculate(input, wasm, theirs ?? '');
    expect(await read('mine.wtns')).toEqual(await read('theirs.wtns'));
    expect((await stat(mine ?? '')).mode & 0o777).toBe(0o600);
  });

  it('a verification key has the text of snarkjs', async () => {
    const mine = await ours.zKey.exportVerificationKey(zkey);
    expect(JSON.stringify(mine)).toBe(
      JSON.stringify(await snarkjs.zKey.exportVerificationKey(zkey)),
    );
  });

  it('that cannot be read or written are named', async () => {
    await expect(
      ours.wtns.calculate(input, wasm, join(circuit.folder, 'nowhere/a.wtns')),
    ).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining('nowhere/a.wtns'),
    });
    await expect(ours.wtns.calculate(input, wasm, {} as never)).rejects.toMatchObject({
      code: 'argument_invalid',
    });
    await expect(ours.groth16.prove(zkey, '/nowhere.wtns')).rejects.toMatchObject({
      code: 'artifact_unreadable',
      message: expect.stringContaining('nowhere.wtns'),
    });
    await writeFile(join(circuit.folder, 'text.wtns'), 'no witness, but longer than a header');
    await expect(ours.groth16.prove(zkey, join(circuit.folder, 'text.wtns'))).rejects.toMatchObject(
      { code: 'witness_malformed' },
    );
  });
});

it('lets a process end by itself after every function, without any close', async () => {
  const script = `
    import * as snarkjs from '@pool/prover/snarkjs';
    const [r1cs, wasm, zkey] = process.argv.slice(1);
    const input = ${JSON.stringify(input)};
    const witness = { type: 'mem' };
    await snarkjs.wtns.calculate(input, wasm, witness);
    await snarkjs.groth16.prove(zkey, witness);
    await snarkjs.wtns.exportJson(witness);
    console.log(await snarkjs.wtns.check(r1cs, witness));
    const { proof, publicSignals } = await snarkjs.groth16.fullProve(input, wasm, zkey);
    const key = await snarkjs.zKey.exportVerificationKey(zkey);
    console.log(await snarkjs.groth16.verify(key, publicSignals, proof));
    const refused = await snarkjs.wtns.calculate({ start: () => 3 }, wasm, witness).catch((error) => error);
    console.log(refused.code);
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      '--conditions=@pool/source',
      '--input-type=module',
      '--eval',
      script,
      circuit.r1csPath,
      wasm,
      zkey,
    ],
    // The folder of this package, whose name the script imports.
    { cwd: join(import.meta.dirname, '../..'), timeout: 30_000 },
  );
  expect(stdout).toBe('true\ntrue\nwitness_refused\n');
});
