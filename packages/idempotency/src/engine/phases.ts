/**
 * The phases of a durable job. Each kind of job declares one table: what may follow each phase, which facts a phase has, and where a
 * crash of its work could matter. The engine refuses every write that the table does not contain, and the fault points of the tests are
 * read from it.
 *
 * @module
 */

/** A stored phase: its kind, and exactly the facts that it has. */
export type AnyPhase = { readonly kind: string };

type FactsOf<TPhase> = TPhase extends AnyPhase
  ? {
      readonly [Name in Exclude<keyof TPhase, 'kind'>]-?: undefined extends TPhase[Name]
        ? 'may'
        : 'must';
    }
  : never;

/** Facts that a change writes. Undefined: the fact is taken out. */
export type Facts = Readonly<Record<string, unknown>>;

export type PhaseRow<TKind extends string, TPhase> = {
  /** The phases that may follow. None: the job has ended. A job also stays in its phase while other facts change. */
  readonly next: readonly TKind[];
  /** Whether the phase has each of its facts always. */
  readonly facts: FactsOf<TPhase>;
  /** Fault points just before the phase is stored, and just after. */
  readonly stored: { readonly before?: string; readonly after?: string };
  /** The other places of the work in this phase where a crash could matter, in the order of a run. */
  readonly work: readonly string[];
};

export type PhaseTable<TPhase extends AnyPhase> = {
  readonly [Kind in TPhase['kind']]: PhaseRow<
    TPhase['kind'],
    Extract<TPhase, { readonly kind: Kind }>
  >;
};

/** What this module reads of a table. */
type Table = Readonly<
  Record<
    string,
    {
      readonly next: readonly string[];
      readonly facts: Readonly<Record<string, 'must' | 'may'>>;
      readonly stored: { readonly before?: string; readonly after?: string };
      readonly work: readonly string[];
    }
  >
>;

type PointsOf<TTable> = {
  [Kind in keyof TTable]: TTable[Kind] extends {
    readonly stored: infer Stored;
    readonly work: readonly (infer Work)[];
  }
    ? Stored[keyof Stored] | Work
    : never;
}[keyof TTable];

/** The names of all places of a kind of job where a crash could matter. */
export type FaultPointOf<TTable> = PointsOf<TTable> & string;

/** Every fault point of a kind of job, in the order of its phases. */
export function listFaultPoints<TTable extends Table>(
  table: TTable,
): readonly FaultPointOf<TTable>[] {
  const points = Object.values(table).flatMap(({ stored: { before, after }, work }) =>
    [before, after, ...work].filter((point) => point !== undefined),
  );
  return [...new Set(points)] as FaultPointOf<TTable>[];
}

/** @throws Error for a change that the table does not contain */
export function assertMove<TKind extends string>(
  table: Readonly<Record<TKind, { readonly next: readonly TKind[] }>>,
  from: TKind,
  to: TKind,
): void {
  if (from !== to && !table[from].next.includes(to)) {
    throw new Error(`a job cannot go from ${from} to ${to}`);
  }
}

/**
 * The phase that follows: it keeps the facts that both have, and gets new ones.
 * @throws Error for a change that the table does not contain, and for facts that the phase cannot have or lacks
 */
export function movePhase<TPhase extends AnyPhase>(
  table: PhaseTable<TPhase>,
  from: TPhase,
  kind: TPhase['kind'],
  facts: Facts,
): TPhase {
  const rows: Table = table;
  assertMove(rows, from.kind, kind);
  const names = Object.keys(rows[kind]?.facts ?? {});
  const kept = Object.entries(from).filter(([name]) => names.includes(name));
  return readPhase(table, { ...Object.fromEntries(kept), ...facts, kind });
}

/** @throws Error unless the value is a phase of the table with exactly its facts. What the facts hold is not checked */
export function readPhase<TPhase extends AnyPhase>(
  table: PhaseTable<TPhase>,
  value: unknown,
): TPhase {
  const rows: Table = table;
  const kind = typeof value === 'object' && value !== null && 'kind' in value ? value.kind : '';
  const row = typeof kind === 'string' && Object.hasOwn(rows, kind) ? rows[kind] : undefined;
  if (row === undefined) {
    throw new Error('it has no phase');
  }
  const present = Object.entries(value as Facts)
    .filter(([name, fact]) => name !== 'kind' && fact !== undefined)
    .map(([name]) => name);
  const foreign = present.find((name) => !Object.hasOwn(row.facts, name));
  if (foreign !== undefined) {
    throw new Error(`it is ${kind} and has "${foreign}"`);
  }
  const missing = Object.keys(row.facts).find(
    (name) => row.facts[name] === 'must' && !present.includes(name),
  );
  if (missing !== undefined) {
    throw new Error(`it is ${kind} and has no "${missing}"`);
  }
  return value as TPhase;
}
