// `disburse-agent config check`: what is set, from where, and never a secret.
import { describe, expect, it } from 'vitest';
import { allVariables } from '../../config/variables.ts';
import { createConfigSource, goodEnvironment } from '../../fixtures/config-world.ts';
import { createConfigReport, renderConfigReport } from './config-report.ts';

const secret = `0x${'c0ffee'.repeat(10)}c0ff`;
const envFile = '/agent.env';

function rowOf(report: ReturnType<typeof createConfigReport>, name: string) {
  return report.variables.find(({ variable }) => variable === name);
}

describe('createConfigReport', () => {
  it('reports the origin of every variable', () => {
    const report = createConfigReport(
      createConfigSource(
        { ...goodEnvironment, DISBURSE_CHAIN: 'base', DISBURSE_SEND_TOKEN_FILE: '/send' },
        { [envFile]: 'DISBURSE_PORT=9000\nDISBURSE_CHAIN=hidden\n', '/send': 'pool_live_a' },
      ),
      envFile,
    );
    expect(report.ok).toBe(true);
    expect(report.file).toEqual({ path: envFile, isPresent: true });
    expect(report.variables.map(({ variable }) => variable)).toEqual(
      allVariables.map(({ name }) => name),
    );
    expect(rowOf(report, 'DISBURSE_CHAIN')).toMatchObject({
      state: 'set',
      from: 'environment',
      value: 'base',
    });
    expect(rowOf(report, 'DISBURSE_PORT')).toMatchObject({
      state: 'set',
      from: 'file /agent.env',
      value: '9000',
    });
    expect(rowOf(report, 'DISBURSE_HOST')).toMatchObject({
      state: 'default',
      from: 'default',
      value: '127.0.0.1',
    });
    expect(rowOf(report, 'DISBURSE_SEND_TOKEN')).toEqual({
      variable: 'DISBURSE_SEND_TOKEN',
      role: 'send',
      secret: true,
      state: 'set',
      from: 'DISBURSE_SEND_TOKEN_FILE=/send (environment)',
    });
    expect(rowOf(report, 'DISBURSE_BALANCE_TOKEN')).toMatchObject({ state: 'unset', from: '' });
    const text = renderConfigReport(report);
    expect(text).toMatch(/^DISBURSE_CHAIN +base +environment$/m);
    expect(text).toMatch(/^DISBURSE_PLATFORM_TOKEN +set +environment$/m);
    expect(text).toMatch(/^DISBURSE_BALANCE_TOKEN +unset$/m);
    expect(text.trimEnd()).toMatch(/the agent can start with this configuration$/);
  });

  it('ends with all problems, and shows no invalid value', () => {
    const report = createConfigReport(
      createConfigSource({
        DISBURSE_PLATFORM_TOKEN: secret,
        DISBURSE_SEND_TOKEN: secret,
        DISBURSE_CHAIN: secret,
        DISBURSE_PLATFORM_URL: `https://user:${secret}@pool.example`,
        DISBURSE_BALANCE_TOKEN_FILE: secret,
        DISBURSE_CUSTODIAN_B_API_KEY: secret,
        DISBURSE_SECRET_OF_MINE: secret,
      }),
    );
    expect(report.ok).toBe(false);
    expect(report.problems.map(({ variable }) => variable).sort()).toEqual([
      'DISBURSE_BALANCE_TOKEN_FILE',
      'DISBURSE_CHAIN',
      'DISBURSE_PLATFORM_URL',
      'DISBURSE_SEND_TOKEN',
    ]);
    expect(rowOf(report, 'DISBURSE_CHAIN')).toMatchObject({ state: 'wrong' });
    expect(rowOf(report, 'DISBURSE_CUSTODIAN_B_API_KEY')).toMatchObject({ state: 'set' });
    const text = renderConfigReport(report);
    expect(text).toContain('problems:\n- ');
    expect(text).toMatch(/4 problem\(s\)$/);
    expect(`${text}${JSON.stringify(report)}`).not.toMatch(/c0ffee/);
  });

  it('reports a configuration file that cannot be read, and continues without it', () => {
    const report = createConfigReport(createConfigSource(goodEnvironment), '/gone.env');
    expect(report.ok).toBe(false);
    expect(report.problems).toEqual([
      {
        variable: '--env-file',
        message: expect.stringContaining(
          'the configuration file /gone.env cannot be read (ENOENT)',
        ),
      },
    ]);
  });
});
