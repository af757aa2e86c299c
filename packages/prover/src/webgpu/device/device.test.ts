/** Opens devices in separate processes: a failure may end one, and Dawn writes to its output by itself. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { openTestDevice } from '../../../test/test-device.ts';

function runScript(script: string, environment: NodeJS.ProcessEnv = process.env) {
  return promisify(execFile)(
    process.execPath,
    ['--expose-gc', '--conditions=@pool/source', '--input-type=module', '-e', script],
    { timeout: 50_000, env: environment },
  );
}

function at(path: string): string {
  return JSON.stringify(new URL(path, import.meta.url).href);
}

it('Dawn is not asked on a machine without a driver, and writes no trace to the output', async () => {
  const script = `
    const { openDevice } = await import(${at('./device.ts')});
    process.stdout.write(JSON.stringify(await openDevice()));`;
  const missing = '/nonexistent/driver.json';
  const { stdout, stderr } = await runScript(script, {
    ...process.env,
    VK_DRIVER_FILES: missing,
    VK_ICD_FILENAMES: missing,
    VK_ADD_DRIVER_FILES: '',
  });
  expect(stdout).toContain('no graphics driver (Vulkan, Metal or Direct3D 12) was found');
  expect(stderr).toBe('');
});

const probe = await openTestDevice();
probe?.close();

describe.skipIf(probe === undefined)('a graphics device', () => {
  it('opens and computes again after another was closed and collected, and the process exits by itself', async () => {
    const script = `
      import { setTimeout } from 'node:timers/promises';
      import { openTestDevice } from ${at('../../../test/test-device.ts')};
      import { createBuffers } from ${at('./buffers.ts')};
      import { testLayout } from ${at('../field/benchmark.ts')};
      import { findLimbLayout } from ${at('../field/limbs.ts')};
      import { createPipelines } from ${at('./pipelines.ts')};
      const use = async () => {
        const gpu = await openTestDevice();
        const layout = findLimbLayout('digits-13-loop');
        const isRight = await testLayout(gpu, createBuffers(gpu), createPipelines(gpu), layout);
        gpu.close();
        return isRight;
      };
      for (let round = 0; round < 3; round++) {
        process.stdout.write(String(await use()));
        // Collected, and then finalised, as can happen between two devices.
        for (let k = 0; k < 3; k++) { gc(); await setTimeout(100); }
      }`;
    const { stdout } = await runScript(script);
    expect(stdout).toBe('truetruetrue');
  });
});
