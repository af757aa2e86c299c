/**
 * Checks the ceremony that a fetched proving key records: it has a secret contribution, nothing follows the beacon, and the
 * verification key beside it belongs to it. The publisher verified the key against circuit and powers of tau (`pool-circuits
 * ceremony verify`). This check detects a key that was published without verification.
 *
 * @module
 */
import { open } from 'node:fs/promises';
import type { CircuitName } from '@pool/core';
import { type ErrorCode, isPoolError, type PeerCode, PoolError, peerCode } from '@pool/core';
import type { VerificationKey } from '@pool/kernels';
import { exportVerificationKey } from '../ceremony/key/export-verifier.ts';

const parts = ['vk_alpha_1', 'vk_beta_2', 'vk_gamma_2', 'vk_delta_2', 'IC'] as const;

/** First bytes of a proving key in the standard form, and in the compact form, which no ceremony writes. */
const heads = ['zkey', 'pzky'];

/** True if it starts like a proving key. A prover refuses everything else. */
async function isProvingKey(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const head = Buffer.alloc(4);
    await handle.read(head, 0, head.length, 0);
    return heads.includes(head.toString('latin1'));
  } finally {
    await handle.close();
  }
}

function refuse(
  circuit: CircuitName,
  code: ErrorCode | PeerCode,
  what: string,
  cause?: unknown,
): PoolError {
  return new PoolError(
    code,
    `The proving key of ${circuit} is refused. ${what} Fetch the keys of a finished ceremony with their own manifest.`,
    { status: 500, cause },
  );
}

/**
 * Checks the ceremony that a proving key records.
 * @throws PoolError with the codes of `exportVerificationKey`; `artifact_mismatch` if the verification key is another key's
 */
export async function checkFetchedCeremony(
  circuit: CircuitName,
  path: string,
  verificationKey: VerificationKey,
): Promise<void> {
  if (!(await isProvingKey(path))) {
    return;
  }
  const own = await exportVerificationKey(path).catch((error: unknown) => {
    throw isPoolError(error) ? refuse(circuit, peerCode(error.code), error.message, error) : error;
  });
  if (parts.some((part) => JSON.stringify(own[part]) !== JSON.stringify(verificationKey[part]))) {
    throw refuse(
      circuit,
      'artifact_mismatch',
      'The verification key in the same folder belongs to another proving key.',
    );
  }
}
