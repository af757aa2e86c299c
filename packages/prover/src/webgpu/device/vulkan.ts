/**
 * Whether this machine has a Vulkan driver, without asking Dawn: where there is none, Dawn writes a trace of its own source to the
 * output of the command.
 *
 * @module
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Machine, thisMachine } from './config.ts';

/**
 * Looks for manifests of drivers where the Vulkan loader does ("Driver Discovery" of its documents). Always true on macOS and Windows,
 * where Dawn uses Metal and Direct3D 12.
 */
export function hasVulkanDriver({ platform, environment }: Machine = thisMachine): boolean {
  if (platform === 'darwin' || platform === 'win32') {
    return true;
  }
  const named = [...list(environment['VK_DRIVER_FILES']), ...list(environment['VK_ICD_FILENAMES'])];
  // The loader looks nowhere else if drivers are named.
  const places = named.length > 0 ? named : searchFolders(environment);
  return [...places, ...list(environment['VK_ADD_DRIVER_FILES'])].some(holdsManifest);
}

function searchFolders(environment: Machine['environment']): readonly string[] {
  const home = environment['HOME'] ?? '';
  return [
    ...list(environment['XDG_CONFIG_HOME'] ?? join(home, '.config')),
    ...list(environment['XDG_CONFIG_DIRS'] ?? '/etc/xdg'),
    '/etc',
    '/usr/local/etc',
    ...list(environment['XDG_DATA_HOME'] ?? join(home, '.local/share')),
    ...list(environment['XDG_DATA_DIRS'] ?? '/usr/local/share:/usr/share'),
    // NixOS.
    '/run/opengl-driver/share',
  ].map((folder) => join(folder, 'vulkan/icd.d'));
}

function list(paths: string | undefined): readonly string[] {
  return (paths ?? '').split(':').filter((path) => path !== '');
}

/** A manifest, or a folder with at least one. */
function holdsManifest(path: string): boolean {
  try {
    return statSync(path).isDirectory()
      ? readdirSync(path).some((name) => name.endsWith('.json'))
      : true;
  } catch {
    return false;
  }
}
