// Precedence: the environment over the file, and the `_FILE` form of a credential over the inline one.
import { describe, expect, it } from 'vitest';
import { readVariable } from '../../../../packages/configuration/src/reader.ts';
import { createConfigSource } from '../fixtures/config-world.ts';
import { createLayers } from './config.ts';
import { allVariables, variables } from './variables.ts';

type Env = Readonly<Record<string, string>>;

function layersOf(env: Env, files: Env = {}, file: Env = {}) {
  return createLayers(createConfigSource(env, files), { values: file });
}

/** A value that is valid for every kind of credential. As a viewing key it is below the order of the subgroup. */
const goodValue = `0x01${'ab'.repeat(31)}`;

/** A key of a service account has several lines. */
const goodPem = '-----BEGIN PRIVATE KEY-----\nYWJj\nZGVm\n-----END PRIVATE KEY-----';

/** As `age` writes it. */
const goodIdentity = `AGE-SECRET-KEY-1${'Q'.repeat(58)}`;

function keyOf(number: number): string {
  return `0x${String(number).padStart(64, '0')}`;
}
const credentials = allVariables.filter(({ credential }) => credential !== undefined);

describe('the _FILE form', () => {
  it('exists for every credential [config.secret-files]', () => {
    expect(credentials.map(({ name }) => name).sort()).toEqual([
      'DISBURSE_APPROVE_TOKEN',
      'DISBURSE_BALANCE_TOKEN',
      'DISBURSE_CUSTODIAN_A_SERVICE_KEY',
      'DISBURSE_CUSTODIAN_A_SERVICE_TOKEN',
      'DISBURSE_CUSTODIAN_B_API_KEY',
      'DISBURSE_CUSTODIAN_B_API_SECRET',
      'DISBURSE_FINGERPRINT_KEY',
      'DISBURSE_FUNDER_ED25519_KEY',
      'DISBURSE_FUNDER_PRIVATE_KEY',
      'DISBURSE_GAS_PRIVATE_KEY',
      'DISBURSE_HOLDER_EARLIER_VIEWING_KEYS',
      'DISBURSE_HOLDER_ED25519_KEY',
      'DISBURSE_HOLDER_PRIVATE_KEY',
      'DISBURSE_HOLDER_VIEWING_KEY',
      'DISBURSE_JOB_STORE_PASSWORD',
      'DISBURSE_METRICS_TOKEN',
      'DISBURSE_PLATFORM_TOKEN',
      'DISBURSE_PROVER_PRIVATE_KEY',
      'DISBURSE_PROVER_QUEUE_PASSWORD',
      'DISBURSE_SEND_TOKEN',
      'DISBURSE_TRANSFER_TOKEN',
      'ONBOARD_PRIVATE_KEY',
      'POOL_GATE_OAUTH_CLIENT_SECRET',
    ]);
  });

  it.each<[string, string | undefined]>([
    [JSON.stringify([keyOf(1), keyOf(2)]), `${keyOf(1)},${keyOf(2)}`],
    [JSON.stringify([{ scalar: keyOf(1) }, 'derived']), `${keyOf(1)},derived`],
    [`${keyOf(1)},${keyOf(2)}`, `${keyOf(1)},${keyOf(2)}`],
    ['[]', undefined],
    ['[1]', undefined],
    ['[null]', undefined],
    ['["0x01"', undefined],
    [JSON.stringify([{ other: keyOf(1) }]), undefined],
  ])('of earlier viewing keys may be a list: %s', (content, expected) => {
    const variable = variables.holderEarlierViewingKeys;
    const layers = layersOf({ [`${variable.name}_FILE`]: '/secret' }, { '/secret': content });
    const { raw, problems } = readVariable(variable, layers);
    expect(raw?.reveal()).toBe(expected);
    expect(problems.length > 0).toBe(expected === undefined);
    expect(JSON.stringify(problems)).not.toContain(keyOf(1));
  });

  it.each(credentials.map((variable) => [variable.name, variable] as const))(
    '%s: has precedence over the inline form, bare or as a document [config.secret-files, config.secret-file-forms]',
    (name, variable) => {
      const { fields = [], isText } = variable.credential ?? {};
      const ofVariable = name === 'DISBURSE_PROVER_PRIVATE_KEY' ? goodIdentity : goodValue;
      const value = isText === true ? goodPem : ofVariable;
      for (const content of [`${value}\n`, JSON.stringify({ id: 1, [fields[0] ?? '']: value })]) {
        const layers = layersOf(
          { [name]: 'inline', [`${name}_FILE`]: '/secret' },
          { '/secret': content },
        );
        const { raw, origin, problems } = readVariable(variable, layers);
        expect(problems).toEqual([]);
        expect(raw?.reveal()).toBe(value);
        expect(origin).toMatchObject({ from: 'secret-file', path: '/secret' });
      }
    },
  );

  it('has precedence in the configuration file over an inline variable of the environment [config.secret-files]', () => {
    const layers = layersOf(
      { DISBURSE_SEND_TOKEN: 'inline' },
      { '/secret': 'filed' },
      {
        DISBURSE_SEND_TOKEN_FILE: '/secret',
      },
    );
    expect(readVariable(variables.sendToken, layers).value?.reveal()).toBe('filed');
  });

  const canary = 'canary-value';
  it.each([
    ['missing', undefined, 'names a file that cannot be read (ENOENT)'],
    ['empty', ' \n', 'names an empty file'],
    ['two lines', `${canary}\n${canary}`, 'names a file with more than one word'],
    [
      'encrypted with age',
      `-----BEGIN AGE ENCRYPTED FILE-----\n${canary}\n-----END AGE ENCRYPTED FILE-----\n`,
      'names a file that is encrypted with age: decrypt it',
    ],
    ['in quotes', `"${canary}"\n`, 'names a file with the secret in quotes'],
    ['a list', `["${canary}"]`, 'names a JSON list'],
    ['broken JSON', `{"apiKey":"${canary}"`, 'names a file whose JSON is not valid'],
    [
      'another document',
      `{"scalar":"${canary}"}`,
      'names a JSON document without the field apiKey',
    ],
    ['a number', '{"apiKey":5}', 'names a JSON document without the field apiKey'],
    ['empty field', '{"apiKey":" "}', 'names a JSON document without the field apiKey'],
    [
      'another capability',
      `{"apiKey":"${canary}","capability":"holder.transfer"}`,
      'with another capability: it must be holder.send',
    ],
  ])(
    '%s: reports the problem and shows no content [config.secret-file-forms]',
    (_title, content, expected) => {
      const path = `/${canary}`;
      const layers = layersOf(
        { DISBURSE_SEND_TOKEN_FILE: path, DISBURSE_SEND_TOKEN: 'inline' },
        content === undefined ? {} : { [path]: content },
      );
      const reading = readVariable(variables.sendToken, layers);
      expect(reading.problems).toEqual([
        { variable: 'DISBURSE_SEND_TOKEN_FILE', message: expect.stringContaining(expected) },
      ]);
      expect(reading.value).toBeUndefined();
      expect(JSON.stringify(reading)).not.toContain(canary);
    },
  );

  it('reports an invalid value under the written name', () => {
    const layers = layersOf({ DISBURSE_FUNDER_PRIVATE_KEY_FILE: '/key' }, { '/key': 'abc' });
    expect(readVariable(variables.funderPrivateKey, layers).problems).toMatchObject([
      { variable: 'DISBURSE_FUNDER_PRIVATE_KEY_FILE' },
    ]);
  });
});

describe('precedence', () => {
  it.each([
    ['environment over file', { DISBURSE_CHAIN: 'a' }, { DISBURSE_CHAIN: 'b' }, 'a', 'environment'],
    ['file', {}, { DISBURSE_CHAIN: 'b' }, 'b', 'file'],
    ['empty hides nothing', { DISBURSE_CHAIN: ' ' }, { DISBURSE_CHAIN: 'b' }, 'b', 'file'],
    ['neither', {}, {}, undefined, 'unset'],
  ] as const)('%s [config.environment-and-file]', (_title, env, file, value, from) => {
    const reading = readVariable(variables.chain, layersOf(env, {}, file));
    expect(reading).toMatchObject({ origin: { from } });
    expect(reading.value).toBe(value);
  });

  it('falls back to the default', () => {
    expect(readVariable(variables.port, layersOf({}))).toMatchObject({
      value: 8787,
      origin: { from: 'default' },
    });
  });
});
