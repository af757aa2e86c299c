// Every way in which a call of the package can fail, by the code that it fails with. A new code does not compile without a case here.
import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { VerificationKey } from '@pool/kernels';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { setUp } from '../../test/oracle-prover.ts';
import {
  type CompiledCircuit,
  compileCircuit,
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
} from '../../test/small-circuit.ts';
import { createProver, type ProverOptions } from '../create-prover.ts';
import { createMockProver } from '../proof/mock-prover.ts';
import { createProofVerifier } from '../proof/proof-verifier.ts';
import { fromSolidityProof, toSolidityProof } from '../proof/solidity-proof.ts';
import { verifyProof } from '../proof/verify-proof.ts';
import type { InputFile, OutputFile } from '../snarkjs/files.ts';
import { wtns } from '../snarkjs/wtns.ts';
import { openZkey, readVerificationKey } from '../zkey/open-zkey.ts';
import { ProverError, type ProverErrorCode } from './errors.ts';
import type { ArtifactSource, Groth16Proof } from './prover.ts';
import { createWorkerLink } from './worker-link.ts';

const endlessSource = `pragma circom 2.2.0;
template Endless() {
  signal input value;
  signal output out;
  var i = 0;
  while (i != value) {
    i += 2;
  }
  out <-- i;
  out * 1 === value;
}
component main = Endless();
`;

let circuit: SmallCircuit;
let endless: CompiledCircuit;
beforeAll(async () => {
  circuit = await createSmallCircuit();
  endless = await compileCircuit(endlessSource);
});
afterAll(async () => {
  await endSnarkjsThreads();
  await rm(circuit.folder, { recursive: true, force: true });
  await rm(endless.folder, { recursive: true, force: true });
});

const input = { product: 391, a: 17, b: 23 };

/** Proves with other fields than those of a request that succeeds. */
async function prove(change: object, options: ProverOptions = {}): Promise<unknown> {
  const prover = createProver<string>({ accelerator: 'cpu', threads: 1, ...options });
  try {
    return await prover.prove({ circuit, input, ...change });
  } finally {
    await prover.close();
  }
}

/** Proves with files other than the circuit's. */
function proveWith(artifact: object): Promise<unknown> {
  return prove({ circuit: { ...circuit, ...artifact } });
}

async function proveOnDevice(code?: ProverErrorCode): Promise<unknown> {
  const change = () => {
    throw new ProverError(code ?? 'proof_failed', 'failed on purpose');
  };
  const devices = code === undefined ? {} : { everyDevice: { change } };
  const { prover } = setUp({ accelerator: 'webgpu', ...devices });
  return await prover.prove({ circuit, input }).finally(() => prover.close());
}

async function writeCopy(name: string, contents: string | Uint8Array): Promise<string> {
  const path = join(circuit.folder, name);
  await writeFile(path, contents);
  return path;
}

function cyclicKey(): object {
  const IC: unknown[] = [];
  IC.push(IC);
  return { ...circuit.verificationKey, IC };
}

const proof: Groth16Proof = {
  pi_a: ['1', '2', '1'],
  pi_b: [
    ['1', '2'],
    ['3', '4'],
    ['1', '0'],
  ],
  pi_c: ['1', '2', '1'],
  protocol: 'groth16',
  curve: 'bn128',
};

async function verifyInThread(
  key: object,
  signal: string,
  options = {},
  program?: URL,
): Promise<unknown> {
  const verifier = createProofVerifier(options, program);
  const ask = () => verifier.verify(key as VerificationKey, [signal], proof);
  return await Promise.all([ask(), ask()]).finally(() => verifier.close());
}
const brokenVerifier = new URL('../../test/broken-verify-worker.ts', import.meta.url);

const cases: Readonly<Record<ProverErrorCode, Readonly<Record<string, () => unknown>>>> = {
  argument_invalid: {
    'an option out of range': () => createProver({ threads: 0 }),
    'an unknown accelerator': () => createProver({ accelerator: 'gpu' as 'cpu' }),
    'a verifier with a time limit of 0': () => createProofVerifier({ timeoutMs: 0 }),
    'a verifier that takes no calls': () => createProofVerifier({ maximumCalls: 0 }),
    'no request': () => proveNothing(),
    'a request without a circuit': () => prove({ circuit: undefined }),
    'a circuit without files': () => prove({ circuit: {} }),
    'a proving key that is a number': () => proveWith({ zkey: 7 }),
    'a proving key by FTP': () => proveWith({ zkey: new URL('ftp://localhost/a.zkey') }),
    'a witness beside an input': () => prove({ witness: new Uint8Array() }),
    'a witness for the name of a circuit': () =>
      prove({ circuit: 'small', input: undefined, witness: new Uint8Array() }),
    'a signal of another type': () => prove({ signal: {} }),
    'a callback of another type': () => prove({ onProgress: 'log' }),
    'a name without an artifact source': () => prove({ circuit: 'small' }),
    'an artifact source that finds nothing': () =>
      prove({ circuit: 'small' }, { artifacts: { ensureArtifacts: findNothing } }),
    'a verification key with a function': () =>
      proveWith({ verificationKey: { ...circuit.verificationKey, toString: () => 'key' } }),
    'a proving key of another type': () => readVerificationKey(7 as never),
    'a coordinate that is not a number': () => toSolidityProof({ ...proof, pi_a: ['x', '2', '1'] }),
    'a proof without points': () => toSolidityProof({} as never),
    'calldata without points': () => fromSolidityProof({} as never),
    'calldata of other words': () => fromSolidityProof({ a: ['x', 'y'] } as never),
  },
  r1cs_malformed: {
    'a constraint file that is a key': async () => {
      const witness: OutputFile = { type: 'mem' };
      await wtns.calculate(input, circuit.wasm, witness);
      await wtns.check(circuit.zkey, witness as InputFile);
    },
  },
  accelerator_unavailable: { 'no device': () => proveOnDevice() },
  accelerator_lost: { 'a device that goes away': () => proveOnDevice('accelerator_lost') },
  accelerator_refused: { 'a device that fails': () => proveOnDevice('accelerator_refused') },
  accelerator_limit_exceeded: {
    'a device that is too small': () => proveOnDevice('accelerator_limit_exceeded'),
  },
  runtime_unsupported: {
    'a Node that is too old': () => {
      vi.stubGlobal('process', { versions: { node: '20.20.2' } });
      try {
        createProver();
      } finally {
        vi.unstubAllGlobals();
      }
    },
    'a Node that is a little too old': async () => {
      vi.stubGlobal('process', { versions: { node: '22.17.1' } });
      try {
        await readVerificationKey(circuit.zkey);
      } finally {
        vi.unstubAllGlobals();
      }
    },
    'a verifier in a Node that is too old': () => {
      vi.stubGlobal('process', { versions: { node: '20.20.2' } });
      try {
        createProofVerifier();
      } finally {
        vi.unstubAllGlobals();
      }
    },
  },
  prover_closed: {
    'a proof after close': async () => {
      const prover = createProver({ accelerator: 'cpu' });
      await prover.close();
      await prover.prove({ circuit, input });
    },
    'a start after close': async () => {
      const prover = createProver({ accelerator: 'cpu' });
      await prover.close();
      await prover.ready();
    },
    'a verification after close': async () => {
      const verifier = createProofVerifier();
      await verifier.close();
      await verifier.verify(circuit.verificationKey, ['391'], proof);
    },
  },
  proof_aborted: {
    'a signal that is aborted before': () => prove({ signal: AbortSignal.abort('enough') }),
    'a signal that is aborted during the proof': () => {
      const abort = new AbortController();
      return prove({ signal: abort.signal, onProgress: () => abort.abort('enough') });
    },
    'a callback that throws text': () =>
      prove({
        onProgress: () => {
          AbortSignal.abort('text').throwIfAborted();
        },
      }),
  },
  witness_refused: {
    'an input that does not satisfy the circuit': () => prove({ input: { ...input, a: 18 } }),
    'an input that is not an object': () => prove({ input: undefined }),
    'an input with a function': () => prove({ input: { ...input, a: () => 17 } }),
  },
  witness_timeout: {
    'a program that does not end': () =>
      prove(
        { circuit: { ...circuit, wasm: endless.wasm }, input: { value: 1 } },
        { witnessTimeoutMs: 200 },
      ),
  },
  witness_program_malformed: {
    'a program that is text': async () =>
      proveWith({ wasm: await writeCopy('text.wasm', 'no program') }),
  },
  witness_malformed: {
    'a witness that is text': async () =>
      prove({ input: undefined, witness: await writeCopy('text.wtns', 'no witness') }),
  },
  zkey_malformed: {
    'a proof with a key that is text': async () =>
      proveWith({ zkey: await writeCopy('text.zkey', 'no key') }),
    'a verification key from text': async () =>
      readVerificationKey(await writeCopy('text.zkey', 'no key')),
    'a verification key from no bytes': () => readVerificationKey(new Uint8Array()),
    'a key that becomes shorter while it is open': async () => {
      const path = await writeCopy('short.zkey', await readFile(circuit.zkey));
      const zkey = await openZkey(path);
      await truncate(path, 1_000);
      await zkey.readPoints('a', 0, 1, new Uint8Array(64)).finally(() => zkey.close());
    },
  },
  artifacts_mismatch: {
    'a verification key of another circuit': () =>
      proveWith({
        verificationKey: {
          ...circuit.verificationKey,
          IC: circuit.verificationKey.IC.toReversed(),
        },
      }),
  },
  memory_budget_exceeded: {
    'a key larger than the budget': () => prove({}, { memoryBudgetBytes: 1 }),
  },
  artifact_unreadable: {
    'a proving key that is missing': () => proveWith({ zkey: '/nowhere.zkey' }),
    'a proving key that is a folder': () => proveWith({ zkey: circuit.folder }),
    'a witness program that is missing': () => proveWith({ wasm: '/nowhere.wasm' }),
    'a path with a zero byte': () => proveWith({ zkey: 'a\0b' }),
    'a verification key from a missing file': () => readVerificationKey('/nowhere.zkey'),
    'a verification key from a folder': () => readVerificationKey(circuit.folder),
  },
  proof_failed: {
    'kernels that cannot start': () =>
      createProver({ accelerator: 'cpu', memoryBudgetBytes: 1 }).ready(),
    'a thread that dies': () =>
      callThread(new URL('../../test/link-worker.ts', import.meta.url), 'exit'),
    'a thread that Node refuses to start': () => callThread('relative.ts' as never, 'answer'),
  },
  verifier_unavailable: {
    'too many calls': () => verifyInThread(circuit.verificationKey, '391', { maximumCalls: 1 }),
    'a thread that dies': () => verifyInThread(circuit.verificationKey, 'die', {}, brokenVerifier),
    'a thread that takes too long': () =>
      verifyInThread(circuit.verificationKey, 'hang', { timeoutMs: 200 }, brokenVerifier),
  },
  verification_key_malformed: {
    'no key': () => verifyProof(undefined as never, ['391'], proof),
    'a key of another shape, to prove': () => proveWith({ verificationKey: {} }),
    'a key that contains itself, to prove': () => proveWith({ verificationKey: cyclicKey() }),
    'a key that contains itself': () => verifyProof(cyclicKey() as never, ['391'], proof),
    'a key that JSON cannot write': () =>
      verifyProof({ ...circuit.verificationKey, extra: 1n } as never, ['391'], proof),
    'a key of another shape, in a thread': () => verifyInThread({}, '391'),
  },
  thread_file_missing: {
    'a thread whose module is missing': () =>
      callThread(new URL('./no-such-worker.ts', import.meta.url), 'answer'),
  },
  prover_mock: { 'a proof by a mock': () => createMockProver().prove({ circuit, input }) },
};

const findNothing = (() =>
  Promise.resolve(undefined)) as never as ArtifactSource['ensureArtifacts'];

async function proveNothing(): Promise<unknown> {
  const prover = createProver({ accelerator: 'cpu' });
  return await prover.prove(undefined as never).finally(() => prover.close());
}

async function callThread(program: URL, request: string): Promise<unknown> {
  const link = createWorkerLink<string, unknown>(program);
  return await link.call(request).finally(() => link.close());
}

describe.each(Object.entries(cases))('a ProverError %s is thrown for', (code, provocations) => {
  it.each(Object.entries(provocations))('%s', async (_, provoke) => {
    const error: unknown = await Promise.resolve()
      .then(provoke)
      .then(
        () => undefined,
        (reason: unknown) => reason,
      );
    expect(error).toBeInstanceOf(ProverError);
    expect(error).toMatchObject({ code, retryable: expect.any(Boolean) });
  });
});

it('an Error of the caller’s own callback passes through unchanged', async () => {
  const own = new Error('from the callback');
  const onProgress = () => {
    throw own;
  };
  await expect(prove({ onProgress })).rejects.toBe(own);
});
