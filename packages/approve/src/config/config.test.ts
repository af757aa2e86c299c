import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type GateConfig, parseGateConfig } from './config.ts';

const { privateKey: ed25519 } = generateKeyPairSync('ed25519', {
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const rsa = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

const custodianA = {
  APPROVE_CUSTODIAN: 'custodian_a',
  APPROVE_MANIFEST_TOKEN: 'a-token-of-twenty-characters',
  APPROVE_CUSTODIAN_A_URL: 'https://custody.example',
  APPROVE_CUSTODIAN_A_SERVICE_TOKEN: 'service-token',
  APPROVE_CUSTODIAN_A_CREDENTIAL_ID: 'cr-1',
  APPROVE_CUSTODIAN_A_SERVICE_KEY_FILE: '/secrets/key.pem',
  APPROVE_CUSTODIAN_A_USER_ID: 'us-gate',
};
const custodianB = {
  APPROVE_CUSTODIAN: 'custodian_b',
  APPROVE_MANIFEST_TOKEN: 'a-token-of-twenty-characters',
  APPROVE_VOTE_LIMIT_SECONDS: '3600',
  APPROVE_CUSTODIAN_B_URL: 'https://custody.example',
  APPROVE_CUSTODIAN_B_API_KEY: 'gate-key',
  APPROVE_CUSTODIAN_B_API_SECRET: rsa.privateKey.replaceAll('\n', '\\n'),
  APPROVE_CUSTODIAN_B_CALLBACK_URL: 'https://gate.example',
  APPROVE_CUSTODIAN_B_CALLBACK_PRIVATE_KEY: rsa.privateKey,
  APPROVE_CUSTODIAN_B_COSIGNER_PUBLIC_KEY: rsa.publicKey,
  APPROVE_CUSTODIAN_B_SIGNER_ID: 'signer',
  APPROVE_CUSTODIAN_B_COSIGNER_ID: 'cosigner',
};

const files: Readonly<Record<string, string>> = { '/secrets/key.pem': ed25519 };

function parse(
  env: Readonly<Record<string, string>>,
  file?: string,
  readMode?: (path: string) => number | undefined,
): GateConfig {
  const readFile = (path: string): string => {
    const content = path === '/home/.pool-approve/approve.env' ? file : files[path];
    if (content === undefined) {
      throw Object.assign(new Error('missing'), { code: 'ENOENT' });
    }
    return content;
  };
  const modes = readMode === undefined ? {} : { readMode };
  return parseGateConfig({ env, readFile, ...modes, homeDir: '/home' });
}

describe('what the gate refuses to start with', () => {
  it('is a misspelt variable, in the environment or in the file', () => {
    expect(problemsOf({ ...custodianA, APPROVE_VOTE_LIMIT: '60' })).toMatch(
      /APPROVE_VOTE_LIMIT is no variable of the gate/,
    );
    expect(problemsOf(custodianA, 'APPROVE_PROT=1\n')).toMatch(/APPROVE_PROT is no variable/);
    expect(problemsOf({ ...custodianA, OTHER_NAME: '1' })).toBe('');
  });

  it.each([
    [0o644, /SERVICE_KEY_FILE names a file that is not private: \/secrets\/key\.pem is open to/],
    [0o100604, /mode 0604.*chmod o= /],
    [0o640, /^$/],
    [undefined, /^$/],
  ])('is a secret file of mode %o', (mode, expected) => {
    const readMode = (path: string) => (path === '/secrets/key.pem' ? mode : 0o600);
    expect(problemsOf(custodianA, undefined, readMode)).toMatch(expected);
  });

  it('is a configuration file that others can read, where a secret is written in it', () => {
    const readMode = (path: string) => (path.endsWith('approve.env') ? 0o644 : 0o600);
    const { APPROVE_MANIFEST_TOKEN: token, ...others } = custodianA;
    const secret = `APPROVE_MANIFEST_TOKEN=${token}\n`;
    expect(problemsOf(others, secret, readMode)).toMatch(/approve\.env is open to every user/);
    expect(problemsOf(custodianA, 'APPROVE_PORT=1\n', readMode)).toBe('');
  });
});

function problemsOf(
  env: Readonly<Record<string, string>>,
  file?: string,
  readMode?: (path: string) => number | undefined,
): string {
  try {
    parse(env, file, readMode);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return '';
}

describe('the configuration of the gate', () => {
  it('reads custodian A, with its defaults', () => {
    const config = parse(custodianA);
    expect(config).toMatchObject({
      home: '/home/.pool-approve',
      policyFile: '/home/.pool-approve/policy.json',
      host: '127.0.0.1',
      port: 8788,
      voteLimitSeconds: 86_400,
      custodian: {
        kind: 'custodian_a',
        origin: 'https://custody.example',
        headerPrefix: 'x-',
        pollSeconds: 5,
      },
    });
    expect(JSON.stringify(config)).not.toContain('service-token');
  });

  it('reads custodian B, with keys on one line', () => {
    expect(parse(custodianB).custodian).toMatchObject({ kind: 'custodian_b', signerId: 'signer' });
  });

  it('serves the host of the callback URL without a list', () => {
    expect(parse(custodianA).allowedHosts).toEqual([]);
    const env = {
      ...custodianB,
      APPROVE_CUSTODIAN_B_CALLBACK_URL: 'https://gate.example:8443/path',
      APPROVE_ALLOWED_HOSTS: 'other.example',
    };
    expect(parse(env).allowedHosts).toEqual(['other.example', 'gate.example']);
  });

  it('reads a file, which the environment outranks', () => {
    const file = Object.entries({ ...custodianA, APPROVE_PORT: '9000' })
      .map(([name, value]) => `${name}=${value}`)
      .join('\n');
    expect(parse({}, file).port).toBe(9000);
    expect(parse({ APPROVE_PORT: '9001' }, file).port).toBe(9001);
  });

  it('names every problem at once, and never a value', () => {
    const message = problemsOf({
      APPROVE_CUSTODIAN: 'custodian_a',
      APPROVE_MANIFEST_TOKEN: 'short',
      APPROVE_CUSTODIAN_A_URL: 'http://custody.example',
      APPROVE_CUSTODIAN_A_SERVICE_KEY: 'not-a-key',
      APPROVE_PORT: '70000',
    });
    for (const name of [
      'APPROVE_MANIFEST_TOKEN must be',
      'APPROVE_CUSTODIAN_A_URL must be an https URL',
      'APPROVE_CUSTODIAN_A_SERVICE_TOKEN is required',
      'APPROVE_CUSTODIAN_A_SERVICE_KEY must be a PKCS#8 PEM',
      'APPROVE_CUSTODIAN_A_USER_ID is required',
      'APPROVE_PORT must be',
    ]) {
      expect(message).toContain(name);
    }
    expect(message).not.toMatch(/short|not-a-key|70000/);
  });

  it('refuses a quote that a line does not close', () => {
    expect(problemsOf(custodianA, 'APPROVE_MANIFEST_TOKEN="0123456789012345678901234')).toMatch(
      /line 1, APPROVE_MANIFEST_TOKEN: opens a quote and does not close it/,
    );
  });

  it('names the line of its file that it cannot read', () => {
    expect(problemsOf(custodianA, 'APPROVE_PORT=1\nAPPROVE_PORT=2\nthis is nothing')).toMatch(
      /line 2, APPROVE_PORT: is already set by line 1[\s\S]*line 3: is not NAME=value/,
    );
  });

  it.each([
    'DISBURSE_FUNDER_PRIVATE_KEY',
    'DISBURSE_HOME',
    'POOL_GATE_OAUTH_SCOPE',
    'ONBOARD_PRIVATE_KEY',
    'AGENT_ENV',
  ])('refuses %s, a variable of the agent [signer.second-process]', (name) => {
    expect(problemsOf({ ...custodianA, [name]: 'x' })).toContain(
      `${name} is a variable of the agent`,
    );
  });

  it('refuses an address that is not loopback without a proxy that terminates TLS', () => {
    expect(problemsOf({ ...custodianA, APPROVE_HOST: '0.0.0.0' })).toContain('APPROVE_HOST');
    const behindProxy = { APPROVE_HOST: '0.0.0.0', APPROVE_ALLOW_PUBLIC_BIND: 'behind-tls-proxy' };
    expect(parse({ ...custodianA, ...behindProxy }).host).toBe('0.0.0.0');
  });

  it('refuses one token for manifests and metrics', () => {
    const token = custodianA.APPROVE_MANIFEST_TOKEN;
    expect(problemsOf({ ...custodianA, APPROVE_METRICS_TOKEN: token })).toContain(
      'APPROVE_METRICS_TOKEN equals APPROVE_MANIFEST_TOKEN',
    );
  });

  it("refuses a vote limit that is longer than the co-signer's retries", () => {
    expect(problemsOf({ ...custodianB, APPROVE_VOTE_LIMIT_SECONDS: '3601' })).toMatch(
      /APPROVE_VOTE_LIMIT_SECONDS is 3601, but the co-signer asks again for 3600 seconds only/,
    );
    const raised = {
      APPROVE_VOTE_LIMIT_SECONDS: '172800',
      APPROVE_CUSTODIAN_B_RETRY_SECONDS: '3600',
      APPROVE_CUSTODIAN_B_RETRY_TIMES: '48',
    };
    expect(parse({ ...custodianB, ...raised }).voteLimitSeconds).toBe(172_800);
    expect(problemsOf({ ...custodianB, ...raised, APPROVE_VOTE_LIMIT_SECONDS: '172801' })).toMatch(
      /172800 seconds only/,
    );
  });

  it('ends the process at a named point in tests only', () => {
    const fault = { APPROVE_FAULT: 'vote.after-send' };
    expect(parse({ ...custodianA, ...fault }).fault).toBeUndefined();
    expect(parse({ ...custodianA, ...fault, NODE_ENV: 'test' }).fault).toBe('vote.after-send');
  });
});

it('reads standard input by its descriptor, also when it is a socket or belongs to another user', () => {
  const source = `
    const { createProcessSource } = await import(${JSON.stringify(new URL('config.ts', import.meta.url).href)});
    process.stdout.write(createProcessSource().readFile(process.argv[1]));`;
  const argv = ['--conditions=@pool/source', '--input-type=module', '-e', source, '/dev/stdin'];
  // The child's standard input is a socket, which cannot be opened by its path.
  const { stdout, stderr } = spawnSync(process.execPath, argv, {
    input: ed25519,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(stdout).toBe(ed25519);
});
