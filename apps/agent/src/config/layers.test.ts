// Which configuration file is read: --env-file, else $AGENT_ENV, else agent.env in the agent directory.
import { describe, expect, it } from 'vitest';
import { createConfigSource } from '../fixtures/config-world.ts';
import { createLayers, readConfigFile } from './layers.ts';

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
  ])('%s and %o: %s', (envFile, env, chain) => {
    const { values } = readConfigFile(createConfigSource(env, files), envFile);
    expect(values['DISBURSE_CHAIN']).toBe(chain);
  });

  it('does without the default file, but not without one that was named', () => {
    expect(readConfigFile(createConfigSource({}), undefined)).toMatchObject({
      isPresent: false,
      values: {},
    });
    expect(() => readConfigFile(createConfigSource({}), '/gone.env')).toThrow('/gone.env');
    expect(() => readConfigFile(createConfigSource({ AGENT_ENV: '/gone.env' }), undefined)).toThrow(
      '/gone.env',
    );
  });

  it('does not do without a default file that it may not read', () => {
    const source = {
      ...createConfigSource({}),
      readFile: () => {
        throw Object.assign(new Error('no'), { code: 'EACCES' });
      },
    };
    expect(() => readConfigFile(source, undefined)).toThrow('cannot be read');
  });

  it('takes the agent directory from the file, unless the environment names one', () => {
    const file = { DISBURSE_HOME: '/from-file' };
    expect(createLayers(createConfigSource({}), { values: file }).home).toBe('/from-file');
    expect(createLayers(createConfigSource({ DISBURSE_HOME: '/env' }), { values: file }).home).toBe(
      '/env',
    );
  });
});
