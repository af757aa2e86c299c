/**
 * `pool-circuits ceremony …`: the commands of a ceremony (docs/operations/ceremony.md).
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { PoolError } from '@pool/core';
import { computeFileDigest } from '../artifacts-manifest.ts';
import { writeFileAtomically } from '../ceremony/files/section-writer.ts';
import { applyBeacon, contributeToKey } from '../ceremony/key/contribute.ts';
import { exportVerificationKey, renderSolidityVerifier } from '../ceremony/key/export-verifier.ts';
import { initialiseKey } from '../ceremony/key/initialise.ts';
import { createKernelArithmetic, type PointArithmetic } from '../ceremony/points/point-sums.ts';
import { verifyKey } from '../ceremony/verify/verify-key.ts';
import { type Call, command, UsageError } from './command-io.ts';

const mostEntropyBytes = 1 << 20;

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** A name from a file that another party wrote. Control characters must not reach the terminal. */
function printable(name: string | undefined): string {
  return (name ?? '').replace(/\p{C}/gu, '?');
}

async function readEntropy(path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined) {
    return undefined;
  }
  const handle = await open(path, 'r').catch((cause: unknown) => {
    throw new PoolError(
      'invalid_option',
      'The entropy file cannot be opened. Check its path and permissions.',
      { cause },
    );
  });
  try {
    const bytes = Buffer.alloc(mostEntropyBytes);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, null);
    if (bytesRead === 0) {
      throw new PoolError('invalid_option', 'The entropy file is empty.');
    }
    return bytes.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** A command of a ceremony. Its point arithmetic is closed when it ends. */
function ceremony<Required extends string, Optional extends string>(
  required: readonly Required[],
  optional: readonly Optional[],
  run: (
    call: Call<Required, Optional>,
    options: Omit<Call<never, never>, 'values' | 'answer'> & {
      readonly arithmetic: PointArithmetic;
    },
  ) => Promise<number>,
) {
  return command(required, optional, ['force', 'json'], async (call) => {
    const arithmetic = await createKernelArithmetic();
    try {
      const { force, signal, onProgress } = call;
      return await run(call, { force, signal, onProgress, arithmetic });
    } finally {
      await arithmetic.close();
    }
  });
}

function readDigest(text: string | undefined): string | undefined {
  const digest = text?.toLowerCase();
  if (digest !== undefined && !/^[0-9a-f]{64}$/.test(digest)) {
    throw new UsageError('--ptau-sha256 must be 64 hex digits');
  }
  return digest;
}

const init = ceremony(
  ['r1cs', 'ptau', 'out'],
  ['ptau-sha256'],
  async ({ values, answer }, options) => {
    const ptauSha256 = readDigest(values['ptau-sha256']);
    const { circuitHash } = await initialiseKey(values, { ...options, ptauSha256 });
    const hash = toHex(circuitHash);
    return answer({ circuitHash: hash }, `circuit hash ${hash}\n`);
  },
);

const contribute = ceremony(
  ['in', 'out'],
  ['name', 'entropy-file'],
  async ({ values, answer }, options) => {
    const entropy = await readEntropy(values['entropy-file']);
    try {
      const own = { ...options, name: values.name, entropy };
      const { contributionHash, number } = await contributeToKey(values, own);
      const hash = toHex(contributionHash);
      return answer({ contribution: number, hash }, `contribution ${number}\nhash ${hash}\n`);
    } finally {
      entropy?.fill(0);
    }
  },
);

const beacon = ceremony(
  ['in', 'out', 'beacon', 'iterations'],
  ['name'],
  async ({ values, answer }, options) => {
    const hex = values.beacon.replace(/^0x/, '');
    if (!/^([0-9a-fA-F]{2})+$/.test(hex) || !/^\d{1,2}$/.test(values.iterations)) {
      throw new UsageError('--beacon must be whole bytes as hex, --iterations an exponent of two');
    }
    const { contributionHash, number } = await applyBeacon(
      values,
      { value: Buffer.from(hex, 'hex'), exponent: Number(values.iterations) },
      { ...options, name: values.name },
    );
    const hash = toHex(contributionHash);
    return answer(
      { contribution: number, hash },
      `beacon is contribution ${number}\nhash ${hash}\n`,
    );
  },
);

const verify = ceremony(
  ['r1cs', 'ptau', 'zkey'],
  ['ptau-sha256'],
  async ({ values, answer }, options) => {
    const ptauSha256 = readDigest(values['ptau-sha256']);
    const verdict = await verifyKey(values, { ...options, ptauSha256 });
    const contributions = verdict.contributions.map(({ name, type, beacon: from, hash }) => ({
      name: printable(name),
      type,
      ...(from && { beacon: { value: toHex(from.value), iterations: from.exponent } }),
      hash: toHex(hash),
    }));
    const sha256 = {
      r1cs: await computeFileDigest(values.r1cs),
      ptau: await computeFileDigest(values.ptau),
      zkey: await computeFileDigest(values.zkey),
    };
    const circuitHash = toHex(verdict.circuitHash);
    const lines = [
      `constraints sha-256 ${sha256.r1cs}`,
      `powers of tau sha-256 ${sha256.ptau}`,
      `proving key sha-256 ${sha256.zkey}`,
      `circuit hash ${circuitHash}`,
      ...contributions.map(({ name, beacon: from, hash }, i) =>
        from === undefined
          ? `${i + 1} ${name}\n  ${hash}`
          : `${i + 1} beacon ${name}\n  ${hash}\n  from 0x${from.value}, hashed 2^${from.iterations} times`,
      ),
      ...verdict.problems.map(({ code, message }) => `${code}: ${message}`),
      verdict.isValid ? 'the key is sound' : 'THE KEY IS REFUSED',
    ];
    const { isValid: valid, problems } = verdict;
    const found = { valid, problems, sha256, circuitHash, contributions };
    return answer(found, `${lines.join('\n')}\n`, valid ? 0 : 3);
  },
);

const exportVerifier = ceremony(
  ['zkey', 'out'],
  ['solidity', 'circuit', 'contract'],
  async ({ values, answer }, options) => {
    const key = await exportVerificationKey(values.zkey);
    const json = `${JSON.stringify(key, null, 1)}\n`;
    const put = (path: string, text: string) =>
      writeFileAtomically(path, options, (append) => append(Buffer.from(text)));
    const { solidity, circuit = '', contract = '' } = values;
    if (solidity === undefined) {
      await put(values.out, json);
    } else {
      if (circuit === '' || contract === '') {
        throw new UsageError(`--${circuit === '' ? 'circuit' : 'contract'} is missing`);
      }
      // Both are rendered before anything is written, so that either both files appear or neither.
      const source = renderSolidityVerifier(key, { circuit, contract });
      await put(values.out, json);
      await put(solidity, source);
    }
    const sha256 = createHash('sha256').update(json).digest('hex');
    return answer({ sha256 }, `sha-256 ${sha256}\n`);
  },
);

const commands = { init, contribute, beacon, verify, 'export-verifier': exportVerifier } as const;

/** Runs `pool-circuits ceremony …`. */
export async function runCeremony(
  [name = '', ...args]: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  if (!Object.hasOwn(commands, name)) {
    throw new UsageError('unknown ceremony command');
  }
  return await commands[name as keyof typeof commands](args, signal);
}
