// Which configuration file is read (--env-file, else $AGENT_ENV, else agent.env in the agent directory), and how its
// lines are parsed: no line is skipped or cut silently.
import { describe, expect, it } from 'vitest';
import { createConfigSource } from '../fixtures/config-world.ts';
import { createLayers, readConfigFile, readEnvFile } from './config.ts';

const files = {
  '/named.env': 'DISBURSE_CHAIN=named\n',
  '/agent-env.env': 'DISBURSE_CHAIN=agent-env\n',
  '/home/op/.disburse-agent/agent.env': '# mine\nDISBURSE_CHAIN=home\n',
  '/elsewhere/agent.env': 'DISBURSE_CHAIN="elsewhere"\n',
};

describe('readConfigFile', () => {
  it.each([
    ['/named.env', { AGENT_ENV: '/agent-env.env', DISBURSE_HOME: '/elsewhere' }, 'named'],
    [undefined, { AGENT_ENV: '/agent-env.env', DISBURSE_HOME: '/elsewhere' }, 'agent-env'],
    [undefined, { AGENT_ENV: ' ', DISBURSE_HOME: '/elsewhere' }, 'elsewhere'],
    [undefined, {}, 'home'],
  ])('%s and %o: %s [config.which-file]', (envFile, env, chain) => {
    const { values } = readConfigFile(createConfigSource(env, files), envFile);
    expect(values['DISBURSE_CHAIN']).toBe(chain);
  });

  it('needs no default file, and fails without a named file [config.which-file]', () => {
    expect(readConfigFile(createConfigSource({}), undefined)).toMatchObject({
      isPresent: false,
      values: {},
    });
    expect(() => readConfigFile(createConfigSource({}), '/gone.env')).toThrow('/gone.env');
    expect(() => readConfigFile(createConfigSource({ AGENT_ENV: '/gone.env' }), undefined)).toThrow(
      '/gone.env',
    );
  });

  it('fails on a default file that it cannot read', () => {
    const source = {
      ...createConfigSource({}),
      readFile: () => {
        throw Object.assign(new Error('no'), { code: 'EACCES' });
      },
    };
    expect(() => readConfigFile(source, undefined)).toThrow('cannot be read');
  });

  it('reads the agent directory from the file, unless the environment sets it', () => {
    const file = { DISBURSE_HOME: '/from-file' };
    expect(createLayers(createConfigSource({}), { values: file }).home).toBe('/from-file');
    expect(createLayers(createConfigSource({ DISBURSE_HOME: '/env' }), { values: file }).home).toBe(
      '/env',
    );
  });
});

describe('readEnvFile', () => {
  it.each([
    ['lines of Windows', 'A=1\r\nB=2\r\n', { A: '1', B: '2' }],
    ['lines of an old Mac', 'A=1\rB=2\r', { A: '1', B: '2' }],
    ['a byte order mark', '\uFEFFA=1\nB=2', { A: '1', B: '2' }],
    ['spaces around everything', '  A = 1 \n\tB\t=\t2\t', { A: '1', B: '2' }],
    ['comments', '# A=0\n  # B=0\nA=1 # one\nB= # none', { A: '1', B: '' }],
    ['export', 'export A=1\nexport  B=2', { A: '1', B: '2' }],
    ['quotes of three kinds', 'A="1 # 2" # c\nB=\'3\'\nC=`4`', { A: '1 # 2', B: '3', C: '4' }],
    ['equals signs in a value', 'A=b==', { A: 'b==' }],
    ['quotes inside a value', `A=it's\nB={"k":"v"}`, { A: "it's", B: '{"k":"v"}' }],
    ['dollars as they are', 'A=$B\nB=1', { A: '$B', B: '1' }],
    ['no last line feed', 'A=1', { A: '1' }],
    ['nothing', '', {}],
  ])('reads %s [config.flat-file]', (_what, content, values) => {
    expect(readEnvFile(content, '/f')).toEqual({ values, problems: [] });
  });

  it('does not cut a secret at a number sign inside it [config.flat-file]', () => {
    expect(readEnvFile('A=ab#cd\nB=#ef', '/f').values).toEqual({ A: 'ab#cd', B: '#ef' });
  });

  it('never reads the next line as the value of an empty variable [config.flat-file]', () => {
    // Otherwise the edge token becomes a path, and `config check` shows it.
    const { values } = readEnvFile('DISBURSE_CHAINS_FILE= \nDISBURSE_PLATFORM_TOKEN=t', '/f');
    expect(values).toEqual({ DISBURSE_CHAINS_FILE: '', DISBURSE_PLATFORM_TOKEN: 't' });
  });

  it.each([
    ['a colon for the equals sign', 'DISBURSE_SEND_MAX_AMOUNT: canary', 'is not NAME=value'],
    ['no equals sign', 'DISBURSE_SEND_MAX_AMOUNT canary', 'is not NAME=value'],
    ['no name', '=canary', 'is not NAME=value'],
    ['two words before it', 'set DISBURSE_CHAIN=canary', 'is not NAME=value'],
    ['a quote left open', 'DISBURSE_CHAIN="canary\n', 'DISBURSE_CHAIN: opens a quote'],
    ['text after a quote', 'DISBURSE_CHAIN="canary"x', 'DISBURSE_CHAIN: has something after'],
  ])('refuses %s by its line, without showing it [config.flat-file]', (_what, line, expected) => {
    const { problems } = readEnvFile(`# first\n${line}`, '/f');
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toMatch(/^\/f, line 2/);
    expect(problems[0]?.message).toContain(expected);
    expect(JSON.stringify(problems)).not.toContain('canary');
  });

  it('refuses a name that is set twice, and names both lines [config.flat-file]', () => {
    const { problems } = readEnvFile(
      'DISBURSE_SEND_MAX_AMOUNT=5\n\nDISBURSE_SEND_MAX_AMOUNT=canary\ncanary=1\ncanary=2',
      '/f',
    );
    expect(problems).toEqual([
      {
        variable: 'DISBURSE_SEND_MAX_AMOUNT',
        message:
          '/f, line 3, DISBURSE_SEND_MAX_AMOUNT: is already set by line 1; keep one of the two lines',
      },
      {
        variable: 'AGENT_ENV',
        message: '/f, line 5: is already set by line 4; keep one of the two lines',
      },
    ]);
  });
});
