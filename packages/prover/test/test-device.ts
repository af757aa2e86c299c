/**
 * The graphics device that tests run on: SwiftShader, which Debian ships with Chromium (`apt-get install chromium-common libvulkan1`),
 * or whatever a machine has. Tests are skipped without one, and `.ci/run` allows no such skip.
 */
import { existsSync } from 'node:fs';
import { type Gpu, openDevice } from '../src/webgpu/device/device.ts';

const swiftshader = '/usr/lib/chromium/vk_swiftshader_icd.json';

/** Undefined, after a line with the reason, if there is no adapter. */
export async function openTestDevice(): Promise<Gpu | undefined> {
  await import('./pace-polling.ts');
  if (existsSync(swiftshader)) process.env['VK_ICD_FILENAMES'] ??= swiftshader;
  const opened = await openDevice({ allowSoftwareAdapter: true });
  if ('gpu' in opened) return opened.gpu;
  process.stderr.write(`no graphics device for this test: ${opened.reason}\n`);
  return undefined;
}

/** A device that compiles and computes nothing: checks shaders anywhere. */
export async function openNullDevice(): Promise<Gpu> {
  const opened = await openDevice({ allowSoftwareAdapter: true, backend: 'null' });
  if ('gpu' in opened) return opened.gpu;
  throw new Error(opened.reason);
}
