/**
 * Which engine proves: the graphics device until its record says that it is not used any more, then the processor.
 *
 * @module
 */
import { ProverError } from '../errors.ts';
import {
  type AcceleratorFailure,
  createAcceleratorRecord,
  type ProverIncident,
} from './accelerator-record.ts';
import type { Engine } from './engine.ts';
import { createKeyCache, type KeyCache } from './key-cache.ts';

/** `auto`: the graphics device if there is a real one, else the processor. */
export type AcceleratorChoice = 'auto' | 'webgpu' | 'cpu';

export type EngineFactories = {
  readonly cpu: () => Promise<Engine>;
  /** reason: why there is no device to use. */
  readonly webgpu: () => Promise<{ readonly engine: Engine } | { readonly reason: string }>;
};

export type EngineSlot = { readonly engine: Engine; readonly keys: KeyCache };

export type EngineKeeper = {
  /** The engine to use now, started if need be. A key that the device is too small for goes to the processor. */
  readonly current: (zkeyPath?: string) => Promise<EngineSlot>;
  /** The processor, beside the current engine. */
  readonly processor: () => Promise<EngineSlot>;
  /** Takes note of a failure and gives the slot up; the next `current` opens another device, if there is to be one. */
  readonly reportFailure: (
    slot: EngineSlot,
    failure: AcceleratorFailure,
    words?: string,
  ) => Promise<void>;
  /** Takes note that a key does not fit onto the device. The slot stays. */
  readonly reportTooSmall: (zkeyPath: string, words: string) => void;
  /** Takes note of a proof that verifies. */
  readonly reportProof: (slot: EngineSlot) => void;
  /** Slots that are open. */
  readonly slots: () => readonly EngineSlot[];
  /** Why the device is not used any more; undefined while it is. */
  readonly retired: () => string | undefined;
  readonly failures: () => Readonly<Record<AcceleratorFailure, number>>;
  readonly close: () => Promise<void>;
};

export type EngineKeeperOptions = {
  readonly accelerator: AcceleratorChoice;
  readonly factories: EngineFactories;
  /** Memory for keys, in bytes: of the process, and of the device. */
  readonly memoryBudgetBytes: number;
  readonly deviceMemoryBudgetBytes: number;
  readonly onIncident?: ((incident: ProverIncident) => void) | undefined;
};

function closed(): ProverError {
  return new ProverError('prover_closed', 'The prover is closed.');
}

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
      // It started while the prover was being closed.
      await engine.close().catch(() => undefined);
      throw closed();
    }
    const budget =
      engine.kind === 'cpu' ? options.memoryBudgetBytes : options.deviceMemoryBudgetBytes;
    const slot = { engine, keys: createKeyCache(engine, budget) };
    open.add(slot);
    return slot;
  };

  const startProcessor = async (): Promise<EngineSlot> => {
    if (isClosed) {
      throw closed();
    }
    processor ??= factories.cpu().then(keep);
    // A start that failed is tried again the next time.
    processor.catch(() => {
      processor = undefined;
    });
    return await processor;
  };

  /** Or why there is none. */
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

  const current = async (zkeyPath?: string): Promise<EngineSlot> => {
    const retired = record.retired();
    const isBeyondDevice = zkeyPath !== undefined && record.isTooSmall(zkeyPath);
    if (
      accelerator === 'cpu' ||
      (accelerator === 'auto' && (retired !== undefined || isBeyondDevice))
    ) {
      return await startProcessor();
    }
    if (isClosed) {
      throw closed();
    }
    if (retired !== undefined) {
      throw new ProverError(
        'accelerator_unavailable',
        `The graphics device is not used any more: ${retired}. Check its driver and restart, or choose the accelerator auto or cpu.`,
      );
    }
    const slot = await startDevice();
    if (isClosed) {
      throw closed();
    }
    if (typeof slot !== 'string') {
      return slot;
    }
    if (accelerator === 'auto') {
      return await startProcessor();
    }
    // A demanded device is looked for again with the next proof.
    device = undefined;
    throw new ProverError(
      'accelerator_unavailable',
      `There is no graphics device to prove on (${slot}). Install a driver and the package webgpu, or choose the accelerator auto or cpu.`,
    );
  };

  const drop = async (slot: EngineSlot): Promise<void> => {
    open.delete(slot);
    if ((await device) === slot) {
      device = undefined;
    }
    slot.keys.release();
    // What is gone may not even close.
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
      for (const { keys } of slots) {
        keys.release();
      }
      // One that cannot close must not keep the others open.
      await Promise.allSettled(slots.map(({ engine }) => engine.close()));
    },
  };
}
