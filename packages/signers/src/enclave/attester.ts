/**
 * Who vouches for the code of an enclave. Inside a real enclave it is the host's secure module; everywhere else it is a development root,
 * which every verifier refuses unless it was told to accept it.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { bytesToHex, PoolError } from '@pool/core';
import {
  areBytesEqual,
  parseAttestationDocument,
  parseCoseSign1,
} from '../attestation/attestation-document.ts';
import {
  type AttestationRequest,
  createDevelopmentAttestation,
  type DevelopmentRoot,
} from '../attestation/development-attestation.ts';

export type Attester = {
  /** @returns an attestation document (COSE_Sign1) with these values. @throws PoolError `enclave_not_attested` */
  attest(request: AttestationRequest): Uint8Array;
};

/** @param nowMs - clock, milliseconds since the epoch */
export function createDevelopmentAttester(root: DevelopmentRoot, nowMs: () => number): Attester {
  return { attest: (request) => createDevelopmentAttestation(root, request, nowMs()) };
}

/**
 * The time by the module's clock, which the enclave's host does not set. A document of an earlier question has another nonce.
 * @returns milliseconds since the epoch; undefined: the module gives no document
 */
export function readModuleTime({ attest }: Attester, publicKey: Uint8Array): number | undefined {
  const nonce = Uint8Array.from(randomBytes(32));
  try {
    const { payload } = parseCoseSign1(attest({ nonce, publicKey }));
    const document = parseAttestationDocument(payload);
    const isAnswer = document.nonce !== undefined && areBytesEqual(document.nonce, nonce);
    return isAnswer ? document.timestampMs : undefined;
  } catch {
    // Whatever failed, the time is unknown.
    return undefined;
  }
}

const maxDocumentBytes = 16_384;

/**
 * The secure module of a real enclave, through a helper program: Node cannot make the ioctl call of `/dev/nsm` itself. The program gets the
 * nonce, the public key and the user data as hex in three arguments, and writes the document to its standard output.
 *
 * Not tested on hardware (docs/operations/enclave.md).
 * @param program - path of the helper inside the measured image
 */
export function createHardwareAttester(program: string): Attester {
  return {
    attest({ nonce, publicKey, userData = new Uint8Array() }) {
      const values = [nonce, publicKey, userData].map((bytes) => bytesToHex(bytes));
      const { status, stdout } = spawnSync(program, values, {
        timeout: 10_000,
        maxBuffer: maxDocumentBytes,
        // Nothing of this process is inherited: no variable, no input.
        env: {},
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      if (status !== 0 || stdout.length === 0) {
        throw new PoolError(
          'enclave_not_attested',
          `the attestation helper ${program} made no document`,
        );
      }
      return Uint8Array.from(stdout);
    },
  };
}
