/** Where drivers are looked for, on folders that exist. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasVulkanDriver } from './device.ts';

const missing = '/nonexistent/driver.json';
let folder: string;
let manifest: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pool-vulkan-'));
  manifest = join(folder, 'vulkan/icd.d/driver.json');
  mkdirSync(join(folder, 'vulkan/icd.d'), { recursive: true });
  writeFileSync(manifest, '{}');
});
afterEach(() => rmSync(folder, { recursive: true }));

function find(environment: Record<string, string>): boolean {
  return hasVulkanDriver({ platform: 'linux', environment });
}

describe('a Vulkan driver', () => {
  it.each(['XDG_CONFIG_HOME', 'XDG_CONFIG_DIRS', 'XDG_DATA_HOME', 'XDG_DATA_DIRS'])(
    'is found in a folder of %s',
    (name) => {
      expect(find({ [name]: `/nonexistent:${folder}` })).toBe(true);
    },
  );

  it.each(['VK_DRIVER_FILES', 'VK_ICD_FILENAMES'])('is found if %s names it', (name) => {
    expect(find({ [name]: `${missing}:${manifest}` })).toBe(true);
    expect(find({ [name]: join(folder, 'vulkan/icd.d') })).toBe(true);
  });

  it('is looked for nowhere else if drivers are named, except in those that are added', () => {
    const environment = { VK_DRIVER_FILES: missing, XDG_DATA_HOME: folder };
    expect(find(environment)).toBe(false);
    expect(find({ ...environment, VK_ADD_DRIVER_FILES: manifest })).toBe(true);
  });

  it('is not in a folder without a manifest', () => {
    rmSync(manifest);
    expect(find({ VK_DRIVER_FILES: join(folder, 'vulkan/icd.d') })).toBe(false);
  });

  it.each(['darwin', 'win32'] as const)('is not needed on %s', (platform) => {
    expect(hasVulkanDriver({ platform, environment: { VK_DRIVER_FILES: missing } })).toBe(true);
  });
});
