/**
 * Makes one proof: key and witness, sums, blinding, verification. If the device goes away or computes a wrong result, it starts
 * again on another device or on the processor.
 *
 * @module
 */

import {
  findInvalidPoint,
  isSameVerificationKey,
  toVerificationKey,
  type VerificationKey,
} from '@pool/kernels';
import { ProverError, type ProverErrorCode } from '../base/errors.ts';
import { type IdentifiedFile, identifyFile } from '../base/file-input.ts';
import type { ProofProgress, ProofResult, ProvingArtifact } from '../base/prover.ts';
import { type Turn, type Turns, untilAborted } from '../base/turns.ts';
import { joinSignals, type WorkerLink } from '../base/worker-link.ts';
import type { Engine, EnginePhase } from '../engine/engine.ts';
import type { AcceleratorChoice, EngineKeeper, EngineSlot } from '../engine/engine-keeper.ts';
import type { HeldKey } from '../engine/key-cache.ts';
import { malformed } from '../zkey/zkey.ts';
import { type BlindingPoints, readPublicSignals } from './assemble-proof.ts';
import type { AssembleProofRequest, AssembleProofResult } from './assemble-proof-worker.ts';

/** Strings in arrays of at most three levels, as in IC. The limit also stops cycles. */
function isNested(value: unknown, depth = 0): boolean {
  return (
    typeof value === 'string' ||
    (Array.isArray(value) && depth < 3 && value.every((item) => isNested(item, depth + 1)))
  );
}

/** Whether it has the fields of a verification key, with points as nested arrays of strings. The values are not checked. */
function isVerificationKey(key: unknown): key is VerificationKey {
  if (typeof key !== 'object' || key === null) {
    return false;
  }
  const { nPublic, IC, vk_alpha_1, vk_beta_2, vk_gamma_2, vk_delta_2 } =
    key as Partial<VerificationKey>;
  const points = [IC, vk_alpha_1, vk_beta_2, vk_gamma_2, vk_delta_2];
  return (
    typeof nPublic === 'number' && points.every((part) => Array.isArray(part) && isNested(part))
  );
}

export type ProofParts = {
  /** One proof at a time uses an engine and its keys. */
  readonly engineTurns: Turns;
  readonly accelerator: AcceleratorChoice;
  readonly keeper: EngineKeeper;
  readonly assembler: WorkerLink<AssembleProofRequest, AssembleProofResult>;
  /** Called with the engine that made the proof. */
  readonly onProved: (engine: Engine) => void;
};

export type ProofTask = {
  readonly artifact: Omit<ProvingArtifact, 'wasm'>;
  /** Computes or reads the witness: all wires, 32 bytes little-endian each, below r. Secret; wiped here. */
  readonly makeWitness: () => Promise<Uint8Array>;
  /** The caller gave the witness, so no program has checked it. */
  readonly isWitnessGiven: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: ProofProgress;
  /** Called when the sums begin: the witness of the next proof can be computed. */
  readonly onSums: () => void;
};

/** The start and length of each phase within the stage `proof`, including the loading of the key. */
const spans: Readonly<Record<EnginePhase, readonly [number, number]>> = {
  load: [0, 0.4],
  quotient: [0.4, 0.12],
  sums: [0.52, 0.48],
};

type Phases = ReturnType<typeof createPhases>;

/** Fractions that never decrease, whatever order the phases report in. */
function createPhases(onProgress: ProofProgress) {
  const reached: Record<EnginePhase, number> = { load: 0, quotient: 0, sums: 0 };
  let base = 0;
  let last = 0;
  return {
    /** The key was in memory already, so the phase of loading is not counted. */
    skipLoading: () => {
      base = spans.quotient[0];
      reached.load = 1;
    },
    report: (phase: EnginePhase, fraction: number) => {
      reached[phase] = Math.max(reached[phase], fraction);
      const done = Object.entries(spans).reduce(
        (sum, [name, [, length]]) => sum + length * reached[name as EnginePhase],
        0,
      );
      const whole = Math.min(1, Math.max(0, (done - base) / (1 - base)));
      if (whole > last) {
        last = whole;
        onProgress('proof', whole);
      }
    },
  };
}

/** A key that does not fit on the device may fit into the processor's memory. */
const tooSmall: ReadonlySet<ProverErrorCode> = new Set([
  'memory_budget_exceeded',
  'accelerator_limit_exceeded',
]);

/** @returns the verification key to verify under: the expected one, or the proving key's own */
function checkKey(key: HeldKey, expected: VerificationKey | undefined): VerificationKey {
  if (expected !== undefined && !isVerificationKey(expected)) {
    throw new ProverError(
      'verification_key_malformed',
      'The verification key is not a Groth16 key over BN254 as snarkjs exports it.',
    );
  }
  // A key with a point at infinity verifies nothing, although both sides may hold it.
  const isSound = findInvalidPoint('g1', key.ic, 'refused') === undefined;
  if (!isSound && expected === undefined) {
    throw malformed(
      'A point of the verification key in the proving key is the point at infinity. Fetch or build the key again.',
    );
  }
  const own = toVerificationKey(key.header, key.ic);
  if (expected !== undefined && !(isSound && isSameVerificationKey(own, expected))) {
    throw new ProverError(
      'artifacts_mismatch',
      'The verification key does not belong to the proving key. Export it from that proving key.',
    );
  }
  return expected ?? own;
}

/** The processor's proof does not verify. */
function unverified({ isWitnessGiven }: ProofTask): ProverError {
  return isWitnessGiven
    ? new ProverError(
        'witness_refused',
        'The proof does not verify: the witness does not satisfy the circuit of this proving key. Compute the witness again with the program of the same build; pool-prover wtns check names the constraint that does not hold.',
      )
    : new ProverError(
        'proof_failed',
        'The proof does not verify under its verification key. Either the input satisfies the assertions of the circuit but not its constraints, or the artifacts do not belong together.',
        { retryable: true },
      );
}

function checkWitness({ header }: HeldKey, witness: Uint8Array): void {
  if (witness.length !== 32 * header.wires) {
    throw new ProverError(
      'artifacts_mismatch',
      `The witness has ${witness.length / 32} wires and the proving key takes ${header.wires}: they do not belong to the same circuit.`,
    );
  }
}

type TakenKey = {
  readonly key: HeldKey;
  readonly verificationKey: VerificationKey;
  readonly points: BlindingPoints;
  readonly phases: Phases;
};

/** @param signal - ends the loading */
async function takeKey(
  { assembler }: ProofParts,
  { artifact, signal: caller }: Pick<ProofTask, 'artifact' | 'signal'>,
  { keys }: EngineSlot,
  zkey: IdentifiedFile,
  phases: Phases,
  signal: AbortSignal = caller,
): Promise<TakenKey> {
  const before = keys.loads();
  const key = await keys.take(zkey, { signal, onProgress: phases.report });
  if (keys.loads() === before) {
    phases.skipLoading();
  }
  phases.report('load', 1);
  const verificationKey = checkKey(key, artifact.verificationKey);
  const { alpha1, beta1, beta2, delta1, delta2 } = key.header;
  const points = { alpha1, beta1, beta2, delta1, delta2 };
  // Starts that thread too. A failure is told when it assembles the proof.
  assembler.call({ points, verificationKey }, caller).catch(() => undefined);
  return { key, verificationKey, points, phases };
}

/**
 * In its turn, starts the engine and loads the key while the witness program runs. A failure is told when the proof asks for the key.
 */
function loadAhead(
  parts: ProofParts,
  task: ProofTask,
  identifying: Promise<IdentifiedFile>,
  turn: Turn,
) {
  const { artifact, signal: caller, onProgress } = task;
  const stopping = new AbortController();
  const { signal, release } = joinSignals(caller, stopping.signal);
  let isShown = false;
  let fraction = 0;
  const phases = createPhases((stage, reached) => {
    fraction = reached;
    if (isShown) {
      onProgress(stage, reached);
    }
  });
  let taking: Promise<TakenKey> | undefined;
  const load = async () => {
    const zkey = await identifying;
    await turn.begins;
    if (signal.aborted) {
      return undefined;
    }
    const slot = await parts.keeper.current(zkey);
    // A stream can be read only once: it stays for an input that the program accepts.
    if (signal.aborted || artifact.zkey instanceof ReadableStream) {
      return undefined;
    }
    taking = takeKey(parts, task, slot, zkey, phases, signal);
    await taking.catch(() => undefined);
    return { slot, taking };
  };
  const loading = load()
    .catch(() => undefined)
    .finally(release);
  return {
    /** The slot with its key, or undefined if none opened. From now on its progress is reported. */
    finish: async () => {
      isShown = true;
      if (fraction > 0) {
        onProgress('proof', fraction);
      }
      return await loading;
    },
    /** Ends the loading. The start of an engine goes on: the next proof needs it. */
    stop: async () => {
      stopping.abort();
      await taking?.catch(() => undefined);
    },
  };
}

/**
 * Starts the engine and loads the key, which the next proof finds in memory.
 * @throws ProverError; the signal's reason
 */
export async function loadKey(
  parts: ProofParts,
  task: Pick<ProofTask, 'artifact' | 'signal' | 'onProgress'>,
): Promise<void> {
  const { artifact, signal, onProgress } = task;
  const turn = parts.engineTurns.take();
  try {
    const zkey = await identifyFile(artifact.zkey, 'proving key');
    await untilAborted(turn.begins, signal);
    const slot = await parts.keeper.current(zkey);
    const phases: Phases = {
      report: (_phase, fraction) => onProgress('proof', fraction),
      skipLoading: () => undefined,
    };
    await takeKey(parts, task, slot, zkey, phases);
  } finally {
    turn.end();
  }
}

/**
 * @throws ProverError; the signal's reason
 */
export async function makeProof(parts: ProofParts, task: ProofTask): Promise<ProofResult> {
  const { accelerator, keeper, assembler, onProved } = parts;
  const { artifact, signal, onProgress } = task;

  onProgress('witness', 0);
  const identifying = identifyFile(artifact.zkey, 'proving key');
  let turn = parts.engineTurns.take();
  const ahead = loadAhead(parts, task, identifying, turn);
  const witness = await task.makeWitness().catch(async (error: unknown) => {
    await ahead.stop();
    turn.end();
    throw error;
  });
  try {
    onProgress('witness', 1);
    onProgress('proof', 0);
    await untilAborted(turn.begins, signal);
    const loaded = await ahead.finish();
    const zkey = await identifying;
    task.onSums();

    /** A turn of its own, as another proof may use the device after this one's sums. */
    const takeTurn = async (): Promise<void> => {
      turn.end();
      turn = parts.engineTurns.take();
      await untilAborted(turn.begins, signal);
    };

    /** In its turn, which ends with the sums. Undefined if the proof does not verify. */
    const proveOn = async (slot: EngineSlot): Promise<ProofResult | undefined> => {
      const { key, verificationKey, points, phases } = await (loaded?.slot === slot
        ? loaded.taking
        : takeKey(parts, task, slot, zkey, createPhases(onProgress)));
      const options = { signal, onProgress: phases.report };
      signal.throwIfAborted();
      checkWitness(key, witness);
      const sums = await key.resident.computeSums(witness, options);
      signal.throwIfAborted();
      phases.report('quotient', 1);
      phases.report('sums', 1);
      turn.end();
      onProgress('verify', 0);
      const publicSignals = readPublicSignals(witness, key.header.publicSignals);
      const { proof } = await assembler.call(
        { sums, points, verificationKey, publicSignals },
        signal,
      );
      if (proof === undefined) {
        return undefined;
      }
      onProgress('verify', 1);
      return { proof, publicSignals };
    };

    /** A device whose proof did not verify. It is to blame only if the processor's proof does. */
    let doubted: EngineSlot | undefined;
    for (let losses = 0; losses < 2; ) {
      const slot = await keeper.current(zkey);
      try {
        const result = await proveOn(slot);
        if (result !== undefined) {
          keeper.reportProof(slot);
          onProved(slot.engine);
          return result;
        }
        if (slot.engine.kind === 'cpu') {
          throw unverified(task);
        }
        doubted = slot;
        break;
      } catch (error) {
        signal.throwIfAborted();
        if (slot.engine.kind === 'cpu' || !(error instanceof ProverError)) {
          throw error;
        }
        if (error.code === 'accelerator_lost') {
          await keeper.reportFailure(slot, 'lost', error.message);
          losses += 1;
          continue;
        }
        if (error.code === 'accelerator_refused') {
          // The device would refuse the same work again.
          await keeper.reportFailure(slot, 'refused', error.message);
        } else if (tooSmall.has(error.code) && accelerator === 'auto') {
          keeper.reportTooSmall(zkey, error.message);
        } else {
          throw error;
        }
        if (accelerator === 'webgpu') {
          throw error;
        }
        break;
      }
    }
    const deviceOnly = accelerator === 'webgpu';
    const lost = () =>
      new ProverError(
        'accelerator_lost',
        'The graphics device went away or computed a wrong result. Try again, or set accelerator to auto.',
        { retryable: true },
      );
    await takeTurn();
    // Only a given witness may be to blame, so that the processor decides.
    if (doubted !== undefined && !task.isWitnessGiven) {
      await keeper.reportFailure(doubted, 'wrong');
      doubted = undefined;
    }
    if (deviceOnly && doubted === undefined) {
      throw lost();
    }
    const processor = await keeper.processor();
    const result = await proveOn(processor);
    if (result === undefined) {
      throw unverified(task);
    }
    if (doubted !== undefined) {
      await takeTurn();
      await keeper.reportFailure(doubted, 'wrong');
    }
    if (deviceOnly) {
      throw lost();
    }
    onProved(processor.engine);
    return result;
  } finally {
    turn.end();
    witness.fill(0);
  }
}
