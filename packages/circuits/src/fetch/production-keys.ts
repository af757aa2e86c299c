/**
 * Production keys from `pool-circuits fetch`: files of a ceremony, returned only while their bytes are those that the published
 * manifest pins (protocol §9).
 *
 * Attacks prevented here: a key that was replaced on disk; in production, a manifest of development keys, or of keys that were
 * started from the development setup's public secrets; a key without contributions, or with only a beacon, whose factor is
 * public.
 *
 * @module
 */
import { existsSync, readFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type CircuitName,
  circuitShapes,
  type ErrorCode,
  isPoolError,
  type PeerCode,
  PoolError,
  peerCode,
} from '@pool/core';
import { isSameVerificationKey, type VerificationKey } from '@pool/kernels';
import { artifactFiles, type BuildOptions } from '../artifacts/build-artifacts.ts';
import { isProduction } from '../artifacts/config.ts';
import { computeDigest, computeFileDigest } from '../artifacts-manifest.ts';
import { exportVerificationKey } from '../ceremony/key/export-verifier.ts';
import { verificationKeys } from '../generated/verification-keys.ts';
import { type FetchedKind, type PinnedDigests, parsePinnedDigests } from './pinned-digests.ts';

// Checks the ceremony that a fetched proving key records: it has a secret contribution, nothing follows the beacon, and the
// verification key beside it belongs to it. The publisher verified the key against circuit and powers of tau (`pool-circuits
// ceremony verify`). This check detects a key that was published without verification.

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
async function checkFetchedCeremony(
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
  if (!isSameVerificationKey(own, verificationKey)) {
    throw refuse(
      circuit,
      'artifact_mismatch',
      'The verification key in the same folder belongs to another proving key.',
    );
  }
}

/** Everything a prover needs, by absolute path. Public. */
export type ProductionArtifacts = {
  readonly circuit: CircuitName;
  /** Notes that the circuit creates. */
  readonly size: number;
  readonly wasm: string;
  /** The proving key in its standard form. */
  readonly zkey: string;
  readonly verificationKey: VerificationKey;
};

export type ProductionKeys = {
  /** Circuits that the manifest pins. */
  readonly circuits: readonly CircuitName[];
  /**
   * Checks the existing keys without reading them completely. Refuses keys under which anyone could forge proofs. For the start
   * of a process; `ensureArtifacts` checks again before each use.
   * @throws PoolError like `ensureArtifacts`, except `artifact_missing`: files of unused circuits may be missing
   */
  readonly checkKeys: () => Promise<void>;
  /**
   * A circuit's files, each compared with the manifest in this call.
   * @throws PoolError `artifact_mismatch`, `artifact_missing`, `artifact_refused`; like `readVerificationKey`; with a code of
   *   `checkFetchedCeremony` if the proving key records no secret contribution, or anything after a beacon
   */
  readonly ensureArtifacts: (
    circuit: CircuitName,
    options?: BuildOptions,
  ) => Promise<ProductionArtifacts>;
  /**
   * A circuit's verification key, compared with the manifest in this call.
   * @throws PoolError `artifact_mismatch`, `artifact_missing`, `artifact_refused`; `no_contribution`; `insecure_dev_setup` in
   *   production
   */
  readonly readVerificationKey: (circuit: CircuitName) => Promise<VerificationKey>;
};

function readManifest(path: string): ReadonlyMap<CircuitName, PinnedDigests> {
  let json: string;
  try {
    json = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new PoolError(
      'invalid_option',
      `The manifest of production keys ${path} cannot be read.`,
      {
        cause,
      },
    );
  }
  return parsePinnedDigests(json);
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/**
 * True if a key shares a secret with the development setup, whose secrets are public. A later contribution only changes delta.
 */
function isOfDevSetup(key: VerificationKey): boolean {
  return Object.values(verificationKeys).some((dev) =>
    (['vk_alpha_1', 'vk_beta_2', 'vk_delta_2'] as const).some((part) =>
      isSame(key[part], dev[part]),
    ),
  );
}

function checkKey(circuit: CircuitName, key: VerificationKey): void {
  if (isSame(key.vk_delta_2, key.vk_gamma_2)) {
    throw new PoolError(
      'no_contribution',
      `Nobody contributed to the key of ${circuit}: anyone can forge proofs under it. Fetch the keys of a finished ceremony.`,
    );
  }
  if (isProduction() && isOfDevSetup(key)) {
    throw new PoolError(
      'insecure_dev_setup',
      `The key of ${circuit} comes from the development setup. Anyone can forge proofs under it, so it is refused in production. Fetch the keys of a ceremony with their own manifest.`,
    );
  }
}

/**
 * Reads the manifest. Files are read when they are requested.
 * @param options.folder the folder of `pool-circuits fetch --out`
 * @param options.manifest path of the manifest that was published with the keys
 * @throws PoolError `invalid_option`, `artifact_malformed`
 */
export function openProductionKeys(options: {
  readonly folder: string;
  readonly manifest: string;
}): ProductionKeys {
  const folder = resolve(options.folder);
  const pinned = readManifest(options.manifest);

  const pinnedOf = (circuit: CircuitName): PinnedDigests => {
    const digests = pinned.get(circuit);
    if (digests === undefined) {
      throw new PoolError(
        'artifact_mismatch',
        `The manifest of production keys does not pin ${circuit}. Use a manifest that does, or send smaller batches.`,
      );
    }
    return digests;
  };
  const pathOf = (circuit: CircuitName, kind: FetchedKind): string =>
    join(folder, circuit, artifactFiles[kind]);
  /** The path of a file that exists. */
  const locate = (circuit: CircuitName, kind: FetchedKind): string => {
    const path = pathOf(circuit, kind);
    if (!existsSync(path)) {
      throw new PoolError(
        'artifact_missing',
        `There is no file ${path}. Fetch it with \`pool-circuits fetch\`.`,
      );
    }
    return path;
  };
  const compare = (path: string, actual: string, expected: string): void => {
    if (actual !== expected) {
      throw new PoolError(
        'artifact_refused',
        `${path} is not the file that the manifest pins. Fetch it again and find out who changed it.`,
      );
    }
  };

  const readVerificationKey: ProductionKeys['readVerificationKey'] = async (circuit) => {
    const expected = pinnedOf(circuit).verificationKey;
    const path = locate(circuit, 'verificationKey');
    const json = await readFile(path, 'utf8');
    compare(path, computeDigest(json), expected);
    // The file was compared with the manifest just before.
    const key = JSON.parse(json) as VerificationKey;
    checkKey(circuit, key);
    return key;
  };

  /** Digests of proving keys whose ceremony was found valid. The contents behind a digest never change. */
  const sound = new Set<string>();
  const checkCeremony = async (
    circuit: CircuitName,
    path: string,
    verificationKey: VerificationKey,
  ): Promise<void> => {
    // Development keys record no contribution. `checkKey` has already refused them where they must not be used.
    if (!isOfDevSetup(verificationKey)) {
      await checkFetchedCeremony(circuit, path, verificationKey);
    }
  };

  return {
    circuits: [...pinned.keys()],
    readVerificationKey,
    checkKeys: async () => {
      for (const circuit of pinned.keys()) {
        const isThere = (['verificationKey', 'zkey'] as const).every((kind) =>
          existsSync(pathOf(circuit, kind)),
        );
        if (isThere) {
          const verificationKey = await readVerificationKey(circuit);
          await checkCeremony(circuit, pathOf(circuit, 'zkey'), verificationKey);
        }
      }
    },
    ensureArtifacts: async (circuit, { signal, onProgress } = {}) => {
      const digests = pinnedOf(circuit);
      const verificationKey = await readVerificationKey(circuit);
      const check = async (kind: FetchedKind): Promise<string> => {
        signal?.throwIfAborted();
        onProgress?.('verify', 0);
        const path = locate(circuit, kind);
        compare(path, await computeFileDigest(path), digests[kind]);
        return path;
      };
      const wasm = await check('wasm');
      const zkey = await check('zkey');
      if (!sound.has(digests.zkey)) {
        await checkCeremony(circuit, zkey, verificationKey);
        sound.add(digests.zkey);
      }
      onProgress?.('ready', 1);
      return { circuit, size: circuitShapes[circuit].outputs, wasm, zkey, verificationKey };
    },
  };
}
