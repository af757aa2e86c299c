/**
 * The measured limb layouts of a graphics device, kept in a folder between starts. The files contain speeds and no data of proofs, and
 * they do not decide which layout is correct: the chosen layout passes the value test at every start.
 *
 * A file that is damaged, or was written for another driver, another Dawn or other shaders, is ignored and replaced.
 *
 * @module
 */
import { findBuiltin } from '@pool/kernels';
import type { Gpu } from '../device/device.ts';
import { chooseLayout, describeCandidates, type LayoutMeasurement } from './benchmark.ts';
import { type LimbLayout, type LimbLayoutName, limbLayouts } from './limbs.ts';

// Which limb layouts are fast on a device: the measurements of an earlier start, if the best layout still computes correctly, otherwise a
// new measurement, which is stored.

type LayoutWork = {
  /** Tests and times the layouts: takes seconds if shaders are compiled for the first time. */
  readonly measure: () => Promise<readonly LayoutMeasurement[]>;
  /** The value test of one layout. */
  readonly isCorrect: (name: LimbLayoutName) => Promise<boolean>;
};

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function readDawnVersion(): Promise<string> {
  try {
    const path = findBuiltin('node:module')
      ?.createRequire(import.meta.url)
      .resolve('webgpu/package.json');
    const text = await findBuiltin('node:fs/promises')?.readFile(path ?? '', 'utf8');
    const manifest: unknown = JSON.parse(text ?? '{}');
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
    shaders: await digest(describeCandidates(layouts)),
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

/** What the measurements are valid for. */
export type LayoutKey = {
  /** The card, and its driver's description. */
  readonly adapter: {
    readonly vendor: string;
    readonly architecture: string;
    readonly device: string;
    readonly description: string;
  };
  /** Version of the package webgpu, which is Dawn. */
  readonly dawn: string;
  /** Digest of everything that is compiled and timed: another version of this package measures again exactly if that changed. */
  readonly shaders: string;
};

export type LayoutCache = {
  /** Undefined if there is nothing for this key that can be used. */
  readonly read: (key: LayoutKey) => Promise<readonly LayoutMeasurement[] | undefined>;
  /** Best effort: if the folder cannot be written, the next start measures again. */
  readonly write: (key: LayoutKey, measurements: readonly LayoutMeasurement[]) => Promise<void>;
};

const format = 1;
/** Ten times the size of a file. */
const mostBytes = 16_384;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isSpeed(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

function parseMeasurement(value: unknown): LayoutMeasurement | undefined {
  if (!isRecord(value)) return undefined;
  const name = limbLayouts.find((layout) => layout.name === value['name'])?.name;
  const { isCorrect, multiplicationsPerSecond: speed } = value;
  if (name === undefined || typeof isCorrect !== 'boolean') return undefined;
  if (isCorrect ? !isSpeed(speed) : speed !== undefined) return undefined;
  return { name, isCorrect, multiplicationsPerSecond: isCorrect ? Number(speed) : undefined };
}

function parse(text: string, key: LayoutKey): readonly LayoutMeasurement[] | undefined {
  const file: unknown = JSON.parse(text);
  if (!isRecord(file) || file['format'] !== format) return undefined;
  if (JSON.stringify(file['key']) !== JSON.stringify(key)) return undefined;
  const listed: unknown = file['measurements'];
  if (!Array.isArray(listed)) return undefined;
  const measurements = listed.flatMap((value) => parseMeasurement(value) ?? []);
  const isWhole = measurements.length === listed.length;
  return isWhole && measurements.some(({ isCorrect }) => isCorrect) ? measurements : undefined;
}

/** @returns undefined in a browser, which has no folders */
export function openLayoutCache(folder: string): LayoutCache | undefined {
  const files = findBuiltin('node:fs/promises');
  const paths = findBuiltin('node:path');
  if (files === undefined || paths === undefined) return undefined;
  /** One file for each card: the measurements of a new driver replace those of the old one. */
  const pathOf = async ({ adapter }: LayoutKey): Promise<string> => {
    const { vendor, architecture, device } = adapter;
    const card = await digest(JSON.stringify([vendor, architecture, device]));
    return paths.join(folder, `webgpu-layouts-${card.slice(0, 16)}.json`);
  };
  return {
    read: async (key) => {
      try {
        const file = await files.open(await pathOf(key), 'r');
        try {
          const { bytesRead, buffer } = await file.read(Buffer.alloc(mostBytes), 0, mostBytes, 0);
          return parse(buffer.toString('utf8', 0, bytesRead), key);
        } finally {
          await file.close();
        }
      } catch {
        return undefined;
      }
    },
    write: async (key, measurements) => {
      const path = await pathOf(key);
      const fresh = `${path}.${crypto.randomUUID()}`;
      try {
        await files.mkdir(folder, { recursive: true, mode: 0o700 });
        const file = await files.open(fresh, 'wx', 0o600);
        try {
          await file.writeFile(`${JSON.stringify({ format: format, key, measurements })}\n`);
        } finally {
          await file.close();
        }
        // A reader at this moment sees the whole old file or the whole new one.
        await files.rename(fresh, path);
      } catch {
        await files.rm(fresh, { force: true }).catch(() => undefined);
      }
    },
  };
}
