/**
 * The sandbox with signing enclaves: one for the funder and one for each holder, each a process with a sealed key, a policy and a ledger
 * of its own. They attest with a development root, which is refused in production.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Hex } from '@pool/core';
import { PoolError } from '@pool/core';
import { findProgram, waitUntilReady } from '@pool/testkit';
import { writePrivate } from '../processes/env-file.ts';
import type { Custody, CustodyPlace } from './custody-place.ts';
import { createPolicy } from './policy-file.ts';

const script = findProgram(
  fileURLToPath(new URL('../../../../packages/signers/src/pool-enclave.ts', import.meta.url)),
);

/** What an agent pins of an enclave. */
type Pins = { readonly rootSha256: string; readonly pcrs: string };

/** An enclave that serves, and the socket at which it does. */
type Enclave = Pins & { readonly socket: string };

export async function startEnclaves(place: CustodyPlace): Promise<Custody> {
  const { funder, holders } = place;
  const folder = join(place.directory, 'custody');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const root = join(folder, 'development-root.json');
  const pins = readPins(await runEnclave(['development-root', '--out', root]));
  const start = (name: string, privateKey: Hex, policy: unknown): Promise<Enclave> =>
    startEnclave(place, { name, privateKey, policy, root, pins });
  const own = await start(
    'enclave-funder',
    funder.privateKey,
    createPolicy(place, { funder: true, holders: [], isDeterministic: true }),
  );
  const others = new Map<string, Enclave>();
  for (const holder of holders) {
    const policy = createPolicy(place, { holders: [{ holder }], isDeterministic: true });
    others.set(holder.name, await start(`enclave-${holder.name}`, holder.privateKey, policy));
  }
  return {
    kind: 'enclave',
    funder: {
      DISBURSE_SIGNER: 'enclave',
      DISBURSE_ENCLAVE_SOCKET: own.socket,
      DISBURSE_ENCLAVE_ADDRESS: funder.address,
      DISBURSE_ENCLAVE_ROOT_SHA256: own.rootSha256,
      DISBURSE_ENCLAVE_PCRS: own.pcrs,
    },
    holder: (name) => {
      const enclave = others.get(name);
      const holder = holders.find((one) => one.name === name);
      if (enclave === undefined || holder === undefined) {
        throw new PoolError('internal_error', `no enclave has the key of ${name}`);
      }
      return {
        DISBURSE_HOLDER_SIGNER: 'enclave',
        DISBURSE_HOLDER_ENCLAVE_SOCKET: enclave.socket,
        DISBURSE_HOLDER_ENCLAVE_WALLET_PUB: holder.walletPub,
        DISBURSE_HOLDER_ENCLAVE_ROOT_SHA256: enclave.rootSha256,
        DISBURSE_HOLDER_ENCLAVE_PCRS: enclave.pcrs,
      };
    },
    custodian: undefined,
    gate: undefined,
    gateHome: undefined,
  };
}

/** Seals the key into a file, as its owner would, and serves it. */
async function startEnclave(
  place: CustodyPlace,
  enclave: {
    readonly name: string;
    readonly privateKey: Hex;
    readonly policy: unknown;
    readonly root: string;
    readonly pins: Pins;
  },
): Promise<Enclave> {
  const { name, privateKey, policy, root, pins } = enclave;
  const folder = join(place.directory, 'custody', name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = (which: string): string => join(folder, which);
  writePrivate(file('sealing.secret'), randomBytes(32).toString('hex'));
  writePrivate(file('policy.json'), JSON.stringify(policy, undefined, 2));
  writePrivate(file('private.key'), privateKey);
  const sealed = ['--key', file('sealed.json'), '--sealing-secret', file('sealing.secret')];
  await runEnclave(['seal', ...sealed, '--private-key', file('private.key')]);
  rmSync(file('private.key'));
  const socket = file('enclave.sock');
  const process = place.start({
    name,
    script,
    args: [
      ...['serve', ...sealed, '--policy', file('policy.json'), '--socket', socket],
      ...['--ledger', file('ledger.sqlite'), '--development-root', root],
    ],
  });
  await waitUntilReady(process, async () =>
    readFileSync(process.logPath, 'utf8').includes('serving ') ? true : undefined,
  );
  return { ...pins, socket };
}

async function runEnclave(args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...['--conditions=@pool/source', '--disable-warning=ExperimentalWarning', script],
      ...args,
    ]);
    return stdout;
  } catch {
    throw new PoolError('invalid_configuration', `pool-enclave ${args[0] ?? ''} failed`);
  }
}

function readPins(output: string): Pins {
  return {
    rootSha256: /^root sha256: (.*)$/m.exec(output)?.[1] ?? '',
    pcrs: /^pcrs: (.*)$/m.exec(output)?.[1] ?? '',
  };
}
