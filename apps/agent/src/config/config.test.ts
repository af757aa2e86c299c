// Configuration (README.md, "Configuration"): precedence, files, all problems at once.
import { describe, expect, it } from 'vitest';
import { parseConfig } from './config.ts';

const good = {
  DISBURSE_PLATFORM_URL: 'https://pool.example/agent-edge',
  DISBURSE_PLATFORM_TOKEN: 'pool_edge_canary',
};

function parse(
  env: Record<string, string>,
  file: Record<string, string> = {},
  files: Record<string, string> = {},
) {
  const readFile = (path: string): string => {
    const content = files[path];
    if (content === undefined) {
      throw new Error('ENOENT');
    }
    return content;
  };
  return parseConfig({ env, readFile, homeDir: '/home/op' }, { values: file });
}

function problemsOf(env: Record<string, string>, files: Record<string, string> = {}): string {
  try {
    parse(env, {}, files);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return '';
}

describe('parseConfig', () => {
  it('requires the platform only, and has the documented defaults [service.no-keys-by-default, state.mock-prover, auth.loopback-by-default, variable.prover]', () => {
    const config = parse(good);
    expect(config).toMatchObject({
      home: '/home/op/.disburse-agent',
      host: '127.0.0.1',
      port: 8787,
      chainsFile: '/home/op/.disburse-agent/chains.json',
      jobStore: 'sqlite:/home/op/.disburse-agent/jobs.sqlite',
      spendJournal: 'memory:',
      prover: 'wasm',
      accelerator: 'auto',
      logLevel: 'info',
      batchDeadlineSeconds: 3600,
      rateLimit: 100,
      funderPrivateKey: undefined,
      verifyUrl: undefined,
      isProduction: false,
      fault: undefined,
    });
    expect(config.platformToken.reveal()).toBe('pool_edge_canary');
  });

  it('accepts fetched keys as a folder with its manifest, and refuses the manifest without a folder', () => {
    const fetched = { DISBURSE_ARTIFACTS_DIR: '/keys', DISBURSE_ARTIFACTS_MANIFEST: '/keys.json' };
    expect(parse({ ...good, ...fetched })).toMatchObject({
      artifactsDir: '/keys',
      artifactsManifest: '/keys.json',
    });
    expect(problemsOf({ ...good, DISBURSE_ARTIFACTS_MANIFEST: '/keys.json' })).toContain(
      'DISBURSE_ARTIFACTS_DIR',
    );
  });

  it('prefers the environment to the file, and treats an empty variable as unset', () => {
    const file = { ...good, DISBURSE_CHAIN: 'base', DISBURSE_PORT: '9000' };
    const config = parse({ DISBURSE_CHAIN: 'anvil', DISBURSE_PORT: '' }, file);
    expect(config.chain).toBe('anvil');
    expect(config.port).toBe(9000);
  });

  it('prefers a _FILE variant to the inline secret: bare, or the JSON that a command printed', () => {
    const env = { ...good, DISBURSE_PLATFORM_TOKEN_FILE: '/run/token' };
    expect(parse(env, {}, { '/run/token': 'bare\n' }).platformToken.reveal()).toBe('bare');
    const json = '{"id":1,"token":"printed","name":"agent"}';
    expect(parse(env, {}, { '/run/token': json }).platformToken.reveal()).toBe('printed');
  });

  it('accepts only a metrics token that cannot be guessed', () => {
    const token = 'a-token-of-20-letters';
    expect(parse({ ...good, DISBURSE_METRICS_TOKEN: token }).metricsToken?.reveal()).toBe(token);
    expect(parse(good).metricsToken).toBeUndefined();
    for (const weak of ['short', `${'x'.repeat(20)} y`, 'x'.repeat(257)]) {
      expect(problemsOf({ ...good, DISBURSE_METRICS_TOKEN: weak })).toContain('20 to 256');
    }
  });

  it('reports every problem at once, by name and never by value [variable.verify-url, variable.prover]', () => {
    const canary = 'canary-value';
    const text = problemsOf(
      {
        DISBURSE_PLATFORM_URL: `http://${canary}.example`,
        DISBURSE_PLATFORM_VERIFY_URL: canary,
        DISBURSE_POOL_GATE_URL: 'https://gate.example',
        POOL_GATE_OAUTH_CLIENT_SECRET_FILE: `/${canary}`,
        DISBURSE_PROVER: canary,
        DISBURSE_SIGNER: canary,
        DISBURSE_FUNDER_PRIVATE_KEY_FILE: '/run/key',
        DISBURSE_HOST: '0.0.0.0',
        DISBURSE_PORT: canary,
        DISBURSE_JOB_STORE: `postgres://${canary}`,
        DISBURSE_ACCELERATOR: canary,
        DISBURSE_LOG_LEVEL: canary,
        DISBURSE_BATCH_DEADLINE_SECONDS: '1',
      },
      { '/run/key': `{"unknown":"${canary}"}` },
    );
    for (const name of [
      'DISBURSE_PLATFORM_URL',
      'DISBURSE_PLATFORM_TOKEN',
      'DISBURSE_PLATFORM_VERIFY_URL',
      'POOL_GATE_OAUTH_TOKEN_URL',
      'POOL_GATE_OAUTH_CLIENT_ID',
      'POOL_GATE_OAUTH_CLIENT_SECRET_FILE',
      'DISBURSE_PROVER',
      'DISBURSE_SIGNER',
      'DISBURSE_FUNDER_PRIVATE_KEY_FILE',
      'DISBURSE_HOST',
      'DISBURSE_PORT',
      'DISBURSE_JOB_STORE',
      'DISBURSE_ACCELERATOR',
      'DISBURSE_LOG_LEVEL',
      'DISBURSE_BATCH_DEADLINE_SECONDS',
    ]) {
      expect(text).toContain(name);
    }
    expect(text).not.toContain(canary);
  });

  it('names what each signer outside this process requires [signer.variables-required]', () => {
    for (const signer of ['enclave', 'custodian_a', 'custodian_b']) {
      expect(problemsOf({ ...good, DISBURSE_SIGNER: signer })).toContain(
        `DISBURSE_${signer.toUpperCase()}_ADDRESS is required by DISBURSE_SIGNER=${signer}`,
      );
    }
  });

  it('binds to another address only behind a proxy [auth.loopback-by-default]', () => {
    const env = { ...good, DISBURSE_HOST: '0.0.0.0' };
    expect(problemsOf(env)).toContain('DISBURSE_ALLOW_PUBLIC_BIND');
    expect(problemsOf({ ...env, DISBURSE_ALLOW_PUBLIC_BIND: 'yes' })).toContain('DISBURSE_HOST');
    expect(parse({ ...env, DISBURSE_ALLOW_PUBLIC_BIND: 'behind-tls-proxy' }).host).toBe('0.0.0.0');
  });

  it('accepts a fault only under NODE_ENV=test', () => {
    const env = { ...good, DISBURSE_FAULT: 'settling.posted' };
    expect(parse(env).fault).toBeUndefined();
    expect(parse({ ...env, NODE_ENV: 'production' }).fault).toBeUndefined();
    expect(parse({ ...env, NODE_ENV: 'test' }).fault).toBe('settling.posted');
  });

  it('keeps secrets out of anything that prints the configuration', () => {
    const config = parse({ ...good, DISBURSE_FUNDER_PRIVATE_KEY: `0x${'c0ffee'.repeat(10)}c0ff` });
    expect(config.funderPrivateKey?.reveal()).toContain('c0ffee');
    expect(JSON.stringify(config)).not.toMatch(/c0ffee|canary/);
  });
});
