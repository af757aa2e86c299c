/** Opens a device again in the same process. The test uses a separate process, because a failure ends it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { openTestDevice } from '../../test/test-device.ts';

const probe = await openTestDevice();
probe?.close();

describe.skipIf(probe === undefined)('a graphics device', () => {
  it('opens and computes again after another was closed and collected, and the process exits by itself', async () => {
    const at = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
    const script = `
      import { setTimeout } from 'node:timers/promises';
      import { openTestDevice } from ${at('../../test/test-device.ts')};
      import { createBuffers } from ${at('./buffers.ts')};
      import { testLayout } from ${at('./benchmark.ts')};
      import { findLimbLayout } from ${at('./limbs.ts')};
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
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--expose-gc', '--conditions=@pool/source', '--input-type=module', '-e', script],
      { timeout: 50_000 },
    );
    expect(stdout).toBe('truetruetrue');
  });
});
