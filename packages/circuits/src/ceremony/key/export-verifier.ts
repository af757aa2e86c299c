/**
 * The verification key of a proving key, as JSON in snarkjs' shape and as a Solidity contract on top of packages/contracts'
 * Groth16Verifier.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { PoolError } from '@pool/core';
import type { G1Json, G2Json, VerificationKey } from '@pool/kernels';
import { keySections, openKeyFile } from '../files/key-file.ts';
import { malformedFile } from '../files/section-file.ts';
import { readRecord } from '../files/transcript.ts';
import { decodeG1, decodeG2, findInvalidPoint, pointBytes } from '../points/points.ts';
import { createKeyError } from './contribution-rules.ts';
import { isSoundG1, isSoundG2 } from './verify-contributions.ts';
import { findTranscriptProblems } from './verify-transcript.ts';

type PairingJson = readonly (readonly (readonly [string, string])[])[];

/** snarkjs writes e(alpha, beta) too; verifiers may use it instead of pairing again. */
export type ExportedVerificationKey = VerificationKey & { readonly vk_alphabeta_12: PairingJson };

function toG1Json(bytes: Uint8Array): G1Json {
  const { x, y } = decodeG1(bytes).toAffine();
  return [String(x), String(y), '1'];
}

function toG2Json(bytes: Uint8Array): G2Json {
  const { x, y } = decodeG2(bytes).toAffine();
  return [
    [String(x.c0), String(x.c1)],
    [String(y.c0), String(y.c1)],
    ['1', '0'],
  ];
}

function computePairing(alpha1: Uint8Array, beta2: Uint8Array): PairingJson {
  const { c0, c1 } = bn254.pairing(decodeG1(alpha1), decodeG2(beta2));
  return [c0, c1].map((half) =>
    [half.c0, half.c1, half.c2].map((part) => [String(part.c0), String(part.c1)] as const),
  );
}

/**
 * Reads the verification key out of a proving key, if the ceremony that the key records is sound. Its sections are not compared with
 * circuit and powers of tau, and a beacon is not computed again: `verifyKey` does both.
 * @throws PoolError `invalid_option`, `zkey_malformed`; with the first code of `findTranscriptProblems`, for example
 *   `no_contribution`
 */
export async function exportVerificationKey(path: string): Promise<ExportedVerificationKey> {
  const { file, header } = await openKeyFile(path);
  try {
    const record = await readRecord(file);
    // A beacon is not secret, so security does not depend on its factor here.
    const [problem] = await findTranscriptProblems(header, record, { checkBeacon: false });
    if (problem !== undefined) {
      throw createKeyError(problem);
    }
    const id = keySections.publicWires;
    const points = await file.read(id, 0, file.sizeOf(id));
    const { alpha1, beta2, gamma2, delta2 } = header;
    if (
      findInvalidPoint('g1', points, 'refused') !== undefined ||
      !isSoundG1(alpha1) ||
      ![beta2, gamma2, delta2].every(isSoundG2)
    ) {
      throw malformedFile('zkey', 'a point of its verification key is not in its group');
    }
    const size = pointBytes.g1;
    return {
      protocol: 'groth16',
      curve: 'bn128',
      nPublic: header.publicSignals,
      vk_alpha_1: toG1Json(alpha1),
      vk_beta_2: toG2Json(beta2),
      vk_gamma_2: toG2Json(gamma2),
      vk_delta_2: toG2Json(delta2),
      vk_alphabeta_12: computePairing(alpha1, beta2),
      IC: Array.from({ length: points.length / size }, (_, i) =>
        toG1Json(points.subarray(i * size, (i + 1) * size)),
      ),
    };
  } finally {
    await file.close();
  }
}

function word(value: string): string {
  return `0x${BigInt(value).toString(16).padStart(64, '0')}`;
}

/**
 * The contract of a circuit's verifier, for packages/contracts/solidity/generated. Unlike the contracts of development keys, it
 * does not check the chain.
 * @param names circuit for the comment, contract for Solidity
 * @throws PoolError `invalid_option` unless there are three public inputs;
 */
export function renderSolidityVerifier(
  key: VerificationKey,
  names: { readonly circuit: string; readonly contract: string },
): string {
  if (key.nPublic !== 3) {
    throw new PoolError(
      'invalid_option',
      `The contract takes three public inputs; this circuit has ${key.nPublic}.`,
    );
  }
  if (!/^[A-Za-z_]\w{0,63}$/.test(names.contract) || !/^[\w-]{1,64}$/.test(names.circuit)) {
    throw new PoolError(
      'invalid_option',
      'Circuit and contract names have letters, digits, - (circuit) and _.',
    );
  }
  // EIP-197 puts the imaginary part first, the JSON has the real part first.
  const g2 = ([x, y]: G2Json): string[] => [x[1], x[0], y[1], y[0]];
  const parts: [string, readonly string[]][] = [
    ['alpha', key.vk_alpha_1.slice(0, 2)],
    ['beta', g2(key.vk_beta_2)],
    ['gamma', g2(key.vk_gamma_2)],
    ['delta', g2(key.vk_delta_2)],
    ...key.IC.map((point, i): [string, readonly string[]] => [`IC_${i}`, point.slice(0, 2)]),
  ];
  let index = 0;
  const lines = parts.flatMap(([name, coordinates]) => [
    `            // ${name}`,
    ...coordinates.map((value) => `            mstore(add(key, ${32 * index++}), ${word(value)})`),
  ]);
  return `// SPDX-License-Identifier: MIT
// Generated by pool-circuits ceremony export-verifier. Do not edit.
pragma solidity ^0.8.28;

import {Groth16Verifier} from "../Groth16Verifier.sol";

/// @title Verifier of the circuit ${names.circuit}.
contract ${names.contract} is Groth16Verifier {
    function _verificationKey() internal pure override returns (uint256[22] memory key) {
        // 22 words of the array that Solidity allocated. Plain stores save 1,400 gas of index arithmetic.
        assembly ("memory-safe") {
${lines.join('\n')}
        }
    }
}
`;
}
