/**
 * Which limb layouts are fast on a device: the measurements of an earlier start, if the best layout still computes correctly, otherwise a
 * new measurement, which is stored.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Gpu } from '../device/device.ts';
import { chooseLayout, describeCandidates, type LayoutMeasurement } from './benchmark.ts';
import type { LayoutCache, LayoutKey } from './layout-cache.ts';
import type { LimbLayout, LimbLayoutName } from './limbs.ts';

export type LayoutWork = {
  /** Tests and times the layouts: takes seconds if shaders are compiled for the first time. */
  readonly measure: () => Promise<readonly LayoutMeasurement[]>;
  /** The value test of one layout. */
  readonly isCorrect: (name: LimbLayoutName) => Promise<boolean>;
};

async function readDawnVersion(): Promise<string> {
  try {
    const path = createRequire(import.meta.url).resolve('webgpu/package.json');
    const manifest: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
      return String(manifest.version);
    }
  } catch {
    // Bundled in an unknown way: the driver's version and the shaders still identify the measurement.
  }
  return 'unknown';
}

export async function describeLayoutKey(
  gpu: Gpu,
  layouts: readonly LimbLayout[],
): Promise<LayoutKey> {
  return {
    adapter: gpu.adapter,
    dawn: await readDawnVersion(),
    shaders: createHash('sha256').update(describeCandidates(layouts)).digest('hex'),
  };
}

export async function findMeasurements(
  cache: LayoutCache | undefined,
  key: LayoutKey,
  work: LayoutWork,
): Promise<readonly LayoutMeasurement[]> {
  const kept = await cache?.read(key);
  // A failed test, or an error in the test, must not end the start: the measurement tries every layout.
  if (kept && (await work.isCorrect(chooseLayout(kept).name).catch(() => false))) return kept;
  const measurements = await work.measure();
  if (measurements.some(({ isCorrect }) => isCorrect)) await cache?.write(key, measurements);
  return measurements;
}
