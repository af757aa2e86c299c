/**
 * The engine on the processor: WebAssembly kernels on all cores, through @pool/kernels.
 *
 * @module
 */
import {
  createProvingKernels,
  type PointTable,
  type ProvingKernels,
  type Rows,
  type ScalarVector,
  type TaskOptions,
} from '@pool/kernels';
import { ProverError } from '../base/errors.ts';
import { decodeG1, decodeG2 } from '../base/points.ts';
import type { PointSection, Zkey, ZkeyHeader } from '../zkey/zkey.ts';
import type { Engine, EngineOptions, ResidentKey } from './engine.ts';
import type { PreparedKey } from './prepared-key.ts';

export type CpuEngineOptions = {
  /** Default: all cores. */
  readonly threads?: number | undefined;
  /** Memory for keys and proofs together, in bytes. */
  readonly maximumBytes?: number | undefined;
};

/** The sections that are summed over. */
const sections = ['a', 'b1', 'b2', 'c', 'h'] as const satisfies readonly PointSection[];
type SumSection = (typeof sections)[number];

/** Bytes of a point in the kernels' format, with limbs of 51 bits in 8 bytes. */
const pointBytes = { g1: 80, g2: 160 } as const;
/** A point of G2 costs about as much as three of G1. */
const weight = { g1: 1, g2: 3 } as const;

/** The kernels' encoding of infinity, long enough for both groups. */
const infinity = new Uint8Array(128);

function groupOf(section: SumSection) {
  return section === 'b2' ? 'g2' : 'g1';
}

/** Converts errors of the kernels into the prover's. The caller's own abort is not changed. */
async function translate<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (signal?.aborted || error instanceof ProverError) {
      throw error;
    }
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'out_of_memory') {
      throw new ProverError(
        'memory_budget_exceeded',
        'The proving key and its proof do not fit into the memory that the prover may use. Raise memoryBudgetBytes.',
        { cause: error },
      );
    }
    if (code === 'thread_file_missing' && error instanceof Error) {
      throw new ProverError(code, error.message, { cause: error });
    }
    throw new ProverError(
      'proof_failed',
      code === 'start_failed'
        ? 'The proving engine cannot start. Check that the process may start threads and that memoryBudgetBytes suits the machine.'
        : 'The proving engine stopped before it was done.',
      { retryable: true, cause: error },
    );
  }
}

/** Combines the fractions of several parts. */
function createProgress(report: ((fraction: number) => void) | undefined) {
  const parts: { weight: number; fraction: number }[] = [];
  return (weight: number) => {
    const part = { weight, fraction: 0 };
    parts.push(part);
    return (fraction: number): void => {
      part.fraction = fraction;
      const total = parts.reduce((sum, { weight: each }) => sum + each, 0);
      const done = parts.reduce((sum, each) => sum + each.weight * each.fraction, 0);
      report?.(total === 0 ? 1 : done / total);
    };
  };
}

/** A thread sums at most this many points at a time, in G1 and in G2. It keeps lists, buckets and half as many sums for each. */
const threadPoints = 2 ** 17;
const threadBytesPerPoint = 160;

/** Memory for a key and one proof with it, in bytes. It must be free before the key is loaded. */
function estimateCpuBytes(header: ZkeyHeader, threads: number): number {
  return (
    threads * threadBytesPerPoint * Math.min(threadPoints, header.wires + header.domainSize) +
    header.wires * (3 * pointBytes.g1 + pointBytes.g2) +
    header.domainSize * pointBytes.g1 +
    header.coefficients * 16 +
    // Scalars of the witness and the quotient, and the polynomials in between.
    header.wires * 80 +
    header.domainSize * 200
  );
}

/** Where the parts of a key come from. */
type KeyParts = {
  readonly header: ZkeyHeader;
  readonly countPoints: (section: SumSection) => number;
  readonly loadPoints: (section: SumSection, options: TaskOptions) => Promise<PointTable>;
  readonly loadRows: (options: TaskOptions) => Promise<Rows>;
};

function partsOfZkey(kernels: ProvingKernels, zkey: Zkey): KeyParts {
  const { header, countPoints } = zkey;
  return {
    header,
    countPoints,
    loadPoints: (section, options) =>
      kernels.loadPoints(
        groupOf(section),
        countPoints(section),
        (start, count, into) => zkey.readPoints(section, start, count, into),
        options,
      ),
    loadRows: async (options) => {
      const { domainSize, wires } = header;
      return await kernels.loadRows(
        { ...(await zkey.readCoefficients()), domainSize, wires },
        options,
      );
    },
  };
}

function partsOfPrepared(kernels: ProvingKernels, { header, parts }: PreparedKey): KeyParts {
  const restore = async (name: string, options: TaskOptions) => {
    const part = parts.get(name);
    if (part === undefined) {
      throw new Error(`The prepared key has no part ${name}.`);
    }
    return await kernels.restoreImage(part, options);
  };
  return {
    header,
    countPoints: (section) => parts.get(section)?.shape.count ?? 0,
    // Each part was written under the name of what it is.
    loadPoints: async (section, options) => (await restore(section, options)) as PointTable,
    loadRows: async (options) => (await restore('rows', options)) as Rows,
  };
}

async function loadKey(
  kernels: ProvingKernels,
  key: KeyParts,
  options: EngineOptions,
): Promise<ResidentKey> {
  const { signal } = options;
  const { header } = key;
  const held: { readonly bytes: number; release(): void }[] = [];
  const release = (): void => {
    for (const part of held.splice(0)) {
      part.release();
    }
  };
  const progressOf = createProgress((fraction) => options.onProgress?.('load', fraction));
  try {
    /** Undefined for a section without points: `c` of a circuit whose wires are all public. */
    const tables: Partial<Record<SumSection, PointTable>> = {};
    const reports = new Map(
      sections.map((section) => [
        section,
        progressOf(key.countPoints(section) * weight[groupOf(section)]),
      ]),
    );
    const reportRows = progressOf(header.coefficients / 4);
    for (const section of sections) {
      if (key.countPoints(section) === 0) {
        continue;
      }
      const table = await key.loadPoints(section, { signal, onProgress: reports.get(section) });
      held.push(table);
      tables[section] = table;
    }
    const rows = await key.loadRows({ signal, onProgress: reportRows });
    held.push(rows);

    /** One sum after the other. Workers that queue take all at once: none waits for the slowest before it begins the next. */
    const inLane = async <const T extends readonly (() => Promise<Uint8Array>)[]>(steps: T) => {
      const results: Promise<Uint8Array>[] = [];
      for (const step of steps) {
        const result = step();
        results.push(result);
        if (kernels.isQueue !== true) {
          await result;
        }
      }
      await Promise.allSettled(results);
      return (await Promise.all(results)) as { [K in keyof T]: Uint8Array };
    };

    const computeSums: ResidentKey['computeSums'] = async (witness, sumOptions = {}) => {
      const stop = sumOptions.signal;
      const scalars = await kernels.loadScalars(header.wires, witness);
      const onQuotient = (fraction: number) => sumOptions.onProgress?.('quotient', fraction);
      const sumProgress = createProgress((fraction) => sumOptions.onProgress?.('sums', fraction));
      // All parts are announced before the first begins. Otherwise the total would go backwards when others join.
      const reports = new Map(
        sections.map((section) => {
          // c and h are one sum, reported as h.
          const joint = section === 'c' ? undefined : tables[section];
          const points = (joint?.count ?? 0) + (section === 'h' ? (tables.c?.count ?? 0) : 0);
          return [section, sumProgress(points * weight[groupOf(section)])] as const;
        }),
      );
      const sum = (section: SumSection) => {
        const points = tables[section];
        const onProgress = reports.get(section);
        return points === undefined
          ? Promise.resolve(infinity)
          : kernels.computeMsm(points, scalars, { signal: stop, onProgress });
      };
      /** c and h: one sum, as the proof contains only their sum. */
      const sumJointly = (quotient: ScalarVector) => {
        const { c, h } = tables;
        if (h === undefined) throw new Error('The key has no points for the quotient.');
        const ofQuotient = { points: h, scalars: quotient };
        const firstScalar = header.publicSignals + 1;
        return kernels.computeJointMsm(
          c === undefined ? [ofQuotient] : [ofQuotient, { points: c, scalars, firstScalar }],
          { signal: stop, onProgress: reports.get('h') },
        );
      };
      // Two lanes: while the last tasks of one step finish, the other lane keeps all cores busy. More lanes would only use more
      // memory. Both must end before memory is freed, also after a failure.
      const first = (async () => {
        const quotient = await kernels.computeQuotient(rows, scalars, {
          signal: stop,
          onProgress: onQuotient,
        });
        return await sumJointly(quotient).finally(() => {
          quotient.release();
        });
      })();
      const second = inLane([() => sum('b2'), () => sum('a'), () => sum('b1')]);
      await Promise.allSettled([first, second]);
      scalars.release();
      const [c, [b2, a, b1]] = await Promise.all([first, second]);
      return {
        a: decodeG1(a),
        b1: decodeG1(b1),
        b2: decodeG2(b2),
        c: decodeG1(c),
      };
    };
    return {
      bytes: held.reduce((sum, { bytes }) => sum + bytes, 0),
      computeSums: (witness, sumOptions) =>
        translate(computeSums(witness, sumOptions), sumOptions?.signal),
      createImages: () =>
        new Map(
          Object.entries({ ...tables, rows }).map(([name, part]) => [
            name,
            kernels.createImage(part),
          ]),
        ),
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** Starts the threads. */
export async function createCpuEngine(options: CpuEngineOptions = {}): Promise<Engine> {
  const kernels = await translate(
    createProvingKernels({
      ...(options.threads === undefined ? {} : { threads: options.threads }),
      ...(options.maximumBytes === undefined ? {} : { maximumBytes: options.maximumBytes }),
    }),
    undefined,
  );
  return {
    kind: 'cpu',
    detail: kernels.detail,
    load: (zkey, loadOptions = {}) =>
      translate(loadKey(kernels, partsOfZkey(kernels, zkey), loadOptions), loadOptions.signal),
    describeImageFormat: kernels.describeImageFormat,
    restore: (prepared, loadOptions = {}) =>
      translate(
        loadKey(kernels, partsOfPrepared(kernels, prepared), loadOptions),
        loadOptions.signal,
      ),
    estimateBytes: (header) => estimateCpuBytes(header, kernels.threads),
    ...(kernels.isLost === undefined ? {} : { isLost: kernels.isLost }),
    close: () => kernels.close(),
  };
}
