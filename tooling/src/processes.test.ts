import { describe, expect, it } from 'vitest';
import { run } from './processes.ts';

function node(script: string) {
  return run(process.execPath, ['-e', script], { output: 'collect' });
}

describe('run', () => {
  it('returns status and output', async () => {
    const result = await node('console.log("out"); console.error("err"); process.exitCode = 3');
    expect(result.status).toBe(3);
    expect(result.stdout).toBe('out\n');
    expect(result.combined).toContain('err');
  });

  it('reports a signal as a failure', async () => {
    const result = await node('process.kill(process.pid, "SIGKILL")');
    expect(result).toMatchObject({ status: 1, combined: 'ended by SIGKILL\n' });
  });

  it('reports a program that does not exist as a failure', async () => {
    const result = await run('/no/such/program', [], { output: 'collect' });
    expect(result.status).toBe(1);
    expect(result.combined).toContain('ENOENT');
  });
});
