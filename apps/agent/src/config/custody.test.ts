// Signers outside the agent's process: what each requires, and what they refuse (README.md, "Configuration").
import { computeDevelopmentPcrs } from '@pool/signers';
import { createFakeHolder } from '@pool/testkit';
import { describe, expect, it } from 'vitest';
import { createConfigSource, goodEnvironment } from '../fixtures/config-world.ts';
import { createLayers } from './config.ts';
import { resolveConfig } from './resolve.ts';

type Env = Readonly<Record<string, string>>;

const pem = '-----BEGIN PRIVATE KEY-----\\nMC4CAQAwBQYDK2VwBCIEIA==\\n-----END PRIVATE KEY-----';
const [funderWallet, holderWallet] = [createFakeHolder(1), createFakeHolder(2)];
const { address: funder } = funderWallet;
const { walletPub } = holderWallet;
const funderKey = `0x${'42'.repeat(32)}`;
const pins = `0=${pcr('a1')},1=${pcr('a2')},2=${pcr('a3')}`;

function pcr(byte: string): string {
  return byte.repeat(48);
}

const approve: Env = {
  DISBURSE_APPROVE_URL: 'http://127.0.0.1:8788',
  DISBURSE_APPROVE_TOKEN: 'token-of-the-approve-process',
};
const accountA: Env = {
  ...approve,
  DISBURSE_CUSTODIAN_A_URL: 'https://custodian-a.example',
  DISBURSE_CUSTODIAN_A_SERVICE_TOKEN: 'service',
  DISBURSE_CUSTODIAN_A_CREDENTIAL_ID: 'cr-1',
  DISBURSE_CUSTODIAN_A_SERVICE_KEY: pem,
};
const funders: Readonly<Record<string, Env>> = {
  custodian_a: {
    ...accountA,
    DISBURSE_CUSTODIAN_A_WALLET_ID: 'wa-1',
    DISBURSE_CUSTODIAN_A_ADDRESS: funder,
  },
  custodian_b: {
    ...approve,
    DISBURSE_CUSTODIAN_B_URL: 'https://custodian-b.example',
    DISBURSE_CUSTODIAN_B_API_KEY: 'key',
    DISBURSE_CUSTODIAN_B_API_SECRET: pem,
    DISBURSE_CUSTODIAN_B_VAULT_ACCOUNT: '0',
    DISBURSE_CUSTODIAN_B_ASSET: 'ETH',
    DISBURSE_CUSTODIAN_B_ADDRESS: funder,
  },
  enclave: {
    DISBURSE_ENCLAVE_SOCKET: '/run/enclave.sock',
    DISBURSE_ENCLAVE_ADDRESS: funder,
    DISBURSE_ENCLAVE_ROOT_SHA256: 'ab'.repeat(32),
    DISBURSE_ENCLAVE_PCRS: pins,
  },
};
const holders: Readonly<Record<string, Env>> = {
  custodian_a: {
    ...accountA,
    DISBURSE_HOLDER_VIEWING_KEY: `0x01${'ab'.repeat(31)}`,
    DISBURSE_CUSTODIAN_A_HOLDER_WALLET_ID: 'wa-2',
    DISBURSE_CUSTODIAN_A_HOLDER_WALLET_PUB: walletPub,
  },
  enclave: {
    DISBURSE_HOLDER_ENCLAVE_SOCKET: '/run/holder.sock',
    DISBURSE_HOLDER_ENCLAVE_WALLET_PUB: walletPub,
    DISBURSE_HOLDER_ENCLAVE_ROOT_SHA256: 'ab'.repeat(32),
    DISBURSE_HOLDER_ENCLAVE_PCRS: pins,
  },
};

function resolve(env: Env) {
  return resolveConfig(
    createLayers(createConfigSource({ ...goodEnvironment, ...env }, {}), { values: {} }),
  );
}

function problemsOf(env: Env): string[] {
  return resolve(env).problems.map(({ message }) => message);
}

describe.each([
  ...Object.entries(funders).map(([name, env]) => ['DISBURSE_SIGNER', name, env] as const),
  ...Object.entries(holders).map(([name, env]) => ['DISBURSE_HOLDER_SIGNER', name, env] as const),
])('%s=%s', (variable, name, env) => {
  it('is complete, without a warning [variable.signer, variable.custodians, variable.holder-signer]', () => {
    const { config, problems, warnings } = resolve({ ...env, [variable]: name });
    expect(problems).toEqual([]);
    expect(warnings).toEqual([]);
    const found = variable === 'DISBURSE_SIGNER' ? config?.remoteFunder : config?.holder.remote;
    expect(found?.kind).toBe(name);
  });

  it.each(Object.keys(env))(
    'requires %s by name [variable.signer, variable.holder-signer, signer.variables-required]',
    (missing) => {
      const messages = problemsOf({ ...env, [variable]: name, [missing]: '' });
      expect(messages).toEqual([expect.stringMatching(new RegExp(`^${missing}.* is required by`))]);
    },
  );
});

describe('the funder', () => {
  it('has exactly one signer [signer.one-funder]', () => {
    const env = { ...funders['enclave'], DISBURSE_SIGNER: 'enclave' };
    expect(problemsOf({ ...env, DISBURSE_FUNDER_PRIVATE_KEY: funderKey })).toEqual([
      expect.stringContaining(
        'DISBURSE_FUNDER_PRIVATE_KEY must be unset with DISBURSE_SIGNER=enclave',
      ),
    ]);
  });

  it.each([
    ['an http URL', { DISBURSE_CUSTODIAN_A_URL: 'http://custodian-a.example' }],
    ['an http URL of the gate', { DISBURSE_APPROVE_URL: 'http://gate.example' }],
    [
      'an address with a wrong checksum',
      { DISBURSE_CUSTODIAN_A_ADDRESS: funder.toUpperCase().replace('0X', '0x') },
    ],
    ['a prefix without its hyphen', { DISBURSE_CUSTODIAN_A_HEADER_PREFIX: 'x-provider' }],
    ['a key that is no PEM', { DISBURSE_CUSTODIAN_A_SERVICE_KEY: funderKey }],
    [
      'a token of the gate that is the platform’s',
      { DISBURSE_APPROVE_TOKEN: 'p'.repeat(24), DISBURSE_PLATFORM_TOKEN: 'p'.repeat(24) },
    ],
  ])('refuses %s [variable.custodians]', (_, changes: Env) => {
    const messages = problemsOf({
      ...funders['custodian_a'],
      DISBURSE_SIGNER: 'custodian_a',
      ...changes,
    });
    expect(messages).toHaveLength(1);
    expect(messages.join()).toContain(Object.keys(changes)[0]);
    expect(messages.join()).not.toContain(funderKey);
  });

  it('names origin and headers of custodian A as the provider compares them', () => {
    const env = { ...funders['custodian_a'], DISBURSE_SIGNER: 'custodian_a' };
    const accountOf = (changes: Env) => {
      const funder = resolve({ ...env, ...changes }).config?.remoteFunder;
      return funder !== undefined && 'account' in funder ? funder.account : undefined;
    };
    expect(accountOf({})).toMatchObject({ headerPrefix: 'x-' });
    expect(
      accountOf({
        DISBURSE_CUSTODIAN_A_ORIGIN: 'https://Console.example:443/',
        DISBURSE_CUSTODIAN_A_HEADER_PREFIX: 'x-provider-',
      }),
    ).toMatchObject({ origin: 'https://console.example', headerPrefix: 'x-provider-' });
  });

  it.each([
    ['a zero PCR', `0=${pcr('00')},1=${pcr('a2')},2=${pcr('a3')}`],
    ['two PCRs', `0=${pcr('a1')},1=${pcr('a2')}`],
    ['a short PCR', `0=a1,1=${pcr('a2')},2=${pcr('a3')}`],
  ])('refuses pins with %s', (_, text) => {
    expect(
      problemsOf({
        ...funders['enclave'],
        DISBURSE_SIGNER: 'enclave',
        DISBURSE_ENCLAVE_PCRS: text,
      }),
    ).toEqual([expect.stringContaining('DISBURSE_ENCLAVE_PCRS')]);
  });
});

describe.each([
  ['DISBURSE_SIGNER', funders['enclave'], 'DISBURSE_ENCLAVE'],
  ['DISBURSE_HOLDER_SIGNER', holders['enclave'], 'DISBURSE_HOLDER_ENCLAVE'],
])('%s=enclave', (variable, env, prefix) => {
  it('says of a key in a token that its signatures do not repeat [variable.enclave-deterministic]', () => {
    for (const [written, deterministic] of [
      ['', true],
      ['false', false],
    ] as const) {
      const { config, problems } = resolve({
        ...env,
        [variable]: 'enclave',
        [`${prefix}_DETERMINISTIC`]: written,
      });
      expect(problems).toEqual([]);
      const found = variable === 'DISBURSE_SIGNER' ? config?.remoteFunder : config?.holder.remote;
      expect(found).toMatchObject({ enclave: { deterministic } });
    }
  });

  it('warns of the pins of a development enclave', () => {
    const [pcr0, pcr1, pcr2] = computeDevelopmentPcrs().map((bytes) =>
      Buffer.from(bytes).toString('hex'),
    );
    const development = { [`${prefix}_PCRS`]: `0=${pcr0},1=${pcr1},2=${pcr2}` };
    expect(
      resolve({ ...env, ...development, [variable]: 'enclave' }).warnings.map(
        ({ message }) => message,
      ),
    ).toEqual([expect.stringContaining(`${prefix}_PCRS names a development enclave`)]);
  });
});

describe('funder and holder at custodian A', () => {
  const both = {
    ...funders['custodian_a'],
    ...holders['custodian_a'],
    DISBURSE_SIGNER: 'custodian_a',
    DISBURSE_HOLDER_SIGNER: 'custodian_a',
  };

  it('share an account, and no wallet [variable.custodians]', () => {
    expect(problemsOf(both)).toEqual([]);
    expect(problemsOf({ ...both, DISBURSE_CUSTODIAN_A_HOLDER_WALLET_ID: 'wa-1' })).toEqual([
      expect.stringContaining('DISBURSE_CUSTODIAN_A_HOLDER_WALLET_ID must differ from'),
    ]);
    const own = { DISBURSE_CUSTODIAN_A_ADDRESS: holderWallet.address };
    expect(problemsOf({ ...both, ...own })).toEqual([
      expect.stringContaining('DISBURSE_CUSTODIAN_A_HOLDER_WALLET_PUB is the wallet of'),
    ]);
  });
});

describe('a holder outside this process', () => {
  const inEnclave = { ...holders['enclave'], DISBURSE_HOLDER_SIGNER: 'enclave' };
  const atCustodian = { ...holders['custodian_a'], DISBURSE_HOLDER_SIGNER: 'custodian_a' };

  it.each([
    ['DISBURSE_HOLDER_PRIVATE_KEY', 'enclave', inEnclave],
    ['DISBURSE_HOLDER_ED25519_KEY', 'enclave', inEnclave],
    ['DISBURSE_HOLDER_PRIVATE_KEY', 'custodian_a', atCustodian],
    ['DISBURSE_HOLDER_ED25519_KEY', 'custodian_a', atCustodian],
  ])('refuses %s beside %s', (variable, signer, env) => {
    expect(problemsOf({ ...env, [variable]: funderKey })).toEqual([
      expect.stringContaining(`${variable} must be unset with DISBURSE_HOLDER_SIGNER=${signer}`),
    ]);
  });

  it.each([
    ['enclave', inEnclave],
    ['custodian_a', atCustodian],
  ])('has another wallet than the funder: %s', (_, holder) => {
    const { address, wallet } = holderWallet;
    const own = 'WALLET_PUB is the wallet of ';
    const ofFunder = (name: string): Env => ({
      ...funders[name],
      DISBURSE_SIGNER: name,
      ...holder,
    });
    const shared: readonly (readonly [string, Env])[] = [
      ['DISBURSE_ENCLAVE_ADDRESS', { ...ofFunder('enclave'), DISBURSE_ENCLAVE_ADDRESS: address }],
      [
        'DISBURSE_CUSTODIAN_A_ADDRESS',
        { ...ofFunder('custodian_a'), DISBURSE_CUSTODIAN_A_ADDRESS: address },
      ],
      [
        'DISBURSE_CUSTODIAN_B_ADDRESS',
        { ...ofFunder('custodian_b'), DISBURSE_CUSTODIAN_B_ADDRESS: address },
      ],
      [
        'DISBURSE_FUNDER_PRIVATE_KEY',
        { ...holder, DISBURSE_FUNDER_PRIVATE_KEY: wallet.privateKey },
      ],
    ];
    for (const [name, env] of shared) {
      expect(problemsOf(env)).toEqual([expect.stringContaining(`${own}${name}`)]);
    }
    expect(problemsOf({ ...holder, DISBURSE_FUNDER_PRIVATE_KEY: funderKey })).toEqual([]);
  });
});

describe('the secrets of the approve process', () => {
  it.each([
    'APPROVE_CUSTODIAN_A_SERVICE_TOKEN',
    'APPROVE_CUSTODIAN_A_SERVICE_KEY_FILE',
    'APPROVE_CUSTODIAN_B_API_SECRET',
    'APPROVE_CUSTODIAN_B_CALLBACK_PRIVATE_KEY_FILE',
  ])('are refused beside the agent: %s', (name) => {
    expect(problemsOf({ [name]: 'canary' })).toEqual([
      expect.stringContaining(`${name} must be unset`),
    ]);
  });
});

describe('warnings', () => {
  it.each([
    [
      'a signer that is not used',
      { DISBURSE_ENCLAVE_SOCKET: '/run/e.sock' },
      'DISBURSE_ENCLAVE_SOCKET has no effect',
    ],
    [
      'the gate’s configuration',
      { APPROVE_CUSTODIAN: 'custodian_a' },
      'APPROVE_CUSTODIAN belongs to the approve process',
    ],
    [
      'a mistyped name',
      { DISBURSE_CUSTODIAN_A_WALET_ID: 'x' },
      'did you mean DISBURSE_CUSTODIAN_A_WALLET_ID',
    ],
  ])('name %s [variable.without-effect]', (_, env: Env, expected) => {
    expect(resolve(env).warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining(expected),
    ]);
  });
});
