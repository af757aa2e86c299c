// The variables of provers on other machines, at the agent.
import { describe, expect, it } from 'vitest';
import { createConfigSource, goodEnvironment } from '../fixtures/config-world.ts';
import { createLayers } from './config.ts';
import { resolveConfig } from './resolve.ts';

function resolve(env: Readonly<Record<string, string>>) {
  return resolveConfig(
    createLayers(createConfigSource({ ...goodEnvironment, ...env }, {}), { values: {} }),
  );
}

describe('provers on other machines', () => {
  const queue = { DISBURSE_PROVER_QUEUE: 'postgres://prover@127.0.0.1/proofs' };
  const publicKey = `age1${'q'.repeat(58)}`;

  it('need the key to which inputs are encrypted', () => {
    expect(resolve(queue).problems.map(({ message }) => message)).toEqual([
      'DISBURSE_PROVER_PUBLIC_KEY is required when DISBURSE_PROVER_QUEUE is set: the key that "disburse-agent prover --new-key" printed',
    ]);
    const { config } = resolve({ ...queue, DISBURSE_PROVER_PUBLIC_KEY: publicKey });
    expect(config?.fleet).toMatchObject({ publicKey, queue: { database: 'proofs' } });
    expect(resolve({}).config?.fleet).toBeUndefined();
  });

  it.each([
    ['postgres://agent@127.0.0.1:5432/proofs', ['DISBURSE_PROVER_QUEUE']],
    ['postgres://agent@127.0.0.1/jobs', []],
    ['postgres://agent@127.0.0.1:5433/proofs', []],
  ])('take their tasks from another database than that of the jobs: %s', (jobs, expected) => {
    const { problems } = resolve({
      ...queue,
      DISBURSE_PROVER_PUBLIC_KEY: publicKey,
      DISBURSE_JOB_STORE: jobs,
    });
    expect(problems.map(({ variable }) => variable)).toEqual(expected);
  });

  it.each(['sqlite:/tmp/proofs', 'postgres://prover:word@127.0.0.1/proofs'])(
    'are not reached through %s',
    (url) => {
      const { problems } = resolve({
        DISBURSE_PROVER_QUEUE: url,
        DISBURSE_PROVER_PUBLIC_KEY: publicKey,
      });
      expect(problems.map(({ variable }) => variable)).toEqual(['DISBURSE_PROVER_QUEUE']);
    },
  );
});
