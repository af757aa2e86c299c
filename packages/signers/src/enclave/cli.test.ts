import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { hexToBytes, Secret } from '@pool/core';
import { openLedger } from '@pool/policy';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { makeFundFile, makePolicy, makePolicyJson, requestFor } from '../fixtures/enclave-files.ts';
import { privateKey, wallet } from '../fixtures/requests.ts';
import { runEnclaveCommand } from './cli.ts';
import { createEnclaveConnection } from './enclave-connection.ts';
import { computePolicyDigest } from './enclave-core.ts';
import { createEnclaveSigner } from './enclave-signer.ts';
import { signAnswerSchema } from './messages.ts';
import { parsePcrPins, parseRootSha256 } from './pins.ts';
import { sealKey } from './sealed-key.ts';
import { serializeSignRequest } from './wire-request.ts';

const directory = mkdtempSync(join(tmpdir(), 'pool-enclave-cli-'));
const [key, secret, plain, policy, root] = ['key', 'secret', 'plain', 'policy', 'root'].map(
  (name) => join(directory, name),
) as [string, string, string, string, string];
const socket = join(directory, 'socket', 'enclave.sock');
const digits = privateKey.slice(2);

type Ran = { readonly code: number; readonly out: string; readonly error: string };

async function run(args: readonly string[], stop?: Promise<void>, nowMs = Date.now): Promise<Ran> {
  const out: string[] = [];
  const errors: string[] = [];
  const code = await runEnclaveCommand(args, {
    write: (line) => out.push(line),
    writeError: (line) => errors.push(line),
    nowMs,
    ...(stop && { stop }),
  });
  return { code, out: out.join('\n'), error: errors.join('\n') };
}

const keyFiles = ['--key', key, '--sealing-secret', secret];
// The same key, sealed at a cost that a process pays in milliseconds.
const cheap = join(directory, 'cheap');
const servedKey = ['--key', cheap, '--sealing-secret', secret];
const served = [...servedKey, '--policy', policy, '--socket', socket, '--development-root', root];
let pins = { rootSha256: '', pcrs: '' };
let printed = '';

beforeAll(async () => {
  writeFileSync(secret, `${'5e'.repeat(32)}\n`, { mode: 0o600 });
  writeFileSync(plain, `${privateKey}\n`, { mode: 0o600 });
  const sealing = new Secret<Uint8Array>(Buffer.from('5e'.repeat(32)));
  const sealedCheaply = sealKey(new Secret(hexToBytes(privateKey, 32)), sealing, 12);
  writeFileSync(cheap, JSON.stringify(sealedCheaply), { mode: 0o600 });
  writeFileSync(policy, JSON.stringify(makePolicyJson({ holders: [] })));
  const sealed = await run(['seal', ...keyFiles, '--private-key', plain]);
  const made = await run(['development-root', '--out', root]);
  printed = [sealed.out, sealed.error, made.out].join('\n');
  pins = {
    rootSha256: /root sha256: (.*)/.exec(made.out)?.[1] ?? '',
    pcrs: /pcrs: (.*)/.exec(made.out)?.[1] ?? '',
  };
});

afterEach(() => vi.unstubAllEnvs());
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('pool-enclave', () => {
  it('seals a key into a file of its owner, and prints the address and never the key', () => {
    expect(printed).toContain(`address: ${wallet.address}`);
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(statSync(root).mode & 0o777).toBe(0o600);
    expect(`${printed}${readFileSync(key, 'utf8')}`).not.toContain(digits);
  });

  it('makes a key of its own, and never replaces one', async () => {
    const args = ['keygen', '--key', join(directory, 'fresh'), '--sealing-secret', secret];
    expect(await run(args)).toMatchObject({ code: 0 });
    expect(await run(args)).toMatchObject({
      code: 1,
      error: expect.stringMatching(/exists already/),
    });
  });

  it('removes no file that lies where its socket should be', async () => {
    const args = served.map((arg) => (arg === socket ? key : arg));
    expect(await run(['serve', ...args, '--ledger', ':memory:'])).toMatchObject({
      code: 1,
      error: expect.stringMatching(/\/key exists and is not a socket/),
    });
    expect(statSync(key).isFile()).toBe(true);
  });

  it('serves no policy with a limit twice', async () => {
    const twice = join(directory, 'policy-twice');
    const text = readFileSync(policy, 'utf8').replace(
      '"maxPerDay":',
      '"maxPerDay":"1","maxPerDay":',
    );
    writeFileSync(twice, text);
    const args = served.map((arg) => (arg === policy ? twice : arg));
    expect(await run(['serve', ...args, '--ledger', ':memory:'])).toMatchObject({
      code: 1,
      error: expect.stringMatching(
        /^invalid_configuration: .*policy-twice has a duplicate JSON key$/,
      ),
    });
  });

  it('serves the key, so that an agent attests it', async () => {
    let end = (): void => undefined;
    const stop = new Promise<void>((done) => {
      end = done;
    });
    const serving = run(['serve', ...served, ...keyFiles, '--ledger', ':memory:'], stop);
    const attest = [
      'attest',
      ...['--socket', socket, '--address', wallet.address],
      ...['--root-sha256', pins.rootSha256, '--pcrs', pins.pcrs],
    ];
    await expect.poll(() => statSync(socket).mode & 0o777).toBe(0o600);
    const attested = await run([...attest, '--allow-insecure-development-root']);
    expect(attested).toMatchObject({ code: 0 });
    expect(attested.out).toContain(`attested: ${wallet.address}`);
    const digest = computePolicyDigest(makePolicy({ holders: [] })).slice(2);
    expect(attested.out).toContain(`policy sha256: ${digest}`);
    expect(await run(attest)).toMatchObject({
      code: 1,
      error: expect.stringMatching(/root-development/),
    });
    const second = await run(['serve', ...served, '--ledger', ':memory:']);
    expect(second).toMatchObject({
      code: 1,
      error: expect.stringMatching(/another process serves/),
    });
    end();
    expect(await serving).toMatchObject({ code: 0 });
  });

  it('signs nothing after somebody set the clock of its host forward', async () => {
    const stopping = Promise.withResolvers<void>();
    let aheadMs = 0;
    const args = ['serve', ...served, '--ledger', ':memory:'];
    const serving = run(args, stopping.promise, () => Date.now() + aheadMs);
    await expect.poll(() => statSync(socket).mode & 0o777).toBe(0o600);
    const connection = createEnclaveConnection({
      socketPath: socket,
      timeoutMs: 10_000,
      attest: async () => undefined,
    });
    const sign = (jobKey: string) => {
      const deadline = Math.floor((Date.now() + aheadMs) / 1000) + 3_600;
      const wire = serializeSignRequest(requestFor(makeFundFile({ jobKey, deadline })));
      return connection.call({ method: 'sign', request: wire }, signAnswerSchema);
    };
    expect(await sign('today')).toMatchObject({ state: 'signed' });
    aheadMs = 86_400_000;
    expect(await sign('tomorrow')).toMatchObject({ state: 'later', reason: 'clock-differs' });
    connection.close();
    stopping.resolve();
    expect(await serving).toMatchObject({ code: 0 });
  });

  it.each([
    ['no command', [], 2, /pool-enclave keygen/],
    ['an unknown option', ['serve', '--private-key-hex', digits], 2, /pool-enclave keygen/],
    ['no key', ['serve'], 1, /--sealing-secret is missing/],
    ['no attester', ['serve', ...served.slice(0, -2)], 1, /give one of/],
  ])('ends with %s', async (_what, args, code, message) => {
    const ran = await run(args);
    expect(ran.code).toBe(code);
    expect(ran.error).toMatch(message);
    expect(ran.error).not.toContain(digits);
  });

  it('refuses a secret that others can read, and one that does not open the key', async () => {
    const other = join(directory, 'other');
    writeFileSync(other, 'x'.repeat(40), { mode: 0o644 });
    const args = ['serve', ...served, '--ledger', ':memory:', '--sealing-secret', other];
    expect(await run(args)).toMatchObject({ code: 1, error: expect.stringMatching(/chmod 600/) });
    chmodSync(other, 0o600);
    expect(await run(args)).toMatchObject({
      code: 1,
      error: expect.stringMatching(/does not open/),
    });
  });

  it('refuses a socket in a directory that is open to others', async () => {
    const open = join(directory, 'open');
    execFileSync('mkdir', ['-m', '755', open]);
    const args = ['serve', ...served, '--ledger', ':memory:', '--socket', join(open, 'e.sock')];
    expect(await run(args)).toMatchObject({ code: 1, error: expect.stringMatching(/chmod 700/) });
  });

  it('says how to make the directory of a socket that it cannot make', async () => {
    const below = join(plain, 'directory', 'e.sock');
    const args = ['serve', ...served, '--ledger', ':memory:', '--socket', below];
    expect(await run(args)).toMatchObject({ code: 1, error: expect.stringMatching(/install -d/) });
  });

  it('signs nothing with a restored ledger, says so, and signs again once the loss is accepted', async () => {
    const ledger = join(directory, 'restored.sqlite');
    openLedger({ path: ledger, role: 'voter' }).close();
    const args = ['ledger', 'rebaseline', '--ledger', ledger, '--by', 'a test'];
    const accepted = [...args, '--accept-lost-history'];
    expect((await run(accepted)).error).toMatch(/does not count as restored/);
    rmSync(`${ledger}.generation`);
    const stopped = Promise.resolve();
    const warned = await run(['serve', ...served, '--ledger', ledger], stopped);
    expect(warned.error).toMatch(/counts as restored \(the generation marker is missing\)/);
    expect((await run(args)).error).toMatch(/--accept-lost-history is missing/);
    expect(await run(accepted)).toMatchObject({ code: 0 });
    expect(await run(['serve', ...served, '--ledger', ledger], stopped)).toMatchObject({
      code: 0,
      error: '',
    });
    const absent = accepted.with(3, join(directory, 'absent'));
    expect((await run(absent)).error).toMatch(/there is no ledger/);
  });

  it('uses no development root under NODE_ENV=production', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    for (const args of [
      ['serve', ...served, '--ledger', ':memory:'],
      ['development-root', '--out', join(directory, 'another')],
    ]) {
      expect(await run(args)).toMatchObject({
        code: 1,
        error: expect.stringMatching(/refused under NODE_ENV=production/),
      });
    }
  });
});

it('a process goes on when its messages find a full disk', () => {
  const stderr = openSync('/dev/full', 'w');
  const main = resolve(import.meta.dirname, '../pool-enclave.ts');
  const { status } = spawnSync(process.execPath, ['--conditions=@pool/source', main], {
    stdio: ['ignore', 'ignore', stderr],
  });
  closeSync(stderr);
  // The usage, which could not be written.
  expect(status).toBe(2);
});

it('a process that is killed signs the same again, and remembers what the day has cost', async () => {
  // A policy in force now: the processes below have the real clock.
  const ledger = join(directory, 'ledger.sqlite');
  const deadline = Math.floor(Date.now() / 1000) + 3600;
  const signer = createEnclaveSigner({
    socketPath: socket,
    address: wallet.address as never,
    pins: {
      rootSha256: parseRootSha256(pins.rootSha256),
      pcrs: parsePcrPins(pins.pcrs),
      allowInsecureDevelopmentRoot: true,
    },
  });
  async function start(): Promise<() => Promise<void>> {
    const main = resolve(import.meta.dirname, '../pool-enclave.ts');
    const args = ['--conditions=@pool/source', main, 'serve', ...served, '--ledger', ledger];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((ready) => child.stdout.once('data', ready));
    return async () => {
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGKILL');
      await ended;
    };
  }
  const request = requestFor(makeFundFile({ jobKey: 'a', deadline }));
  const kill = await start();
  const first = await signer.submit(request);
  expect(first).toMatchObject({ state: 'signed' });
  await kill();
  expect(await signer.submit(request)).toMatchObject({ code: 'enclave_unreachable' });
  const killAgain = await start();
  expect(await signer.submit(request)).toEqual(first);
  const second = requestFor(makeFundFile({ jobKey: 'b', deadline }));
  expect(await signer.submit(second)).toMatchObject({ state: 'signed' });
  const third = requestFor(makeFundFile({ jobKey: 'c', deadline }));
  expect(await signer.submit(third)).toMatchObject({
    state: 'refused',
    message: expect.stringMatching(/day-limit/),
  });
  signer.close();
  await killAgain();
});
