/**
 * Runs the model (disbursement.qnt) in Quint's simulator, and reads the runs that it writes.
 *
 * @module
 */
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../src/processes.ts';

const quint = createRequire(import.meta.url).resolve('@informalsystems/quint/dist/src/cli.js');
const file = join(import.meta.dirname, 'disbursement.qnt');

/** The text of the model. */
export const model: string = readFileSync(file, 'utf8');

/** The invariants that the model lists, by name. */
export const invariants: readonly string[] = (
  /val invariant = and \{([^}]*)\}/.exec(model)?.[1] ?? ''
)
  .split(/[\s,]+/)
  .filter((name) => name !== '');

type Work = { readonly fence: number };
export type Row = {
  readonly tx: {
    readonly id: number;
    readonly nonce: number;
    /** Of the submission. */
    readonly key: string;
    /** The key that it pays, or `cancel`. */
    readonly call: string;
  };
  readonly state: string;
};

/** A state of the model. Only what a replay needs. */
export type State = {
  readonly now: number;
  readonly deadline: number;
  readonly jobs: ReadonlyMap<
    string,
    {
      readonly phase: string;
      readonly fence: number;
      readonly until: number;
      readonly digest: number;
    }
  >;
  /** By agent and key, joined by a comma. */
  readonly work: ReadonlyMap<string, Work>;
  /** The key of the turn that is or was last taken. */
  readonly turnFor: string;
  readonly submissions: ReadonlyMap<string, { readonly state: string; readonly digest: number }>;
  readonly epoch: number;
  readonly leads: ReadonlyMap<string, number>;
  readonly plans: ReadonlyMap<string, Row['tx']>;
  readonly rows: readonly Row[];
  readonly head: ChainState;
  readonly final: ChainState;
};

type ChainState = {
  readonly nonce: number;
  readonly mined: readonly number[];
  readonly paid: ReadonlyMap<string, number>;
  readonly time: number;
};

/** One action: what was done by whom, the state before and after it, and what a store answers. */
export type Step = {
  readonly action: string;
  /** The agent, the relayer and the key of the action, where it has them. */
  readonly agent: string;
  readonly relayer: string;
  readonly key: string;
  readonly drawn: number;
  readonly before: State;
  readonly after: State;
  readonly answer: string;
};

export type Runs = readonly (readonly Step[])[];

export type Simulation = {
  /** Names of the invariants that a run broke. */
  readonly broken: readonly string[];
  /** Runs, of which the last one broke an invariant, if one did. */
  readonly samples: number;
  readonly runs: Runs;
  readonly output: string;
};

/**
 * @param options.text - the model, or a changed one
 * @param options.traces - how many runs are read
 */
export async function simulate(options: {
  readonly text?: string;
  readonly seed: number;
  readonly samples: number;
  readonly steps: number;
  readonly traces?: number;
  /** Where they are kept. Default: nowhere. */
  readonly keptIn?: string;
}): Promise<Simulation> {
  const { text = model, seed, samples, steps, traces = 0, keptIn } = options;
  const folder = mkdtempSync(join(tmpdir(), 'pool-model-'));
  try {
    const path = join(folder, 'model.qnt');
    writeFileSync(path, text);
    // Quint exits before a pipe has taken all of its output. A file has.
    const log = join(folder, 'output.txt');
    const { status } = await run(
      'sh',
      [
        ...['-c', 'exec "$@" >"$0" 2>&1', log, process.execPath],
        ...[quint, 'run', path, '--backend=typescript', '--main=disbursement', `--seed=${seed}`],
        ...[`--max-samples=${samples}`, `--max-steps=${steps}`, '--invariants', ...invariants],
        ...['--witnesses', 'oneDone', 'oneFailed'],
        ...(traces === 0
          ? []
          : ['--mbt', `--n-traces=${traces}`, `--out-itf=${join(folder, 'run-{seq}.json')}`]),
      ],
      { output: 'collect' },
    );
    const output = readFileSync(log, 'utf8');
    const explored = /trace\(s\) out of (\d+) explored/.exec(output)?.[1];
    if (explored === undefined || output.includes('[error]')) {
      throw new Error(`the model cannot be run (status ${status}):\n${output.slice(-2_000)}`);
    }
    const files = readdirSync(folder).filter((name) => name.startsWith('run-'));
    if (keptIn !== undefined) {
      for (const name of files) copyFileSync(join(folder, name), join(keptIn, name));
    }
    const broken = [...output.matchAll(/❌ (\w+)/g)].map(([, name = '']) => name);
    const runs = files.map((name) => readRun(readFileSync(join(folder, name), 'utf8')));
    return { broken, samples: Number(explored), runs, output };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @throws Error that quotes what Quint says of the types */
export async function assertTypes(): Promise<void> {
  const { status, combined } = await run(process.execPath, [quint, 'typecheck', file], {
    output: 'collect',
  });
  if (status !== 0) {
    throw new Error(combined);
  }
}

/** A run in the Informal Trace Format. */
function readRun(text: string): readonly Step[] {
  const { states } = JSON.parse(text) as { states: readonly Record<string, unknown>[] };
  const read = states.map((each) => ({
    action: String(each['mbt::actionTaken']),
    picks: readValue(each['mbt::nondetPicks']) as Readonly<Record<string, Pick>>,
    answer: String(each['answer']),
    state: readValue(each['s']) as State,
  }));
  return read.slice(1).map(({ action, picks, answer, state }, index) => ({
    action,
    agent: String(pickOf(picks[action === 'lease' ? 'b' : 'a'])),
    relayer: String(pickOf(picks['r'])),
    key: String(pickOf(picks['k'])),
    drawn: Number(pickOf(picks['drawn'])),
    before: read[index]?.state ?? state,
    after: state,
    answer,
  }));
}

type Pick = { readonly tag: string; readonly value: unknown } | undefined;

function pickOf(pick: Pick): unknown {
  return pick?.tag === 'Some' ? pick.value : undefined;
}

function readValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readValue);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [[tag, inner] = ['', undefined]] = entries;
  switch (tag) {
    case '#bigint':
      return Number(inner);
    case '#map':
      return new Map(
        (inner as readonly (readonly [unknown, unknown])[]).map(([name, each]) => [
          String(readValue(name)),
          readValue(each),
        ]),
      );
    case '#set':
    case '#tup':
      return readValue(inner);
    default:
      return Object.fromEntries(entries.map(([name, each]) => [name, readValue(each)]));
  }
}
