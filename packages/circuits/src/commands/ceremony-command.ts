/**
 * `pool-circuits ceremony …`: the commands of a ceremony (docs/operations/ceremony.md).
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { PoolError } from '@pool/core';
import { computeFileDigest } from '../artifacts-manifest.ts';
import { writeFileAtomically } from '../ceremony/files/section-writer.ts';
import { applyBeacon, contributeToKey } from '../ceremony/key/contribute.ts';
import { exportVerificationKey, renderSolidityVerifier } from '../ceremony/key/export-verifier.ts';
import { initialiseKey } from '../ceremony/key/initialise.ts';
import type { PointArithmetic } from '../ceremony/points/point-arithmetic.ts';
import { createKernelArithmetic } from '../ceremony/points/point-arithmetic.ts';
import { verifyKey } from '../ceremony/verify/verify-key.ts';
import { type CommandIo, UsageError } from './command-io.ts';

const mostEntropyBytes = 1 << 20;

type Values = Readonly<Record<string, string | boolean | undefined>>;

function parse(args: readonly string[], names: readonly string[]): Values {
  const flags = { force: { type: 'boolean' }, json: { type: 'boolean' } } as const;
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  try {
    return parseArgs({ args: [...args], options: { ...options, ...flags } }).values;
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : 'unknown option');
  }
}

function required(values: Values, name: string): string {
  const value = values[name];
  if (typeof value !== 'string' || value === '') {
    throw new UsageError(`--${name} is missing`);
  }
  return value;
}

function optional(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

function readDigest(values: Values): string | undefined {
  const digest = optional(values, 'ptau-sha256')?.toLowerCase();
  if (digest !== undefined && !/^[0-9a-f]{64}$/.test(digest)) {
    throw new UsageError('--ptau-sha256 must be 64 hex digits');
  }
  return digest;
}

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

type Context = {
  readonly io: CommandIo;
  readonly arithmetic: PointArithmetic;
  readonly args: readonly string[];
};

function withProgress(io: CommandIo, arithmetic: PointArithmetic, values: Values) {
  return {
    arithmetic,
    signal: io.signal,
    force: values['force'] === true,
    onProgress: io.onProgress,
  };
}

async function init({ io, arithmetic, args }: Context): Promise<number> {
  const values = parse(args, ['r1cs', 'ptau', 'ptau-sha256', 'out']);
  const paths = {
    r1cs: required(values, 'r1cs'),
    ptau: required(values, 'ptau'),
    out: required(values, 'out'),
  };
  const options = { ...withProgress(io, arithmetic, values), ptauSha256: readDigest(values) };
  const { circuitHash } = await initialiseKey(paths, options);
  const hash = toHex(circuitHash);
  io.answer(values['json'] === true, { circuitHash: hash }, `circuit hash ${hash}\n`);
  return 0;
}

async function contribute({ io, arithmetic, args }: Context): Promise<number> {
  const values = parse(args, ['in', 'out', 'name', 'entropy-file']);
  const paths = { in: required(values, 'in'), out: required(values, 'out') };
  const entropy = await readEntropy(optional(values, 'entropy-file'));
  const options = { ...withProgress(io, arithmetic, values), name: optional(values, 'name') };
  try {
    const { contributionHash, number } = await contributeToKey(paths, { ...options, entropy });
    const hash = toHex(contributionHash);
    io.answer(
      values['json'] === true,
      { contribution: number, hash },
      `contribution ${number}\nhash ${hash}\n`,
    );
    return 0;
  } finally {
    entropy?.fill(0);
  }
}

async function beacon({ io, arithmetic, args }: Context): Promise<number> {
  const values = parse(args, ['in', 'out', 'name', 'beacon', 'iterations']);
  const paths = { in: required(values, 'in'), out: required(values, 'out') };
  const hex = required(values, 'beacon').replace(/^0x/, '');
  const exponent = required(values, 'iterations');
  if (!/^([0-9a-fA-F]{2})+$/.test(hex) || !/^\d{1,2}$/.test(exponent)) {
    throw new UsageError('--beacon must be whole bytes as hex, --iterations an exponent of two');
  }
  const { contributionHash, number } = await applyBeacon(
    paths,
    { value: Buffer.from(hex, 'hex'), exponent: Number(exponent) },
    { ...withProgress(io, arithmetic, values), name: optional(values, 'name') },
  );
  const hash = toHex(contributionHash);
  io.answer(
    values['json'] === true,
    { contribution: number, hash },
    `beacon is contribution ${number}\nhash ${hash}\n`,
  );
  return 0;
}

async function verify({ io, arithmetic, args }: Context): Promise<number> {
  const values = parse(args, ['r1cs', 'ptau', 'ptau-sha256', 'zkey']);
  const paths = {
    r1cs: required(values, 'r1cs'),
    ptau: required(values, 'ptau'),
    zkey: required(values, 'zkey'),
  };
  const options = { ...withProgress(io, arithmetic, values), ptauSha256: readDigest(values) };
  const verdict = await verifyKey(paths, options);
  const contributions = verdict.contributions.map(({ name, type, beacon: from, hash }) => ({
    name: printable(name),
    type,
    ...(from && { beacon: { value: toHex(from.value), iterations: from.exponent } }),
    hash: toHex(hash),
  }));
  const sha256 = {
    r1cs: await computeFileDigest(paths.r1cs),
    ptau: await computeFileDigest(paths.ptau),
    zkey: await computeFileDigest(paths.zkey),
  };
  const lines = [
    `constraints sha-256 ${sha256.r1cs}`,
    `powers of tau sha-256 ${sha256.ptau}`,
    `proving key sha-256 ${sha256.zkey}`,
    `circuit hash ${toHex(verdict.circuitHash)}`,
    ...contributions.map(({ name, beacon: from, hash }, i) =>
      from === undefined
        ? `${i + 1} ${name}\n  ${hash}`
        : `${i + 1} beacon ${name}\n  ${hash}\n  from 0x${from.value}, hashed 2^${from.iterations} times`,
    ),
    ...verdict.problems.map(({ code, message }) => `${code}: ${message}`),
    verdict.isValid ? 'the key is sound' : 'THE KEY IS REFUSED',
  ];
  io.answer(
    values['json'] === true,
    {
      valid: verdict.isValid,
      problems: verdict.problems,
      sha256,
      circuitHash: toHex(verdict.circuitHash),
      contributions,
    },
    `${lines.join('\n')}\n`,
  );
  return verdict.isValid ? 0 : 3;
}

async function exportVerifier({ io, args }: Context): Promise<number> {
  const values = parse(args, ['zkey', 'out', 'solidity', 'circuit', 'contract']);
  const zkey = required(values, 'zkey');
  const out = required(values, 'out');
  const solidityPath = optional(values, 'solidity');
  const key = await exportVerificationKey(zkey);
  const json = `${JSON.stringify(key, null, 1)}\n`;
  const force = { force: values['force'] === true };
  const put = async (path: string, text: string) => {
    await writeFileAtomically(path, force, (append) => append(Buffer.from(text)));
  };
  // Both are rendered before anything is written, so that either both files appear or neither.
  const solidity =
    solidityPath === undefined
      ? undefined
      : renderSolidityVerifier(key, {
          circuit: required(values, 'circuit'),
          contract: required(values, 'contract'),
        });
  await put(out, json);
  if (solidityPath !== undefined && solidity !== undefined) {
    await put(solidityPath, solidity);
  }
  const sha256 = createHash('sha256').update(json).digest('hex');
  io.answer(values['json'] === true, { sha256 }, `sha-256 ${sha256}\n`);
  return 0;
}

const commands: Readonly<Record<string, (context: Context) => Promise<number>>> = {
  init,
  contribute,
  beacon,
  verify,
  'export-verifier': exportVerifier,
};

/**
 * Runs `ceremony <command> …`.
 * @returns the exit code: 0, or 3 if `verify` refuses the key
 * @throws UsageError; PoolError if the command failed
 */
export async function runCeremony(args: readonly string[], io: CommandIo): Promise<number> {
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    throw new UsageError('unknown ceremony command');
  }
  const arithmetic = await createKernelArithmetic();
  try {
    return await command({ io, arithmetic, args: rest });
  } finally {
    await arithmetic.close();
  }
}
