// The configurations that stop the start: one row per rule (README.md, "Configuration").
import { describe, expect, it } from 'vitest';
import { createConfigSource, goodEnvironment } from '../fixtures/config-world.ts';
import { createLayers } from './config.ts';
import { resolveConfig } from './resolve.ts';

const key = `0x${'ab'.repeat(32)}`;
const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

type Env = Readonly<Record<string, string>>;

function resolve(env: Env, files: Env = {}, file: Env = {}) {
  return resolveConfig(
    createLayers(createConfigSource({ ...goodEnvironment, ...env }, files), { values: file }),
  );
}

function messagesOf(remarks: readonly { readonly message: string }[]): string[] {
  return remarks.map(({ message }) => message);
}

describe('credentials that must differ', () => {
  const pairs: readonly (readonly [string, string])[] = [
    ['DISBURSE_BALANCE_TOKEN', 'DISBURSE_TRANSFER_TOKEN'],
    ['DISBURSE_BALANCE_TOKEN', 'DISBURSE_SEND_TOKEN'],
    ['DISBURSE_BALANCE_TOKEN', 'DISBURSE_PLATFORM_TOKEN'],
    ['DISBURSE_TRANSFER_TOKEN', 'DISBURSE_PLATFORM_TOKEN'],
    ['DISBURSE_SEND_TOKEN', 'DISBURSE_PLATFORM_TOKEN'],
    ['DISBURSE_METRICS_TOKEN', 'DISBURSE_PLATFORM_TOKEN'],
    ['DISBURSE_METRICS_TOKEN', 'DISBURSE_BALANCE_TOKEN'],
    ['DISBURSE_METRICS_TOKEN', 'DISBURSE_TRANSFER_TOKEN'],
    ['DISBURSE_METRICS_TOKEN', 'DISBURSE_SEND_TOKEN'],
    ['DISBURSE_METRICS_TOKEN', 'POOL_GATE_OAUTH_CLIENT_SECRET'],
  ];
  const shared = 'one-token-for-two-things';

  it.each(pairs)(
    'refuses %s equal to %s [separation.balance, separation.spend, error.holder-credential]',
    (left, right) => {
      const { config, problems } = resolve({ [left]: shared, [right]: shared });
      expect(config).toBeUndefined();
      expect(messagesOf(problems)).toEqual([
        expect.stringMatching(new RegExp(`^${left} must differ from ${right}: `)),
      ]);
      expect(resolve({ [left]: shared, [right]: `${shared}.` }).problems).toEqual([]);
    },
  );

  it.each(pairs)(
    'refuses %s equal to %s through files, of either form [separation.balance, separation.spend]',
    (left, right) => {
      const field: Env = {
        DISBURSE_PLATFORM_TOKEN: 'token',
        DISBURSE_METRICS_TOKEN: 'token',
        POOL_GATE_OAUTH_CLIENT_SECRET: 'clientSecret',
      };
      const document = JSON.stringify({ [field[right] ?? 'apiKey']: shared });
      const { problems } = resolve(
        { [`${left}_FILE`]: '/left', [`${right}_FILE`]: '/right', [right]: 'other' },
        { '/left': `${shared}\n`, '/right': document },
      );
      expect(messagesOf(problems)).toEqual([expect.stringContaining(`${left} must differ from`)]);
    },
  );

  it('reads each file once, because a pipe is empty at the second read [config.secret-files]', () => {
    const source = createConfigSource({
      DISBURSE_PLATFORM_URL: 'https://pool.example/agent-edge',
      DISBURSE_PLATFORM_TOKEN_FILE: '/dev/fd/63',
      DISBURSE_BALANCE_TOKEN_FILE: '/dev/fd/64',
    });
    const read: string[] = [];
    const readFile = (path: string): string => {
      read.push(path);
      return read.filter((one) => one === path).length > 1 ? '' : shared;
    };
    const { problems } = resolveConfig(createLayers({ ...source, readFile }, { values: {} }));
    expect(messagesOf(problems)).toEqual([
      expect.stringContaining('DISBURSE_BALANCE_TOKEN must differ from DISBURSE_PLATFORM_TOKEN'),
    ]);
    expect(read.sort()).toEqual(['/dev/fd/63', '/dev/fd/64']);
  });

  it('compares the effective values, not an inline value that a file replaces', () => {
    const env = { DISBURSE_BALANCE_TOKEN: shared, DISBURSE_SEND_TOKEN: shared };
    expect(
      resolve({ ...env, DISBURSE_SEND_TOKEN_FILE: '/send' }, { '/send': 'another' }).problems,
    ).toEqual([]);
  });

  it('compares credentials that are invalid as well', () => {
    const { problems } = resolve({
      DISBURSE_PLATFORM_TOKEN: 'two words',
      DISBURSE_SEND_TOKEN: 'two words',
    });
    expect(messagesOf(problems).join('\n')).toContain('DISBURSE_SEND_TOKEN must differ from');
  });

  it('accepts one key for both spends, because the platform checks its capability', () => {
    expect(
      resolve({ DISBURSE_SEND_TOKEN: shared, DISBURSE_TRANSFER_TOKEN: shared }).problems,
    ).toEqual([]);
  });

  it('refuses a fingerprint key that is the funder key or another credential', () => {
    const key = `0x${'ab'.repeat(32)}`;
    const { problems } = resolve({
      DISBURSE_FINGERPRINT_KEY: key,
      DISBURSE_FUNDER_PRIVATE_KEY: key,
    });
    expect(messagesOf(problems)).toEqual([
      expect.stringContaining(
        'DISBURSE_FINGERPRINT_KEY must differ from DISBURSE_FUNDER_PRIVATE_KEY',
      ),
    ]);
    const short = resolve({ DISBURSE_FINGERPRINT_KEY: '0xabc' });
    expect(messagesOf(short.problems)).toEqual([
      expect.stringContaining('DISBURSE_FINGERPRINT_KEY must be 32 bytes'),
    ]);
  });

  it('refuses a metrics token that equals the loopback token', () => {
    const { problems } = resolve(
      { DISBURSE_METRICS_TOKEN: 'f'.repeat(64) },
      { '/home/op/.disburse-agent/loopback.token': `${'f'.repeat(64)}\n` },
    );
    expect(messagesOf(problems)).toEqual([
      expect.stringContaining('DISBURSE_METRICS_TOKEN must differ from the loopback token'),
    ]);
  });
});

describe('refusals', () => {
  const rows: readonly (readonly [string, Env, string])[] = [
    ['platform URL missing', { DISBURSE_PLATFORM_URL: ' ' }, 'DISBURSE_PLATFORM_URL is required'],
    ['edge token missing', { DISBURSE_PLATFORM_TOKEN: '' }, 'DISBURSE_PLATFORM_TOKEN is required'],
    [
      'spend journal in the job store',
      {
        DISBURSE_SPEND_JOURNAL: 'sqlite:/keys/jobs.sqlite',
        DISBURSE_JOB_STORE: 'sqlite:/keys/../keys/jobs.sqlite',
      },
      'DISBURSE_SPEND_JOURNAL must name another file than DISBURSE_JOB_STORE',
    ],
    [
      'spend journal elsewhere',
      { DISBURSE_SPEND_JOURNAL: 'postgres://x' },
      'DISBURSE_SPEND_JOURNAL must be sqlite',
    ],
    [
      'a platform URL without its path for agents',
      { DISBURSE_PLATFORM_URL: 'https://pool.example' },
      'DISBURSE_PLATFORM_URL must end with /agent-edge',
    ],
    ['plain http', { DISBURSE_PLATFORM_URL: 'http://pool.example' }, 'DISBURSE_PLATFORM_URL must'],
    ['token in two words', { DISBURSE_SEND_TOKEN: 'a b' }, 'DISBURSE_SEND_TOKEN must be 1 to 256'],
    ['ceiling of zero', { DISBURSE_SEND_MAX_AMOUNT: '0' }, 'DISBURSE_SEND_MAX_AMOUNT must'],
    ['ceiling below zero', { DISBURSE_SEND_MAX_AMOUNT: '-5' }, 'DISBURSE_SEND_MAX_AMOUNT must'],
    ['ceiling with point', { DISBURSE_TRANSFER_MAX_AMOUNT: '1.5' }, 'DISBURSE_TRANSFER_MAX_AMOUNT'],
    ['ceiling as power', { DISBURSE_TRANSFER_MAX_AMOUNT: '1e6' }, 'DISBURSE_TRANSFER_MAX_AMOUNT'],
    ['enclave funder', { DISBURSE_SIGNER: 'enclave' }, 'DISBURSE_ENCLAVE_PCRS is required'],
    [
      'custodian A funder',
      { DISBURSE_SIGNER: 'custodian_a' },
      'DISBURSE_CUSTODIAN_A_WALLET_ID is required',
    ],
    [
      'custodian B funder',
      { DISBURSE_SIGNER: 'custodian_b' },
      'DISBURSE_CUSTODIAN_B_ASSET is required',
    ],
    [
      'unknown funder signer',
      { DISBURSE_SIGNER: 'fireblocks' },
      'DISBURSE_SIGNER must be enclave, custodian_b, custodian_a or contract_wallet; leave it unset for the local key',
    ],
    ['local-key by name', { DISBURSE_SIGNER: 'local-key' }, 'leave it unset for the local key'],
    [
      'enclave holder',
      { DISBURSE_HOLDER_SIGNER: 'enclave' },
      'DISBURSE_HOLDER_ENCLAVE_PCRS is required',
    ],
    [
      'custodian A holder',
      { DISBURSE_HOLDER_SIGNER: 'custodian_a' },
      'DISBURSE_CUSTODIAN_A_HOLDER_WALLET_ID is',
    ],
    [
      'custodian B holder',
      { DISBURSE_HOLDER_SIGNER: 'custodian_b' },
      'custodian B has no holder signer',
    ],
    ['unknown holder', { DISBURSE_HOLDER_SIGNER: 'toString' }, 'must be one of local-key'],
    [
      'MPC without an escrowed viewing key',
      { DISBURSE_HOLDER_SIGNER: 'custodian_a' },
      'DISBURSE_HOLDER_VIEWING_KEY is required by custodian_a',
    ],
    ['address for a symbol', { DISBURSE_TOKEN_SYMBOL: address }, 'DISBURSE_TOKEN_SYMBOL must'],
    ['short private key', { DISBURSE_FUNDER_PRIVATE_KEY: '0xabc' }, 'DISBURSE_FUNDER_PRIVATE_KEY'],
    ['short holder key', { DISBURSE_HOLDER_PRIVATE_KEY: '0xabc' }, 'DISBURSE_HOLDER_PRIVATE_KEY'],
    [
      'short ed25519 holder key',
      { DISBURSE_HOLDER_ED25519_KEY: '0xabc' },
      'DISBURSE_HOLDER_ED25519_KEY must be a private key',
    ],
    [
      'ed25519 funder key that is no seed',
      { DISBURSE_FUNDER_ED25519_KEY: '[1,2,3]' },
      'DISBURSE_FUNDER_ED25519_KEY must be a private key',
    ],
    [
      'viewing key in words',
      { DISBURSE_HOLDER_VIEWING_KEY: 'my-viewing-key' },
      'DISBURSE_HOLDER_VIEWING_KEY must be a viewing key',
    ],
    [
      'viewing key of zero',
      { DISBURSE_HOLDER_VIEWING_KEY: `0x${'00'.repeat(32)}` },
      'DISBURSE_HOLDER_VIEWING_KEY must be a viewing key',
    ],
    [
      'viewing key that is not below l',
      { DISBURSE_HOLDER_VIEWING_KEY: key },
      'DISBURSE_HOLDER_VIEWING_KEY must be a viewing key',
    ],
    ['short host key', { ONBOARD_PRIVATE_KEY: '0xabc' }, 'ONBOARD_PRIVATE_KEY must'],
    [
      'short P',
      { DISBURSE_HOLDER_ENCRYPTION_PUBKEY: '0xabc' },
      'DISBURSE_HOLDER_ENCRYPTION_PUBKEY',
    ],
    ['wrong prover', { DISBURSE_PROVER: 'gpu' }, 'DISBURSE_PROVER must be one of wasm, mock'],
    ['chain by name', { DISBURSE_CHAIN: 'Base Mainnet' }, 'DISBURSE_CHAIN must be a chain key'],
    ['port in the host', { DISBURSE_HOST: '127.0.0.1:80' }, 'DISBURSE_HOST must be an IP address'],
    ['mistyped address', { DISBURSE_HOST: '127.0.0.256' }, 'DISBURSE_HOST must be an IP address'],
    ['public bind', { DISBURSE_HOST: '0.0.0.0' }, 'DISBURSE_HOST is not a loopback address'],
    ['public bind, IPv6', { DISBURSE_HOST: '::' }, 'DISBURSE_HOST is not a loopback address'],
    ['public name', { DISBURSE_HOST: 'pool.example' }, 'DISBURSE_HOST is not a loopback address'],
    [
      'another acknowledgement',
      { DISBURSE_ALLOW_PUBLIC_BIND: 'true' },
      'DISBURSE_ALLOW_PUBLIC_BIND must be one of behind-tls-proxy',
    ],
    ['wildcard host', { DISBURSE_ALLOWED_HOSTS: '*.example' }, 'DISBURSE_ALLOWED_HOSTS must'],
    ['host with port', { DISBURSE_ALLOWED_HOSTS: 'a.example:1' }, 'DISBURSE_ALLOWED_HOSTS must'],
    [
      'gate without client',
      { DISBURSE_POOL_GATE_URL: 'https://gate.example' },
      'POOL_GATE_OAUTH_CLIENT_ID is required when',
    ],
  ];

  it.each(rows)(
    '%s [variable.platform-url, variable.platform-token, variable.gate, variable.funder-ed25519, variable.ceilings-form, variable.token-symbol-default, variable.holder-signer-choice, variable.holder-forms, variable.viewing-key, variable.viewing-key-required, viewing-key.missing-ends-start, error.missing-viewing-key]',
    (_title, env, expected) => {
      const { config, problems } = resolve(env);
      expect(config).toBeUndefined();
      expect(messagesOf(problems).join('\n')).toContain(expected);
      for (const value of Object.values(env).filter(
        (text) => text.length > 3 && /[^a-z_-]/.test(text),
      )) {
        expect(messagesOf(problems).join('\n')).not.toContain(value);
      }
    },
  );

  it.each([['127.0.0.1'], ['localhost'], ['::1'], ['[::1]'], ['127.0.0.53']])(
    'binds to %s without a proxy acknowledgement',
    (host) => {
      expect(resolve({ DISBURSE_HOST: host }).problems).toEqual([]);
    },
  );

  it('reads the holder’s signer independently of the funder’s [variable.holder-signer-choice]', () => {
    expect(resolve({}).config?.holder.signer).toBe('local-key');
    for (const funder of ['enclave', 'custodian_a', 'custodian_b']) {
      // The problems are the funder's. An MPC holder would also require a viewing key.
      const { problems } = resolve({ DISBURSE_SIGNER: funder });
      expect(problems.map(({ variable }) => variable).join()).not.toContain('HOLDER');
    }
  });

  it('has an ed25519 holder beside any funder [variable.holder-signer-ed25519]', () => {
    const { config } = resolve({
      DISBURSE_HOLDER_SIGNER: 'local-ed25519',
      DISBURSE_HOLDER_ED25519_KEY: key,
    });
    expect(config?.holder.signer).toBe('local-ed25519');
    expect(config?.holder.ed25519Key?.reveal()).toBe(key);
  });

  it('accepts valid values [variable.destinations-form, variable.ceilings-form, variable.token-symbol-default]', () => {
    const { config } = resolve({
      DISBURSE_FUNDER_PRIVATE_KEY: key,
      DISBURSE_SEND_MAX_AMOUNT: '340282366920938463463374607431768211455',
      DISBURSE_SEND_DESTINATIONS: `treasury=${address}, cold = ${address.toLowerCase()}`,
      DISBURSE_ALLOWED_HOSTS: 'Agent.Example, 10.0.0.7',
      DISBURSE_HOLDER_SIGNER: 'local-key',
      DISBURSE_BALANCE_TOKEN: 'pool_live_a',
    });
    expect(config?.allowedHosts).toEqual(['agent.example', '10.0.0.7']);
    expect(config?.holder.sendMaxAmount).toBe(2n ** 128n - 1n);
    expect([...(config?.holder.sendDestinations ?? [])]).toEqual([
      ['treasury', address],
      ['cold', address],
    ]);
    expect(config?.holder.balanceToken?.reveal()).toBe('pool_live_a');
    expect(config?.holder.tokenSymbol).toBe('USDC');
  });
});

describe('pinned destinations', () => {
  it.each([
    ['treasury', 'entry 1 must be label=address'],
    [`=${address}`, 'entry 1 needs a label'],
    ['treasury=', 'entry 1 must be label=address'],
    [`a=${address}=b`, 'entry 1 must be label=address'],
    [`${address}=${address}`, 'entry 1 needs a label'],
    [`a=${address},`, 'entry 2 is empty'],
    [`a=${address},a=${address}`, 'entry 2 repeats the label'],
    ['a=0x00', 'entry 1 has an invalid address'],
    [`a=${address.replace('5aAe', '5aae')}`, 'entry 1 has an invalid address'],
    [`a=0x${'0'.repeat(40)}`, 'entry 1 has an invalid address'],
  ])('refuses %s [variable.destinations-form]', (value, expected) => {
    const { problems } = resolve({ DISBURSE_SEND_DESTINATIONS: value });
    expect(messagesOf(problems)).toEqual(
      [`DISBURSE_SEND_DESTINATIONS ${expected}`].map((start) => expect.stringContaining(start)),
    );
  });

  it('names every invalid entry [variable.destinations-form]', () => {
    const { problems } = resolve({ DISBURSE_SEND_DESTINATIONS: `x,a=${address},a=1` });
    expect(messagesOf(problems).map((message) => message.slice(27, 34))).toEqual([
      'entry 1',
      'entry 3',
    ]);
  });
});

describe('files that every user can read', () => {
  const layersOf = (open: string, env: Env = {}) =>
    createLayers(
      {
        ...createConfigSource(
          { DISBURSE_PLATFORM_URL: 'https://pool.example/agent-edge', ...env },
          { '/secret': 'pool_live_a' },
        ),
        isWorldReadable: (path) => path === open,
      },
      { path: '/agent.env', values: { DISBURSE_PLATFORM_TOKEN: 'pool_edge_a' } },
    );

  it.each([
    ['/agent.env', 'DISBURSE_PLATFORM_TOKEN is in a file that every user'],
    ['/secret', 'DISBURSE_BALANCE_TOKEN_FILE names a file that every user'],
  ])('cause a warning when they contain a secret: %s', (open, expected) => {
    const { config, warnings } = resolveConfig(
      layersOf(open, { DISBURSE_BALANCE_TOKEN_FILE: '/secret' }),
    );
    expect(config).toBeDefined();
    expect(messagesOf(warnings)).toEqual([expect.stringContaining(expected)]);
  });

  it('cause no warning without an effective secret', () => {
    const env = { DISBURSE_PLATFORM_TOKEN: 'pool_edge_b' };
    expect(resolveConfig(layersOf('/agent.env', env)).warnings).toEqual([]);
  });
});
