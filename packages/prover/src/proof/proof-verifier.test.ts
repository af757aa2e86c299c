import { rm } from 'node:fs/promises';
import type { VerificationKey } from '@pool/kernels';
import { groth16, wtns } from 'snarkjs';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
} from '../../test/small-circuit.ts';
import type { Groth16Proof } from '../base/prover.ts';
import {
  createProofVerifier,
  type ProofVerifier,
  type ProofVerifierOptions,
} from './proof-verifier.ts';

const verifiers: ProofVerifier[] = [];
afterEach(async () => {
  await Promise.all(verifiers.splice(0).map((verifier) => verifier.close()));
});
const unavailable = { code: 'verifier_unavailable', retryable: true };

describe('a verifier with a thread of its own', () => {
  let circuit: SmallCircuit;
  let proof: Groth16Proof;
  beforeAll(async () => {
    circuit = await createSmallCircuit();
    const witness = { type: 'mem' as const };
    await wtns.calculate({ product: 391, a: 17, b: 23 }, circuit.wasm, witness);
    proof = (await groth16.prove(circuit.zkey, witness)).proof as Groth16Proof;
  });
  afterAll(async () => {
    await endSnarkjsThreads();
    await rm(circuit.folder, { recursive: true, force: true });
  });
  const open = (): ProofVerifier => {
    const verifier = createProofVerifier();
    verifiers.push(verifier);
    return verifier;
  };

  it('distinguishes a valid proof from others', async () => {
    const { verify } = open();
    const key = circuit.verificationKey;
    const answers = await Promise.all([
      verify(key, ['391'], proof),
      verify(key, ['392'], proof),
      verify(key, ['391'], { ...proof, pi_a: proof.pi_c }),
    ]);
    expect(answers).toEqual([true, false, false]);
  });

  it('refuses a malformed verification key', async () => {
    const key: VerificationKey = { ...circuit.verificationKey, IC: [] };
    await expect(open().verify(key, ['391'], proof)).rejects.toMatchObject({
      code: 'verification_key_malformed',
      retryable: false,
    });
  });

  it('leaves the caller’s thread free while it verifies', async () => {
    const { verify } = open();
    await verify(circuit.verificationKey, ['391'], proof);
    let turns = 0;
    const counter = setInterval(() => {
      turns += 1;
    }, 1);
    await Promise.all(
      Array.from({ length: 10 }, () => verify(circuit.verificationKey, ['391'], proof)),
    );
    clearInterval(counter);
    expect(turns).toBeGreaterThan(0);
  });
});

describe('a verifier in trouble', () => {
  const point = ['1', '2', '1'] as const;
  const twist = [
    ['1', '2'],
    ['3', '4'],
    ['1', '0'],
  ] as const;
  const proof: Groth16Proof = {
    pi_a: point,
    pi_b: twist,
    pi_c: point,
    protocol: 'groth16',
    curve: 'bn128',
  };
  const key: VerificationKey = {
    protocol: 'groth16',
    curve: 'bn128',
    nPublic: 1,
    vk_alpha_1: point,
    vk_beta_2: twist,
    vk_gamma_2: twist,
    vk_delta_2: twist,
    IC: [point, point],
  };
  function open(options: ProofVerifierOptions = {}) {
    const program = new URL('../../test/broken-verify-worker.ts', import.meta.url);
    const verifier = createProofVerifier(options, program);
    verifiers.push(verifier);
    return (order: string) => verifier.verify(key, [order], proof);
  }

  it('fails the call whose thread dies, and starts another thread for the next', async () => {
    const ask = open();
    await expect(ask('die')).rejects.toMatchObject(unavailable);
    expect(await ask('true')).toBe(true);
    expect(await ask('false')).toBe(false);
  });

  it('ends a thread that takes too long, and starts another for the next call', async () => {
    const ask = open({ timeoutMs: 60_000 });
    expect(await ask('true')).toBe(true);
    const late = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(late.signal);
    onTestFinished(() => timeout.mockRestore());
    const refused = expect(ask('hang')).rejects.toMatchObject(unavailable);
    expect(timeout.mock.calls).toEqual([[60_000]]);
    late.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    await refused;
    expect(await ask('true')).toBe(true);
  });

  it('refuses more calls than the maximum, and accepts calls again afterwards', async () => {
    const ask = open({ maximumCalls: 2 });
    const asked = await Promise.allSettled([ask('true'), ask('true'), ask('true')]);
    expect(asked.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(asked[2]).toMatchObject({ reason: unavailable });
    expect(await ask('true')).toBe(true);
  });
});
