// Where the jobs of a restored agent are: a file of this machine stays behind, a database that agents share does not.
import { expect, it } from 'vitest';
import { createLayers } from '../../config/config.ts';
import { createConfigSource } from '../../fixtures/config-world.ts';
import { renderSettings } from './backup-command.ts';

function render(jobStore: string): string {
  const env = {
    DISBURSE_JOB_STORE: jobStore,
    DISBURSE_JOB_STORE_PASSWORD: 'open sesame',
    DISBURSE_CHAIN: 'base',
  };
  return renderSettings(createLayers(createConfigSource(env, {}), { values: {} }));
}

it('names the database that agents share, and the file of its password', () => {
  const settings = render('postgres://pool_agent@db.internal/pool_jobs');
  expect(settings).toContain('\nDISBURSE_JOB_STORE=postgres://pool_agent@db.internal/pool_jobs\n');
  expect(settings).toContain('\n#DISBURSE_JOB_STORE_PASSWORD_FILE=\n');
  expect(settings).not.toContain('sesame');
});

it('does not name a file of the earlier machine', () => {
  const settings = render('sqlite:/earlier/jobs.sqlite');
  expect(settings).toContain('DISBURSE_CHAIN=base');
  expect(settings).not.toContain('JOB_STORE');
});
