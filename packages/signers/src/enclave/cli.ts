/**
 * The commands of `pool-enclave`. No command prints a key, and none takes one on its command line, where other users could read it.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  bytesToHex,
  cleanMessage,
  computeWalletAddress,
  hexToBytes,
  isPoolError,
  parseEvmAddress,
  Secret,
} from '@pool/core';
import { createSignedHistory, openLedger, parsePolicy } from '@pool/policy';
import {
  computeDevelopmentPcrs,
  createDevelopmentRoot,
} from '../attestation/development-attestation.ts';
import { invalidConfiguration, isProduction } from '../config.ts';
import { computeKeyWalletPub, createMemoryKey, type SigningKey } from '../signing-key.ts';
import { type Attester, createDevelopmentAttester, createHardwareAttester } from './attester.ts';
import { computePolicyDigest, createEnclave } from './enclave-core.ts';
import { serveEnclave } from './enclave-server.ts';
import { createEnclaveSigner } from './enclave-signer.ts';
import {
  parseDevelopmentRoot,
  readJsonFile,
  readPrivateFile,
  readSealingSecret,
  serializeDevelopmentRoot,
  writePrivateFile,
} from './files.ts';
import { parsePcrPins, parseRootSha256 } from './pins.ts';
import { openPkcs11Key } from './pkcs11-key.ts';
import { createSigningKey, sealKey, unsealKey } from './sealed-key.ts';

export type CommandDeps = {
  readonly write: (line: string) => void;
  readonly writeError: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** Ends `serve`. Default: SIGTERM and SIGINT. */
  readonly stop?: Promise<void>;
};

const usage = `pool-enclave keygen --key FILE --sealing-secret FILE
  Makes a key, seals it into FILE and prints its address.
pool-enclave seal --key FILE --sealing-secret FILE --private-key FILE
  Seals an existing key (32 bytes of 0x hex in a file), which you then delete.
pool-enclave development-root --out FILE
  Makes an insecure root for development and prints what to pin.
pool-enclave serve --key FILE --sealing-secret FILE --policy FILE --ledger FILE --socket PATH
    (--attestation-helper PROGRAM | --development-root FILE)
  Serves the key on an AF_UNIX socket. In place of --key and --sealing-secret, a key in a PKCS#11 token:
    --pkcs11-module FILE --pkcs11-token LABEL --pkcs11-key ID --pkcs11-pin FILE
pool-enclave ledger rebaseline --ledger FILE --by NAME --accept-lost-history
  Lets an enclave sign again whose ledger counts as restored. What it signed after the backup stays forgotten (docs/operations/enclave.md).
pool-enclave attest --socket PATH --address 0x… --root-sha256 HEX --pcrs 0=HEX,1=HEX,2=HEX [--allow-insecure-development-root]
  Verifies a running enclave as an agent does.`;

const text = { type: 'string' } as const;
const options = {
  key: text,
  'sealing-secret': text,
  'private-key': text,
  out: text,
  policy: text,
  ledger: text,
  socket: text,
  'pkcs11-module': text,
  'pkcs11-token': text,
  'pkcs11-key': text,
  'pkcs11-pin': text,
  'attestation-helper': text,
  'development-root': text,
  address: text,
  'root-sha256': text,
  pcrs: text,
  by: text,
  'allow-insecure-development-root': { type: 'boolean' },
  'accept-lost-history': { type: 'boolean' },
} as const;

type Values = ReturnType<typeof readArguments>['values'];

/** @returns the exit code: 0, 1 after an error, 2 for a command that is not understood */
export async function runEnclaveCommand(
  args: readonly string[],
  deps: CommandDeps,
): Promise<number> {
  try {
    const { command, values } = readArguments(args);
    if (command === undefined) {
      deps.writeError(usage);
      return 2;
    }
    await command(values, deps);
    return 0;
  } catch (error) {
    deps.writeError(describe(error));
    return 1;
  }
}

/** Only messages that this repository wrote are shown: others may repeat what they were given. */
function describe(error: unknown): string {
  if (isPoolError(error)) {
    return `${error.code}: ${cleanMessage(error.message)}`;
  }
  return `the command failed: ${error instanceof Error ? error.name : 'unknown error'}`;
}

function readArguments(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { values, command: commands.get(positionals.join(' ')) };
  } catch {
    return { values: {}, command: undefined };
  }
}

type Command = (values: Values, deps: CommandDeps) => void | Promise<void>;

const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['keygen', (values, deps) => writeSealed(values, createSigningKey(), deps)],
  ['seal', seal],
  ['development-root', developmentRoot],
  ['serve', serve],
  ['ledger rebaseline', rebaseline],
  ['attest', attest],
]);

function seal(values: Values, deps: CommandDeps): void {
  const hex = readPrivateFile(required(values, 'private-key')).reveal().toString('utf8').trim();
  let key: Uint8Array;
  try {
    key = hexToBytes(hex, 32);
  } catch {
    throw invalidConfiguration('--private-key must hold 32 bytes of lower-case hex with 0x');
  }
  writeSealed(values, new Secret(key), deps);
}

function writeSealed(values: Values, key: Secret<Uint8Array>, deps: CommandDeps): void {
  const secret = readSealingSecret(required(values, 'sealing-secret'));
  const walletPub = computeKeyWalletPub(key);
  const path = required(values, 'key');
  writePrivateFile(path, JSON.stringify(sealKey(key, secret), undefined, 2));
  deps.write(`sealed key: ${path}`);
  deps.write(`wallet public key: ${walletPub}`);
  deps.write(`address: ${computeWalletAddress(walletPub)}`);
}

function developmentRoot(values: Values, deps: CommandDeps): void {
  if (isProduction()) {
    throw invalidConfiguration('a development root is refused under NODE_ENV=production');
  }
  const root = createDevelopmentRoot(deps.nowMs());
  const path = required(values, 'out');
  writePrivateFile(path, serializeDevelopmentRoot(root));
  const fingerprint = createHash('sha256').update(root.certificate).digest();
  const pcrs = computeDevelopmentPcrs().map((pcr, index) => `${index}=${toHex(pcr)}`);
  deps.write(`INSECURE development root: ${path}`);
  deps.write(`root sha256: ${toHex(fingerprint)}`);
  deps.write(`pcrs: ${pcrs.join(',')}`);
}

async function serve(values: Values, deps: CommandDeps): Promise<void> {
  const key = openKey(values);
  const policy = parsePolicy(readJsonFile(required(values, 'policy')));
  const attester = createAttester(values, deps);
  const ledger = openLedger({ path: required(values, 'ledger'), role: 'voter' });
  try {
    const enclave = createEnclave({ key, policy, ledger, attester, nowMs: deps.nowMs });
    const { restoredBecause } = ledger.status();
    if (restoredBecause !== undefined) {
      // It serves all the same: each request is answered with the reason.
      deps.writeError(
        `the ledger counts as restored (${restoredBecause}), so nothing is signed; read "A restored ledger" in docs/operations/enclave.md, then run "pool-enclave ledger rebaseline"`,
      );
    }
    const socket = required(values, 'socket');
    const server = await serveEnclave(enclave, socket, (error) => deps.writeError(describe(error)));
    const stop = deps.stop ?? waitForSignal();
    deps.write(`policy sha256: ${computePolicyDigest(policy).slice(2)}`);
    deps.write(`serving ${enclave.address} on ${socket}`);
    await stop;
    await server.close();
  } finally {
    ledger.close();
  }
}

/**
 * Ends the state `restored`. An enclave has no node and no custodian that remembers what it signed, so there is nothing to merge: its
 * operator accepts what was lost. The enclave may run.
 */
function rebaseline(values: Values, deps: CommandDeps): void {
  const path = required(values, 'ledger');
  const by = required(values, 'by');
  if (![path, `${path}.generation`].some((file) => existsSync(file))) {
    throw invalidConfiguration(`there is no ledger at ${path}; give the --ledger that "serve" has`);
  }
  if (values['accept-lost-history'] !== true) {
    throw invalidConfiguration(
      '--accept-lost-history is missing: sums of the day, and signatures made after the backup, stay forgotten; docs/operations/enclave.md says when that is safe',
    );
  }
  const ledger = openLedger({ path, role: 'operator' });
  try {
    if (!ledger.status().isRestored) {
      throw invalidConfiguration(
        `the ledger ${path} does not count as restored; there is nothing to do`,
      );
    }
    // The operator answers for what is left out.
    ledger.rebaseline(createSignedHistory([]), { by, isComplete: true }, deps.nowMs());
    deps.write(`the ledger ${path} is re-baselined by ${by}; the enclave signs again`);
  } finally {
    ledger.close();
  }
}

function openKey(values: Values): SigningKey {
  if (values['pkcs11-module'] !== undefined) {
    return openPkcs11Key({
      module: required(values, 'pkcs11-module'),
      tokenLabel: required(values, 'pkcs11-token'),
      keyId: required(values, 'pkcs11-key'),
      pin: new Secret(
        Buffer.from(readSealingSecret(required(values, 'pkcs11-pin')).reveal()).toString('utf8'),
      ),
    });
  }
  const secret = readSealingSecret(required(values, 'sealing-secret'));
  return createMemoryKey(unsealKey(readJsonFile(required(values, 'key')), secret));
}

function createAttester(values: Values, deps: CommandDeps): Attester {
  const helper = values['attestation-helper'];
  const root = values['development-root'];
  if ((helper === undefined) === (root === undefined)) {
    throw invalidConfiguration(
      'give one of --attestation-helper (inside a real enclave) and --development-root (everywhere else)',
    );
  }
  if (helper !== undefined) {
    return createHardwareAttester(helper);
  }
  if (isProduction()) {
    throw invalidConfiguration(
      'a development root is refused under NODE_ENV=production; use --attestation-helper',
    );
  }
  return createDevelopmentAttester(
    parseDevelopmentRoot(readJsonFile(root ?? '')),
    createSteadyClock(deps.nowMs),
  );
}

/** In place of a secure module's: right at the start, and set by nobody afterwards. */
function createSteadyClock(nowMs: () => number): () => number {
  const startMs = nowMs() - performance.now();
  return () => Math.floor(startMs + performance.now());
}

async function attest(values: Values, deps: CommandDeps): Promise<void> {
  const address = parseEvmAddress(required(values, 'address'));
  let policyDigest: Uint8Array | undefined;
  const signer = createEnclaveSigner({
    socketPath: required(values, 'socket'),
    address,
    pins: {
      rootSha256: parseRootSha256(required(values, 'root-sha256')),
      pcrs: parsePcrPins(required(values, 'pcrs')),
      allowInsecureDevelopmentRoot: values['allow-insecure-development-root'] === true,
    },
    nowMs: deps.nowMs,
    onAttested: (userData) => {
      policyDigest = userData;
    },
  });
  try {
    deps.write(`attested: ${address} (${await signer.publicKey()})`);
    deps.write(
      `policy sha256: ${policyDigest === undefined ? 'not in the attestation' : toHex(policyDigest)}`,
    );
  } finally {
    signer.close();
  }
}

function required(
  values: Values,
  name: Exclude<keyof Values, 'allow-insecure-development-root' | 'accept-lost-history'>,
): string {
  const value = values[name];
  if (value === undefined || value === '') {
    throw invalidConfiguration(`--${name} is missing; "pool-enclave" alone lists the commands`);
  }
  return value;
}

function waitForSignal(): Promise<unknown> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve).once('SIGINT', resolve);
  });
}

function toHex(bytes: Uint8Array): string {
  return bytesToHex(bytes).slice(2);
}
