/**
 * Chooses the engine: the graphics device until its record says that it is no longer used, then the processor.
 *
 * @module
 */
import { closedError, ProverError } from '../base/errors.ts';
import type { IdentifiedFile } from '../base/file-input.ts';
import type { KeyStore } from '../base/key-store.ts';
import {
  type AcceleratorFailure,
  createAcceleratorRecord,
  type ProverIncident,
} from './accelerator-record.ts';
import type { Engine } from './engine.ts';
import { createKeyCache, type KeyCache } from './key-cache.ts';

/** How long closing waits for prepared keys that are being written. */
const longestWriteMs = 30_000;

/** `auto`: the graphics device if there is a real one that multiplies faster than the processor, otherwise the processor. */
export type AcceleratorChoice = 'auto' | 'webgpu' | 'cpu';

export type EngineFactories = {
  readonly cpu: () => Promise<Engine>;
  /** reason: why no device can be used. */
  readonly webgpu: () => Promise<{ readonly engine: Engine } | { readonly reason: string }>;
};

export type EngineSlot = { readonly engine: Engine; readonly keys: KeyCache };

export type EngineKeeper = {
  /** The engine to use now. It is started if necessary. For a key that is too large for the device, the processor. */
  readonly current: (zkey?: IdentifiedFile) => Promise<EngineSlot>;
  /** The processor, in addition to the current engine. */
  readonly processor: () => Promise<EngineSlot>;
  /** Records a failure and closes the slot. The next `current` opens another device, if devices are still used. */
  readonly reportFailure: (
    slot: EngineSlot,
    failure: AcceleratorFailure,
    words?: string,
  ) => Promise<void>;
  /** Records that a key does not fit on the device. The slot stays open. */
  readonly reportTooSmall: (zkey: IdentifiedFile, words: string) => void;
  /** Records a proof that verifies. */
  readonly reportProof: (slot: EngineSlot) => void;
  /** All open slots. */
  readonly slots: () => readonly EngineSlot[];
  /** The reason why the device is no longer used. Undefined while it is used. */
  readonly retired: () => string | undefined;
  readonly failures: () => Readonly<Record<AcceleratorFailure, number>>;
  readonly close: () => Promise<void>;
};

export type EngineKeeperOptions = {
  readonly accelerator: AcceleratorChoice;
  readonly factories: EngineFactories;
  /** Memory for keys, in bytes: in the process, and on the device. */
  readonly memoryBudgetBytes: number;
  readonly deviceMemoryBudgetBytes: number;
  readonly keyStore?: KeyStore | undefined;
  readonly onIncident?: ((incident: ProverIncident) => void) | undefined;
};

export function createEngineKeeper(options: EngineKeeperOptions): EngineKeeper {
  const { accelerator, factories } = options;
  const record = createAcceleratorRecord(options.onIncident);
  let device: Promise<EngineSlot | string> | undefined;
  let processor: Promise<EngineSlot> | undefined;
  const open = new Set<EngineSlot>();
  let wasDeviceOpen = false;
  let isClosed = false;

  const keep = async (engine: Engine): Promise<EngineSlot> => {
    if (isClosed) {
      // The engine started while the prover was closing.
      await engine.close().catch(() => undefined);
      throw closedError();
    }
    const budget =
      engine.kind === 'cpu' ? options.memoryBudgetBytes : options.deviceMemoryBudgetBytes;
    const slot = { engine, keys: createKeyCache(engine, budget, options.keyStore) };
    open.add(slot);
    return slot;
  };

  const startProcessor = async (): Promise<EngineSlot> => {
    if (isClosed) {
      throw closedError();
    }
    const slot = await processor?.catch(() => undefined);
    if (slot?.engine.isLost?.() === true) {
      await drop(slot);
    }
    processor ??= factories.cpu().then(keep);
    // After a failed start, the next call tries again.
    processor.catch(() => {
      processor = undefined;
    });
    return await processor;
  };

  /** Returns the reason if there is no device. */
  const startDevice = async (): Promise<EngineSlot | string> => {
    device ??= factories
      .webgpu()
      .then(async (opened) => ('engine' in opened ? await keep(opened.engine) : opened.reason))
      .catch((error: unknown) => (error instanceof Error ? error.message : 'unknown'))
      .then((slot) => {
        if (typeof slot !== 'string') {
          wasDeviceOpen = true;
        } else if (wasDeviceOpen && !isClosed && accelerator === 'auto') {
          record.noteAbsence(slot);
        }
        return slot;
      });
    return await device;
  };

  const current = async (zkey?: IdentifiedFile): Promise<EngineSlot> => {
    const retired = record.retired();
    const isBeyondDevice = zkey !== undefined && record.isTooSmall(zkey);
    if (
      accelerator === 'cpu' ||
      (accelerator === 'auto' && (retired !== undefined || isBeyondDevice))
    ) {
      return await startProcessor();
    }
    if (isClosed) {
      throw closedError();
    }
    if (retired !== undefined) {
      throw new ProverError(
        'accelerator_unavailable',
        `The graphics device is no longer used: ${retired}. Check its driver and restart, or set accelerator to auto or cpu.`,
      );
    }
    const slot = await startDevice();
    if (isClosed) {
      throw closedError();
    }
    if (typeof slot !== 'string') {
      return slot;
    }
    if (accelerator === 'auto') {
      return await startProcessor();
    }
    // With webgpu, the next proof looks for a device again.
    device = undefined;
    throw new ProverError(
      'accelerator_unavailable',
      `There is no graphics device to prove on (${slot}). Install a driver and the package webgpu, or set accelerator to auto or cpu.`,
    );
  };

  const drop = async (slot: EngineSlot): Promise<void> => {
    open.delete(slot);
    if ((await device) === slot) {
      device = undefined;
    }
    if ((await processor?.catch(() => undefined)) === slot) {
      processor = undefined;
    }
    slot.keys.release();
    // A lost device may not even close.
    await slot.engine.close().catch(() => undefined);
  };

  return {
    current,
    processor: startProcessor,
    reportFailure: async (slot, failure, words) => {
      record.noteFailure(failure, slot.engine.detail, words);
      await drop(slot);
    },
    reportTooSmall: record.noteTooSmall,
    reportProof: ({ engine }) => {
      if (engine.kind !== 'cpu') {
        record.noteProof();
      }
    },
    slots: () => [...open],
    retired: record.retired,
    failures: record.counts,
    close: async () => {
      isClosed = true;
      await Promise.allSettled([device, processor]);
      const slots = [...open];
      open.clear();
      // A program may keep the closed prover. Memory is freed when nothing reaches it any more.
      device = undefined;
      processor = undefined;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, longestWriteMs);
      });
      await Promise.race([patience, Promise.all(slots.map(({ keys }) => keys.written()))]);
      clearTimeout(timer);
      for (const { keys } of slots) {
        keys.release();
      }
      // An engine that cannot close must not keep the others open.
      await Promise.allSettled(slots.map(({ engine }) => engine.close()));
    },
  };
}
