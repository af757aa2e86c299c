import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testEvidenceDomain } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testSettings } from '../../../packages/relayer/test/test-settings.ts';
import { parseGateConfig, parseOperatorConfig, parsePlatformConfig } from './config.ts';
import type { Environment } from './config-reader.ts';
import { createTestEnvironments, testPrivateKey } from './fixtures/test-environment.ts';

const databaseUrl = 'postgres://pool:CANARY@127.0.0.1/pool';

describe('configuration', () => {
  let directory: string;
  let platform: Environment;
  let gate: Environment;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'pool-config-'));
    ({ platform, gate } = createTestEnvironments(directory));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('caps the connections of one peer only if peers can be distinguished', () => {
    const open = { PLATFORM_HOST: '0.0.0.0', PLATFORM_ALLOW_PUBLIC_BIND: 'behind-tls-proxy' };
    const limitsOf = (more: Environment) =>
      Object.values(parsePlatformConfig({ ...platform, ...more }).listen.limits ?? {});
    expect(limitsOf({})).toEqual([512, 0]);
    expect(limitsOf(open)).toEqual([512, 256]);
    expect(limitsOf({ ...open, PLATFORM_PROXY_HOPS: '0' })).toEqual([512, 256]);
    expect(limitsOf({ ...open, PLATFORM_PROXY_HOPS: '1' })).toEqual([512, 0]);
    const configured = { PLATFORM_MAX_CONNECTIONS: '99', PLATFORM_MAX_CONNECTIONS_PER_PEER: '7' };
    expect(limitsOf({ ...open, ...configured, PLATFORM_PROXY_HOPS: '1' })).toEqual([99, 7]);
    expect(limitsOf({ ...configured, PLATFORM_MAX_CONNECTIONS_PER_PEER: '0' })).toEqual([99, 0]);
  });

  it.each([
    ['PLATFORM', () => platform, parsePlatformConfig],
    ['GATE', () => gate, parseGateConfig],
  ] as const)('takes a token for the metrics and a drain (%s)', (prefix, base, parse) => {
    expect(parse(base())).toMatchObject({ metricsToken: undefined, drainMs: 0 });
    const token = 'x'.repeat(20);
    const set = {
      [`${prefix}_METRICS_TOKEN`]: token,
      [`${prefix}_DRAIN_SECONDS`]: '15',
    };
    const config = parse({ ...base(), ...set });
    expect([config.metricsToken?.reveal(), config.drainMs]).toEqual([token, 15_000]);
    expect(() => parse({ ...base(), [`${prefix}_METRICS_TOKEN`]: 'short' })).toThrow(
      `${prefix}_METRICS_TOKEN must have 20 characters or more`,
    );
  });

  it('serves a page only from a folder that has one', () => {
    expect(parsePlatformConfig(platform).payeePage).toBeUndefined();
    const read = (folder: string) =>
      parsePlatformConfig({ ...platform, PLATFORM_PAYEE_DIR: folder });
    expect(() => read(directory)).toThrow('PLATFORM_PAYEE_DIR names a folder without index.html');
    const page = mkdtempSync(join(directory, 'page-'));
    writeFileSync(join(page, 'index.html'), '');
    expect(() => read(page)).toThrow('PLATFORM_PAYEE_DIR cannot be read');
    const approve = { secondRpcUrl: 'https://other.example/key' };
    const one = { ...testSettings, rpcUrl: 'https://rpc.example/key', approve };
    const chains = { one, two: { family: 'solana' } };
    writeFileSync(
      join(page, 'chains.json'),
      JSON.stringify({ evidence: testEvidenceDomain, chains }),
    );
    expect(read(page).payeePage).toEqual({
      folder: page,
      connectTo: ['https://rpc.example', 'https://other.example'],
    });
  });

  it('reads caps on fees from files, which SIGHUP reads again', () => {
    const file = join(directory, 'fees');
    const read = () =>
      parsePlatformConfig({
        ...platform,
        PLATFORM_RELAYER_MAX_FEE_GWEI_FILE: file,
        PLATFORM_RELAYER_MAX_FEE_GWEI: '99',
      }).maxFeePerGas;
    writeFileSync(file, 'anvil=2\n');
    expect(read()).toEqual(new Map([['anvil', 2_000_000_000n]]));
    writeFileSync(file, '3');
    expect(read()).toEqual(new Map([['anvil', 3_000_000_000n]]));
    rmSync(file);
    expect(read).toThrow('PLATFORM_RELAYER_MAX_FEE_GWEI_FILE names a file that cannot be read');
  });

  it('uses defaults for absent variables', () => {
    expect(parsePlatformConfig(platform)).toMatchObject({
      listen: { host: '127.0.0.1', port: 8080 },
      gate: undefined,
      signInChainIds: [31337],
      nonceTtlSeconds: 300,
      replaceAfterMs: 120_000,
      stuckAfterMs: 600_000,
      maxFeePerGas: new Map(),
      pollIntervalMs: 1_000,
      proxyHops: 0,
      rateLimits: {
        addressPerSecond: 100,
        sessionPerSecond: 50,
        edgePerSecond: 1_000,
        settlementsPerMinute: 60,
        spendsPerMinute: 10,
        batchMibPerSecond: 4,
      },
    });
    expect(
      parsePlatformConfig({
        ...platform,
        PLATFORM_PROXY_HOPS: '1',
        PLATFORM_RATE_ADDRESS: '2',
        PLATFORM_RATE_SESSION: '3',
        PLATFORM_RATE_EDGE: '4',
        PLATFORM_RATE_SETTLEMENTS: '5',
        PLATFORM_RATE_SPENDS: '6',
        PLATFORM_RATE_BATCHES: '7',
      }),
    ).toMatchObject({
      proxyHops: 1,
      rateLimits: {
        addressPerSecond: 2,
        sessionPerSecond: 3,
        edgePerSecond: 4,
        settlementsPerMinute: 5,
        spendsPerMinute: 6,
        batchMibPerSecond: 7,
      },
    });
    expect(parseGateConfig(gate)).toMatchObject({
      listen: { host: '127.0.0.1', port: 8090 },
      chain: { chainId: 31337 },
      screeningFile: undefined,
    });
  });

  it('recognises a production environment by NODE_ENV alone', () => {
    const keys = {
      PLATFORM_ARTIFACTS_DIR: '/keys',
      PLATFORM_ARTIFACTS_MANIFEST: '/keys.json',
      DATABASE_URL: databaseUrl,
    };
    for (const [NODE_ENV, isProduction] of [
      [undefined, false],
      ['development', false],
      ['test', false],
      ['production', true],
    ] as const) {
      expect(parsePlatformConfig({ ...platform, ...keys, NODE_ENV })).toMatchObject({
        isProduction,
      });
      const screened = { ...gate, GATE_SCREENING_FILE: '/screening.json' };
      expect(parseGateConfig({ ...screened, DATABASE_URL: databaseUrl, NODE_ENV })).toMatchObject({
        isProduction,
      });
    }
  });

  it('reads production keys from a folder with its manifest, and requires them in production', () => {
    const keys = { PLATFORM_ARTIFACTS_DIR: '/keys', PLATFORM_ARTIFACTS_MANIFEST: '/keys.json' };
    expect(parsePlatformConfig(platform).productionKeys).toBeUndefined();
    expect(
      parsePlatformConfig({
        ...platform,
        ...keys,
        DATABASE_URL: databaseUrl,
        NODE_ENV: 'production',
      }).productionKeys,
    ).toEqual({ folder: '/keys', manifest: '/keys.json' });
    const { PLATFORM_ARTIFACTS_DIR, PLATFORM_ARTIFACTS_MANIFEST } = keys;
    for (const [wrong, problem] of [
      [{ NODE_ENV: 'production' }, 'PLATFORM_ARTIFACTS_MANIFEST must name the manifest'],
      [{ PLATFORM_ARTIFACTS_DIR }, 'PLATFORM_ARTIFACTS_MANIFEST must name the manifest'],
      [{ PLATFORM_ARTIFACTS_MANIFEST }, 'PLATFORM_ARTIFACTS_DIR must name the folder'],
    ] as const) {
      expect(() => parsePlatformConfig({ ...platform, ...wrong })).toThrow(problem);
    }
  });

  it('refuses to start a production gate without a screening list, and names the variable', () => {
    const parse = (more: Environment) => () =>
      parseGateConfig({ ...gate, DATABASE_URL: databaseUrl, NODE_ENV: 'production', ...more });
    expect(parse({})).toThrow('GATE_SCREENING_FILE must name a screening list');
    expect(parse({ GATE_SCREENING_FILE: '/list.json' })().screeningFile).toBe('/list.json');
    expect(parse({ NODE_ENV: 'test' })().screeningFile).toBeUndefined();
  });

  it('refuses to start a production platform with open enrolment, and names the variable', () => {
    const parse = (more: Environment) => () =>
      parsePlatformConfig({
        ...platform,
        PLATFORM_ARTIFACTS_DIR: '/keys',
        PLATFORM_ARTIFACTS_MANIFEST: '/keys.json',
        PLATFORM_GATE_URL: 'http://127.0.0.1:8090',
        PLATFORM_GATE_WRITE_CLIENT_ID: 'w',
        PLATFORM_GATE_WRITE_CLIENT_SECRET: 's',
        DATABASE_URL: databaseUrl,
        NODE_ENV: 'production',
        ...more,
      });
    expect(parse({})).toThrow('PLATFORM_INVITATIONS must be `required`');
    expect(parse({ PLATFORM_INVITATIONS: 'off' })).toThrow('PLATFORM_INVITATIONS must be');
    expect(parse({ PLATFORM_INVITATIONS: 'CANARY' })).toThrow('off, required or screened');
    expect(parse({ PLATFORM_INVITATIONS: 'CANARY' })).not.toThrow('CANARY');
    for (const invitations of ['required', 'screened']) {
      expect(parse({ PLATFORM_INVITATIONS: invitations })().admission).toEqual({
        invitations,
        enrolmentsPerAddress: 1_000,
        walletsPerEmployer: 1_000,
        invitationDays: 90,
      });
    }
    expect(parse({ NODE_ENV: 'development' })().admission.invitations).toBe('off');
    // Without a gate there is no tree that could be filled.
    expect(parse({ PLATFORM_GATE_URL: '' })().admission.invitations).toBe('off');
  });

  it('uses the embedded database for a data directory, and refuses it in production', () => {
    expect(parsePlatformConfig(platform).database).toEqual({ kind: 'embedded', directory });
    expect(parseGateConfig(gate).database).toEqual({ kind: 'embedded', directory });
    const reason = 'DATABASE_URL is required under NODE_ENV=production: the embedded database';
    for (const env of [{ NODE_ENV: 'production' }, { NODE_ENV: 'production', DATABASE_URL: ' ' }]) {
      expect(() => parsePlatformConfig({ ...platform, ...env })).toThrow(reason);
      expect(() => parseGateConfig({ ...gate, ...env })).toThrow(reason);
      expect(() => parseOperatorConfig({ ...platform, ...env })).toThrow(reason);
    }
    expect(() => parseGateConfig({ ...gate, GATE_DATA_DIR: undefined })).toThrow(
      'GATE_DATA_DIR is required without DATABASE_URL',
    );
  });

  it('reads the URL of a PostgreSQL server from a variable or a file, and repeats no part of it', () => {
    const { GATE_DATA_DIR: _none, ...bareGate } = gate;
    const expected = {
      kind: 'postgres',
      settings: { host: '127.0.0.1', port: 5432, database: 'pool', user: 'pool', tls: false },
      poolSize: 10,
      mustBeDurable: false,
    };
    const { database } = parseGateConfig({ ...bareGate, DATABASE_URL: databaseUrl });
    expect(database).toMatchObject({ ...expected, directory: undefined });
    expect(JSON.stringify(database)).not.toContain('CANARY');
    const file = join(directory, 'database-url');
    writeFileSync(file, `${databaseUrl}\n`, { mode: 0o600 });
    expect(
      parsePlatformConfig({ ...platform, DATABASE_URL_FILE: file, DATABASE_POOL_SIZE: '4' }),
    ).toMatchObject({ database: { ...expected, poolSize: 4, directory } });
    for (const [wrong, problem] of [
      [{ DATABASE_URL: 'postgres://CANARY' }, 'DATABASE_URL must be'],
      [{ DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: '1' }, 'DATABASE_POOL_SIZE'],
      [{ DATABASE_URL_FILE: join(directory, 'none') }, 'DATABASE_URL_FILE names a file'],
      [
        { DATABASE_URL: 'postgres://u:CANARY@db/d?sslrootcert=/none' },
        'DATABASE_URL names a file that cannot be read',
      ],
    ] as const) {
      expect(() => parsePlatformConfig({ ...platform, ...wrong })).toThrow(problem);
      expect(() => parsePlatformConfig({ ...platform, ...wrong })).not.toThrow('CANARY');
    }
  });

  it('refuses plaintext connections to another machine in production, unless the setting allows them', () => {
    const parse = (url: string, more: Environment = {}) =>
      parseGateConfig({
        ...gate,
        GATE_SCREENING_FILE: '/list.json',
        NODE_ENV: 'production',
        DATABASE_URL: url,
        ...more,
      }).database;
    const plain = 'postgres://u:CANARY@db.example/d?sslmode=disable';
    expect(() => parse(plain)).toThrow('DATABASE_ALLOW_PLAINTEXT=private-network');
    expect(() => parse(plain, { DATABASE_ALLOW_PLAINTEXT: 'yes' })).toThrow('DATABASE_URL');
    expect(parse(plain, { DATABASE_ALLOW_PLAINTEXT: 'private-network' })).toMatchObject({
      settings: { tls: false },
    });
    expect(parse('postgres://u@db.example/d')).toMatchObject({
      settings: { tls: true },
      mustBeDurable: true,
    });
    expect(parse('postgres://u@127.0.0.1/d')).toMatchObject({ settings: { tls: false } });
  });

  it('reports every problem at once, by name', () => {
    const parse = () =>
      parsePlatformConfig({
        PLATFORM_PORT: 'CANARY',
        PLATFORM_RELAYER_KEY: 'CANARY-KEY',
        PLATFORM_GATE_URL: 'http://gate.CANARY.example',
        PLATFORM_LOG_LEVEL: 'CANARY',
        PLATFORM_HOST: '0.0.0.0',
      });
    for (const name of [
      'PLATFORM_DATA_DIR',
      'PLATFORM_CHAINS_FILE',
      'PLATFORM_DEFAULT_CHAIN',
      'PLATFORM_PORT',
      'PLATFORM_RELAYER_KEY',
      'PLATFORM_GATE_URL',
      'PLATFORM_GATE_WRITE_CLIENT_ID',
      'PLATFORM_GATE_WRITE_CLIENT_SECRET',
      'PLATFORM_LOG_LEVEL',
      'PLATFORM_HOST',
    ]) {
      expect(parse).toThrow(name);
    }
    expect(parse).not.toThrow('CANARY');
  });

  it('reports the problem of the chains file, without its content', () => {
    const parse = () =>
      parsePlatformConfig({ ...platform, PLATFORM_CHAINS_FILE: join(directory, 'broken.json') });
    expect(parse).toThrow('PLATFORM_CHAINS_FILE is malformed');
    expect(parse).not.toThrow('CANARY');
    expect(() => parsePlatformConfig({ ...platform, PLATFORM_DEFAULT_CHAIN: 'base' })).toThrow(
      'names no chain',
    );
  });

  it('prefers a secret’s file to its inline value', () => {
    const config = parseGateConfig({
      ...gate,
      GATE_READ_CLIENT_SECRET_FILE: join(directory, 'secret'),
    });
    expect(config.reader?.clientSecret.reveal()).toBe('from-file');
    expect(config.writer.clientSecret.reveal()).toBe('inline');
    expect(JSON.stringify(config)).not.toContain(testPrivateKey);
  });

  it('refuses a secret’s file that every user of the machine may read', () => {
    const open = join(directory, 'open-secret');
    writeFileSync(open, 'from-file');
    chmodSync(open, 0o644);
    const parse = () => parseGateConfig({ ...gate, GATE_WRITE_CLIENT_SECRET_FILE: open });
    expect(parse).toThrow('GATE_WRITE_CLIENT_SECRET_FILE names a file that every user');
    chmodSync(open, 0o640);
    expect(parse().writer.clientSecret.reveal()).toBe('from-file');
  });

  it('reports an empty secret file as a problem', () => {
    writeFileSync(join(directory, 'empty'), ' \n', { mode: 0o600 });
    const empty = join(directory, 'empty');
    for (const name of [
      'GATE_READ_CLIENT_SECRET',
      'GATE_WRITE_CLIENT_SECRET',
      'GATE_PUBLISHER_KEY',
    ]) {
      expect(() => parseGateConfig({ ...gate, [`${name}_FILE`]: empty })).toThrow(
        `${name}_FILE names an empty file`,
      );
      expect(() => parseGateConfig({ ...gate, [name]: ' ' })).toThrow(`${name} is required`);
    }
    const [one, two] = ['1', '2'].map((digit) => `0x${digit.repeat(64)}`);
    const keysOf = (text: string) =>
      parsePlatformConfig({ ...platform, PLATFORM_RELAYER_KEY: text }).relayerKeys.map((key) =>
        key.reveal(),
      );
    expect(keysOf(`${one}, ${two}`)).toEqual([one, two]);
    expect(() => keysOf(`${one},0x`)).toThrow('PLATFORM_RELAYER_KEY must be 32 bytes');
    expect(() => keysOf(`${one},${one}`)).toThrow('PLATFORM_RELAYER_KEY has the same key twice');
    expect(() => parsePlatformConfig({ ...platform, PLATFORM_RELAYER_KEY_FILE: empty })).toThrow(
      'PLATFORM_RELAYER_KEY_FILE names an empty file',
    );
  });

  it('binds to another host only behind a TLS proxy', () => {
    const open = { ...gate, GATE_HOST: '0.0.0.0', GATE_ALLOW_PUBLIC_BIND: 'behind-tls-proxy' };
    expect(parseGateConfig(open).listen.host).toBe('0.0.0.0');
    expect(() => parseGateConfig({ ...gate, GATE_HOST: '0.0.0.0' })).toThrow('GATE_HOST');
  });

  it('requires two different clients', () => {
    expect(() => parseGateConfig({ ...gate, GATE_WRITE_CLIENT_ID: 'r' })).toThrow(
      'GATE_WRITE_CLIENT_ID',
    );
  });
});
