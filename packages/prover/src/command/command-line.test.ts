// The command as a process, beside snarkjs' own: what one writes, the other reads.
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
  squaresSource,
} from '../../test/small-circuit.ts';
import { runCommandLine } from './command-line.ts';

let circuit: SmallCircuit;
let folder: string;
beforeAll(async () => {
  circuit = await createSmallCircuit(squaresSource(5), 4);
});
afterAll(async () => {
  await endSnarkjsThreads();
  await rm(circuit.folder, { recursive: true, force: true });
});

const input = { start: '3', offsets: ['1', -1] };

/** Each test has a folder with the files under snarkjs' default names. */
let tests = 0;
beforeEach(async () => {
  folder = join(circuit.folder, `test ${tests++}`);
  await mkdir(folder);
  const copy = async (from: string, to: string) => {
    await writeFile(join(folder, to), await readFile(join(circuit.folder, from)));
  };
  await copy('small.wasm', 'circuit.wasm');
  await copy('small.zkey', 'circuit_final.zkey');
  await copy('small.r1cs', 'circuit.r1cs');
  await writeFile(join(folder, 'input.json'), JSON.stringify(input));
});

type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Fails if the process does not end by itself. */
async function run(program: readonly string[], args: string): Promise<Ended> {
  const options = { cwd: folder, timeout: 30_000 };
  const all = [...program, ...args.split(' ').filter((arg) => arg !== '')];
  return await promisify(execFile)(process.execPath, all, options).then(
    (ended) => ({ code: 0, ...ended }),
    (error: unknown) => {
      expect(error).toMatchObject({ code: expect.any(Number), signal: null });
      return error as Ended;
    },
  );
}

const main = join(import.meta.dirname, '../pool-prover.ts');
function ours(args: string): Promise<Ended> {
  return run(['--conditions=@pool/source', main], args);
}
const require = createRequire(import.meta.url);
function theirs(args: string): Promise<Ended> {
  return run([join(require.resolve('snarkjs'), '../cli.cjs')], args);
}

function read(name: string): Promise<Buffer> {
  return readFile(join(folder, name));
}
async function readText(name: string): Promise<string> {
  return await readFile(join(folder, name), 'utf8');
}

const quiet = { code: 0, stdout: '', stderr: '' };

it('proves what snarkjs verifies, under default names and quietly, and leaves no other file', async () => {
  expect(await ours('groth16 fullprove')).toEqual(quiet);
  expect(await ours('zkey export verificationkey')).toEqual(quiet);
  expect(await theirs('groth16 verify circuit_vk.json')).toMatchObject({ code: 0 });
  expect(JSON.parse(await readText('public.json'))).toHaveLength(3);
  expect((await readdir(folder)).toSorted()).toEqual(
    [
      ...['circuit.r1cs', 'circuit.wasm', 'circuit_final.zkey', 'circuit_vk.json', 'input.json'],
      ...['proof.json', 'public.json'],
    ].toSorted(),
  );
});

it('verifies what snarkjs proves, and writes its files byte by byte', async () => {
  await theirs('g16f');
  await theirs('wc circuit.wasm input.json theirs.wtns');
  await theirs('zkev circuit_final.zkey theirs.json');
  const call = await theirs('zkesc public.json proof.json');

  expect(await ours('wtns calculate circuit.wasm input.json ours.wtns')).toEqual(quiet);
  expect(await read('ours.wtns')).toEqual(await read('theirs.wtns'));
  expect(await ours('zkey export verificationkey circuit_final.zkey ours.json')).toEqual(quiet);
  expect(await readText('ours.json')).toBe(await readText('theirs.json'));
  expect(await ours('zkey export soliditycalldata')).toEqual(call);
  expect(await ours('groth16 verify ours.json')).toEqual({ ...quiet, stdout: 'OK!\n' });

  const publicText = await readText('public.json');
  expect(await ours('groth16 prove circuit_final.zkey theirs.wtns p.json s.json')).toEqual(quiet);
  expect(await readText('s.json')).toBe(publicText);
  expect((await readText('p.json')).replaceAll(/[0-9]{60,}/g, '')).toBe(
    (await readText('proof.json')).replaceAll(/[0-9]{60,}/g, ''),
  );
});

it('checks and exports a witness as snarkjs does', async () => {
  await theirs('wtns calculate');
  expect(await ours('wtns check')).toEqual({ ...quiet, stdout: 'WITNESS IS CORRECT\n' });
  await theirs('wtns export json');
  const exported = await readText('witness.json');
  await rm(join(folder, 'witness.json'));
  expect(await ours('wtns export json')).toEqual(quiet);
  expect(await readText('witness.json')).toBe(exported);
  expect((await stat(join(folder, 'witness.json'))).mode & 0o777).toBe(0o600);

  const witness = await read('witness.wtns');
  witness[witness.length - 32] = (witness.at(-32) ?? 0) ^ 1;
  await writeFile(join(folder, 'wrong.wtns'), witness);
  expect(await theirs('wchk circuit.r1cs wrong.wtns')).toMatchObject({ code: 1 });
  expect(await ours('wchk circuit.r1cs wrong.wtns')).toMatchObject({
    code: 1,
    stdout: 'The witness does not satisfy constraint 3, counted from 0.\nWITNESS IS NOT CORRECT\n',
    stderr: '',
  });
  const refused = await call('g16p @/circuit_final.zkey @/wrong.wtns @/p.json @/s.json');
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^witness_refused: .*wtns check/),
  });
});

/** The command in this process. */
async function call(args: string): Promise<Ended> {
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += String(text);
      return true;
    }),
  );
  const words = args.split(' ').filter((arg) => arg !== '');
  const code = await runCommandLine(words.map((arg) => arg.replace('@', folder)));
  for (const spy of spies) {
    spy.mockRestore();
  }
  return { code, ...written };
}

it('takes aliases, any letter case and options with one dash, and prints JSON', async () => {
  const proof = '@/p.json @/s.json';
  const calculated = await call('WC @/circuit.wasm @/input.json @/w.wtns -verbose');
  expect(calculated).toEqual({ ...quiet, stderr: expect.stringContaining('w.wtns') });
  const proved = await call(
    `zksnark Proof @/circuit_final.zkey @/w.wtns ${proof} --json --key-cache-dir @/keys`,
  );
  expect(await readdir(join(folder, 'keys'))).toHaveLength(1);
  expect(JSON.parse(proved.stdout)).toEqual({
    proof: join(folder, 'p.json'),
    public: join(folder, 's.json'),
    seconds: expect.any(Number),
  });
  await call('zkev @/circuit_final.zkey @/key.json -protocol groth16');
  expect(await read('key.json')).not.toHaveLength(0);
  const verify = 'verify @/key.json @/s.json @/p.json';
  expect(await call(verify)).toEqual({ ...quiet, stdout: 'OK!\n' });
  await writeFile(join(folder, 's.json'), '["1","2","3"]');
  expect(await call(verify)).toEqual({ ...quiet, code: 1, stdout: 'Invalid proof\n' });
  expect(await call(`${verify} --json`)).toMatchObject({ code: 1, stdout: '{"valid":false}\n' });
  const missing = await call('g16v @/nowhere.json --json');
  expect(missing).toMatchObject({ code: 1, stderr: '' });
  expect(JSON.parse(missing.stdout)).toMatchObject({ error: { code: 'argument_invalid' } });
});

it('measures a circuit', async () => {
  const { stdout } = await ours('bench circuit.wasm circuit_final.zkey input.json --json');
  const runs = (count: number) => Array.from({ length: count }, () => expect.anything());
  expect(JSON.parse(stdout)).toMatchObject({
    circuit: { rows: 16, wires: expect.any(Number), publicSignals: 3 },
    first: { seconds: expect.any(Number), stages: { proof: expect.any(Number) } },
    warm: runs(5),
    cold: runs(3),
  });
});

describe('says what is wrong', () => {
  it.each<[string, string, number, RegExp]>([
    ['without a command', '', 99, /^A command is missing/],
    ['with a command of snarkjs only', 'plonk setup', 99, /^plonk is not a command/],
    ['with too many files', 'groth16 verify a b c d', 99, /^groth16 verify takes at most 3 files/],
    ['with an unknown option', 'groth16 verify --colour', 99, /--colour/],
    ['without a required file', 'bench circuit.wasm', 99, /needs the file <circuit\.zkey>/],
    ['with a missing input', 'g16f @/nowhere.json', 1, /^argument_invalid: .*nowhere\.json/],
    ['with a missing key', 'zkev @/nowhere.zkey', 1, /^artifact_unreadable: .*nowhere\.zkey/],
    ['with a key that is a program', 'zkev @/circuit.wasm', 1, /^zkey_malformed: /],
    ['with a witness that is a key', 'g16p @/circuit_final.zkey @/circuit_final.zkey', 1, /\.wtns/],
    [
      'with a key for constraints',
      'wchk @/circuit_final.zkey @/circuit.wasm',
      1,
      /^witness_malformed: /,
    ],
    ['with a proof for signals', 'zkesc @/input.json', 1, /does not contain an array/],
    ['with a folder that is missing', 'zkev @/circuit_final.zkey @/a/b.json', 1, /a\/b\.json/],
  ])('%s', async (_, args, code, message) => {
    expect(await call(args)).toEqual({ code, stdout: '', stderr: expect.stringMatching(message) });
  });

  it.each(['plonk setup --json', 'g16v --colour --json'])('as JSON: %s', async (args) => {
    const { code, stdout, stderr } = await call(args);
    expect([code, stderr]).toEqual([99, '']);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'argument_invalid' } });
  });

  it('in an input, and quotes nothing of it', async () => {
    await writeFile(join(folder, 'input.json'), '{"start": secret }');
    const { code, stderr } = await call('g16f @/input.json @/circuit.wasm @/circuit_final.zkey');
    expect(code).toBe(1);
    expect(stderr).toContain('input.json is not JSON');
    expect(stderr).not.toContain('secret');
    await writeFile(join(folder, 'input.json'), '{"start": 3}');
    const refused = await call('g16f @/input.json @/circuit.wasm @/circuit_final.zkey');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^witness_refused: /) });
  });
});

it('explains itself', async () => {
  const all = await call('--help');
  expect(all.code).toBe(0);
  expect(all.stdout).toContain('groth16 prove');
  expect(all.stdout).toContain('bench');
  const { stdout } = await call('g16v --help');
  expect(stdout).toMatch(
    /groth16 verify \[verification_key\.json\] \[public\.json\] \[proof\.json\]/,
  );
  expect(stdout).not.toContain('bench');
});
