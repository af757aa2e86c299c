// A verification key whose secrets are known here, so that a proof for any public signals takes a millisecond instead of seconds. The
// platform verifies it like any other proof, so its work is measured and not a prover's. Written like the keys of a ceremony.
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { circuitNames } from '@pool/core';
import { createKernels, type Group } from '@pool/kernels';
import {
  type G1Json,
  type G2Json,
  type SolidityProof,
  toSolidityProof,
  type VerificationKey,
} from '@pool/prover';

/** r and q of BN254. */
const order = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const prime = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;

function modulo(value: bigint, modulus: bigint): bigint {
  return ((value % modulus) + modulus) % modulus;
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [result, square] = [1n, base];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

function invert(value: bigint, modulus: bigint): bigint {
  return power(value, modulus - 2n, modulus);
}
function drawScalar(): bigint {
  return modulo(BigInt(`0x${randomBytes(40).toString('hex')}`), order);
}

export interface TrapdoorKeys {
  /** For the platform's process. */
  readonly environment: Readonly<Record<string, string>>;
  prove(signals: readonly bigint[]): Promise<SolidityProof>;
  close(): Promise<void>;
}

/** @param folder - the folder for key and manifest */
export async function createTrapdoorKeys(folder: string): Promise<TrapdoorKeys> {
  const kernels = await createKernels({ threads: 1, maximumBytes: 64 * 1024 * 1024 });
  const [alpha, beta, gamma, delta] = [drawScalar(), drawScalar(), drawScalar(), drawScalar()];
  const inputs = [drawScalar(), drawScalar(), drawScalar(), drawScalar()];

  async function multiply(group: Group, scalar: bigint): Promise<bigint[]> {
    const hex = modulo(scalar, order).toString(16).padStart(64, '0');
    const bytes = await kernels.multiplyGenerator(group, Buffer.from(hex, 'hex').reverse());
    const scale = invert(modulo(1n << 256n, prime), prime);
    return Array.from({ length: bytes.length / 32 }, (_, place) => {
      const word = Buffer.from(bytes.slice(32 * place, 32 * place + 32)).reverse();
      return (BigInt(`0x${word.toString('hex')}`) * scale) % prime;
    });
  }
  async function g1(scalar: bigint): Promise<G1Json> {
    const [x = 0n, y = 0n] = await multiply('g1', scalar);
    return [x.toString(), y.toString(), '1'];
  }
  async function g2(scalar: bigint): Promise<G2Json> {
    const [x0 = 0n, x1 = 0n, y0 = 0n, y1 = 0n] = await multiply('g2', scalar);
    return [
      [x0.toString(), x1.toString()],
      [y0.toString(), y1.toString()],
      ['1', '0'],
    ];
  }

  const key: VerificationKey = {
    protocol: 'groth16',
    curve: 'bn128',
    nPublic: inputs.length - 1,
    vk_alpha_1: await g1(alpha),
    vk_beta_2: await g2(beta),
    vk_gamma_2: await g2(gamma),
    vk_delta_2: await g2(delta),
    IC: await Promise.all(inputs.map(g1)),
  };
  return {
    environment: writeKeys(folder, JSON.stringify(key)),
    async prove(signals) {
      const [a, b] = [drawScalar(), drawScalar()];
      const sum = [1n, ...signals].reduce(
        (total, signal, place) => total + signal * (inputs[place] ?? 0n),
        0n,
      );
      const c = (a * b - alpha * beta - sum * gamma) * invert(delta, order);
      const [pi_a, pi_b, pi_c] = [await g1(a), await g2(b), await g1(c)];
      return toSolidityProof({ pi_a, pi_b, pi_c, protocol: 'groth16', curve: 'bn128' });
    },
    close: () => kernels.close(),
  };
}

function writeKeys(folder: string, key: string): Readonly<Record<string, string>> {
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
  const absent = digest('not there');
  const sha256 = { r1cs: absent, wasm: absent, zkey: absent, verificationKey: digest(key) };
  const manifest = join(folder, 'production.json');
  for (const circuit of circuitNames) {
    mkdirSync(join(folder, circuit), { recursive: true });
    writeFileSync(join(folder, circuit, 'verification-key.json'), key);
  }
  const entries = circuitNames.map((circuit) => [circuit, { sha256 }]);
  writeFileSync(manifest, JSON.stringify({ circuits: Object.fromEntries(entries) as object }));
  return { PLATFORM_ARTIFACTS_DIR: folder, PLATFORM_ARTIFACTS_MANIFEST: manifest };
}
