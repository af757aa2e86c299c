// A key in SoftHSM2, through OpenSC. `.ci/run` installs both and forbids the skip.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { computeWalletAddress, Secret } from '@pool/core';
import { createSignRequest, openLedger, parsePolicy } from '@pool/policy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePolicyJson, makeSpendFile, nowMs, requestFor } from '../fixtures/enclave-files.ts';
import { root } from '../fixtures/fake-enclave.ts';
import type { SigningKey } from '../signing-key.ts';
import { createDevelopmentAttester } from './attester.ts';
import { createEnclave } from './enclave-core.ts';
import { openPkcs11Key, type Pkcs11Options } from './pkcs11-key.ts';
import { serializeSignRequest } from './wire-request.ts';

const module = '/usr/lib/softhsm/libsofthsm2.so';
const hasTool = (process.env['PATH'] ?? '')
  .split(delimiter)
  .some((directory) => existsSync(join(directory, 'pkcs11-tool')));

describe.skipIf(!hasTool || !existsSync(module))('a key in a PKCS#11 token', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pool-token-'));
  const environment = { SOFTHSM2_CONF: join(directory, 'softhsm2.conf') };
  const options: Pkcs11Options = {
    module,
    tokenLabel: 'pool',
    keyId: '01',
    pin: new Secret('5678'),
    environment,
  };
  let key: SigningKey;

  beforeAll(() => {
    const env = { ...process.env, ...environment };
    const tokens = join(directory, 'tokens');
    mkdirSync(tokens);
    writeFileSync(
      environment.SOFTHSM2_CONF,
      `directories.tokendir = ${tokens}\nobjectstore.backend = file\n`,
    );
    const token = [
      '--init-token',
      '--free',
      '--label',
      'pool',
      '--so-pin',
      '1234',
      '--pin',
      '5678',
    ];
    execFileSync('softhsm2-util', token, { env, stdio: 'ignore' });
    for (const [id, curve] of [
      ['02', 'prime256v1'],
      ['01', 'secp256k1'],
    ] as const) {
      const login = ['--module', module, '--token-label', 'pool', '--login', '--pin', '5678'];
      const pair = ['--keypairgen', '--key-type', `EC:${curve}`, '--id', id];
      execFileSync('pkcs11-tool', [...login, ...pair], { env, stdio: 'ignore' });
    }
    key = openPkcs11Key(options);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('is refused with a wrong PIN or label, or on another curve', () => {
    const digest = requestDigest();
    const locked = openPkcs11Key({ ...options, pin: new Secret('0000') });
    expect(() => locked.sign(digest)).toThrow(/could not sign with the key 01/);
    expect(() => openPkcs11Key({ ...options, keyId: '03' })).toThrow(/could not read/);
    expect(() => openPkcs11Key({ ...options, keyId: '02' })).toThrow(/not on secp256k1/);
  });

  it('signs a spend once and derives no viewing key, because it does not repeat a signature', () => {
    const { walletPub } = key;
    const address = computeWalletAddress(walletPub);
    const [holder] = (makePolicyJson() as { holders: Record<string, unknown>[] }).holders;
    const policy = parsePolicy(
      makePolicyJson({ funders: [], holders: [{ ...holder, walletPub }] }),
    );
    const enclave = createEnclave({
      key,
      policy,
      ledger: openLedger({ path: ':memory:', role: 'voter' }),
      attester: createDevelopmentAttester(root, () => nowMs),
      nowMs: () => nowMs,
    });
    const spend = requestFor(makeSpendFile({ walletPub }), address);
    expect(enclave.sign(serializeSignRequest(spend))).toMatchObject({ state: 'signed' });
    expect(enclave.sign(serializeSignRequest(spend))).toMatchObject({
      state: 'refused',
      reason: 'spend-signed-before',
    });
    const viewingKey = createSignRequest({
      kind: 'viewing-key',
      expectedSigner: address,
      payload: { domain: 'pool.example' },
    });
    expect(enclave.sign(serializeSignRequest(viewingKey))).toMatchObject({
      state: 'refused',
      reason: 'not-deterministic',
    });
    expect(key.sign(requestDigest())).not.toBe(key.sign(requestDigest()));
  });
});

function requestDigest(): Parameters<SigningKey['sign']>[0] {
  return `0x${'01'.repeat(32)}` as Parameters<SigningKey['sign']>[0];
}
