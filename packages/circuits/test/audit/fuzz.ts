/** Runs the attacks on the targets of a circuit, in an order that a seed repeats, until all are done or the time is over. */
import { type Attack, type AttackContext, listAttacks } from './attacks.ts';
import type { Attempt, Outcome } from './recompute.ts';

export type Survivor = {
  /** How many attacks on wires of this name were accepted. */
  readonly count: number;
  /** One of them, as `wire = value`, by full name. */
  readonly example: string;
};

export type FuzzReport = {
  readonly targets: number;
  /** Targets of which every attack was tried. */
  readonly attacked: number;
  readonly attempts: number;
  readonly rejected: number;
  /** Attacks that came out as the honest witness. */
  readonly unchanged: number;
  /** Attempts by kind of attack. */
  readonly byAttack: ReadonlyMap<string, number>;
  /** Accepted attacks, by the names of the chosen wires. */
  readonly survivors: ReadonlyMap<string, Survivor>;
  /** Those that gave a protected wire another value, in words. Must stay empty. */
  readonly breaches: readonly string[];
};

/** What an audit compares with the committed list. */
export type Found = Pick<FuzzReport, 'survivors' | 'breaches'>;

export type FuzzOptions = AttackContext & {
  readonly recompute: (attempt: Attempt) => Outcome;
  readonly targets: readonly number[];
  /** Targets that are attacked in any case. */
  readonly urgent?: ReadonlySet<number> | undefined;
  /** A name that alike wires share, such as `notes[dummy].inverse`. */
  readonly groupOf: (wire: number) => string;
  readonly nameOf: (wire: number) => string;
  /** Wires whose value an attack must not change. */
  readonly isProtected: (wire: number) => boolean;
  /** Attacks on a target at most, drawn at random. Default: all. */
  readonly attacksPerTarget?: number;
  /** True when the time is over. Asked after the first target of each group and `atLeast` others were attacked. */
  readonly isOver: () => boolean;
  readonly atLeast: number;
  /** True when the attacks may end. Asked whenever there is more to compare. Default: never. */
  readonly isEnough?: ((found: Found) => boolean) | undefined;
};

/** The urgent targets and one of each group first, then the others, in the order of the seed. */
function arrange({ targets, urgent, groupOf, random }: FuzzOptions) {
  const groups = new Set<string>();
  const first: number[] = [];
  const others: number[] = [];
  for (const wire of random.shuffle(targets)) {
    const isFirst = urgent?.has(wire) === true || !groups.has(groupOf(wire));
    groups.add(groupOf(wire));
    (isFirst ? first : others).push(wire);
  }
  return { first, others };
}

export function fuzz(options: FuzzOptions): FuzzReport {
  const { recompute, groupOf, nameOf, isProtected, isOver } = options;
  const survivors = new Map<string, Survivor>();
  const breaches: string[] = [];
  const byAttack = new Map<string, number>();
  const counts = { attacked: 0, attempts: 0, rejected: 0, unchanged: 0 };

  /** Whether the attacks may end. */
  const record = (attack: Attack, changed: ReadonlyMap<number, bigint>): boolean => {
    const wires = [...attack.values.keys()];
    const names = wires.map(groupOf).sort();
    const group = (names.length > 2 ? [...new Set(names)] : names).join(' + ');
    const example = [...attack.values]
      .slice(0, 4)
      .map(([wire, value]) => `${nameOf(wire)} = ${value}`)
      .join(', ');
    const known = survivors.get(group);
    survivors.set(group, { count: (known?.count ?? 0) + 1, example: known?.example ?? example });
    const reached = [...changed.keys()].find(isProtected);
    if (reached !== undefined) {
      breaches.push(`${example} changes ${nameOf(reached)}`);
    }
    const isNew = known === undefined || reached !== undefined;
    return isNew && options.isEnough?.({ survivors, breaches }) === true;
  };
  /** Whether to go on. */
  const attackWire = (wire: number): boolean => {
    for (const attack of listAttacks(options, wire, options.attacksPerTarget)) {
      counts.attempts++;
      byAttack.set(attack.name, (byAttack.get(attack.name) ?? 0) + 1);
      const outcome = recompute(attack);
      if (outcome.kind === 'accepted') {
        if (record(attack, outcome.changed)) {
          return false;
        }
      } else {
        counts[outcome.kind]++;
      }
    }
    counts.attacked++;
    return true;
  };

  const { first, others } = arrange(options);
  for (const [index, wire] of [...first, ...others].entries()) {
    const isDone = index >= first.length + options.atLeast && isOver();
    if (isDone || !attackWire(wire)) {
      break;
    }
  }
  return { targets: options.targets.length, ...counts, byAttack, survivors, breaches };
}
