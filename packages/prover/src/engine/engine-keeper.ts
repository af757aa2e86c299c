/**
 * Which engine proves. A graphics device that goes away is opened once more in each proof, then the processor takes over; one that
 * gave a wrong result is not trusted a second time.
 *
 * @module
 */
import { ProverError } from '../errors.ts';
import type { Engine } from './engine.ts';
import { createKeyCache, type KeyCache } from './key-cache.ts';

/** `auto`: the graphics device if there is a real one, else the processor. */
export type AcceleratorChoice = 'auto' | 'webgpu' | 'cpu';

export type EngineFactories = {
  readonly cpu: () => Promise<Engine>;
  /** reason: why there is no device to use. */
  readonly webgpu: () => Promise<{ readonly engine: Engine } | { readonly reason: string }>;
};

/** Something an operator should know, although the proof may have been made all the same. */
export type ProverIncident = {
  readonly code: 'accelerator_lost' | 'accelerator_wrong_result';
  readonly message: string;
};

export type EngineSlot = { readonly engine: Engine; readonly keys: KeyCache };

export type EngineKeeper = {
  /** The engine to use now, started if need be. */
  readonly current: () => Promise<EngineSlot>;
  /** The processor, beside the current engine. */
  readonly processor: () => Promise<EngineSlot>;
  /** Gives up a slot whose device went away; the next `current` opens another. */
  readonly reportLoss: (slot: EngineSlot) => Promise<void>;
  /** Takes note of a wrong result. After the second one the processor proves for good. */
  readonly reportWrongResult: (slot: EngineSlot) => Promise<void>;
  /** Slots that are open. */
  readonly slots: () => readonly EngineSlot[];
  readonly losses: () => number;
  readonly wrongResults: () => number;
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

const MAXIMUM_WRONG_RESULTS = 2;

const closed = (): ProverError => new ProverError('prover_closed', 'The prover is closed.');

export const createEngineKeeper = (options: EngineKeeperOptions): EngineKeeper => {
  const { accelerator, factories, onIncident } = options;
  let device: Promise<EngineSlot | string> | undefined;
  let processor: Promise<EngineSlot> | undefined;
  const open = new Set<EngineSlot>();
  let losses = 0;
  let wrongResults = 0;
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
      .catch((error: unknown) => (error instanceof Error ? error.message : 'unknown'));
    return await device;
  };

  const current = async (): Promise<EngineSlot> => {
    if (
      accelerator === 'cpu' ||
      (accelerator === 'auto' && wrongResults >= MAXIMUM_WRONG_RESULTS)
    ) {
      return await startProcessor();
    }
    const slot = isClosed ? 'closed' : await startDevice();
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
    reportLoss: async (slot) => {
      losses += 1;
      onIncident?.({
        code: 'accelerator_lost',
        message: `${slot.engine.detail} went away in the middle of a proof.`,
      });
      await drop(slot);
    },
    reportWrongResult: async (slot) => {
      wrongResults += 1;
      onIncident?.({
        code: 'accelerator_wrong_result',
        message: `${slot.engine.detail} gave a proof that does not verify.`,
      });
      await drop(slot);
    },
    slots: () => [...open],
    losses: () => losses,
    wrongResults: () => wrongResults,
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
};
