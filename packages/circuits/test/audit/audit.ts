/** Both tools on one circuit: uniqueness propagation, then the witness fuzzer over the derivations that it found. */
import type { R1cs } from '../../src/constraints/r1cs.ts';
import type { AuditedCircuit } from './circuits.ts';
import { extendWithDigitForms } from './digit-forms.ts';
import { type Found, type FuzzReport, fuzz } from './fuzz.ts';
import type { HintFinder } from './hints.ts';
import { type Propagation, propagate } from './propagate.ts';
import { createRandom } from './random.ts';
import { createRecompute, type HintProgram } from './recompute.ts';
import { createRowSums } from './row-sums.ts';
import type { Symbols } from './symbols.ts';
import { createSystem, divide, evaluateForm, listItems, readRow, type System } from './system.ts';

export type AuditSubject = {
  readonly circuit: AuditedCircuit;
  readonly r1cs: R1cs;
  readonly symbols: Symbols;
  readonly hints: HintFinder;
  /** An honest witness. */
  readonly witness: readonly bigint[];
  /** The input of the honest witness, by signal. */
  readonly input: Readonly<Record<string, unknown>>;
};

/** An accepted change of an input recomputes most of the circuit, so only some attacks are tried on each. */
const inputAttacks = 12;

/** Wires by their role in the audit. */
function readRoles({ circuit, symbols, hints, input, r1cs }: AuditSubject) {
  const derived = new Set(circuit.derivedInputs.map((name) => symbols.wireOf(name)));
  const wires = Array.from({ length: r1cs.wires - 1 }, (_, index) => index + 1);
  const find = (test: (name: string) => boolean) =>
    wires.filter((wire) => test(symbols.nameOf(wire)));
  const inputs = find((name) => !name.includes('.') && (name.split('[')[0] ?? '') in input);
  const vector = find((name) => circuit.vector.some((expression) => expression.test(name)));
  if (vector.length !== circuit.vectorSize) {
    throw new Error(`The public vector has ${vector.length} wires by name. Complete its names.`);
  }
  return {
    fixedInputs: new Set(inputs.filter((wire) => !derived.has(wire))),
    hintWires: find((name) => hints.declarationOf(name) !== undefined),
    quotients: find((name) => circuit.quotients.some((expression) => expression.test(name))),
    protectedWires: new Set([...vector, ...derived]),
  };
}

export type AuditedPropagation = Propagation & {
  readonly system: System;
  /** The honest witness with the wires that the audit adds. */
  readonly witness: readonly bigint[];
  /** Undetermined wires by group, with their number. */
  readonly groups: ReadonlyMap<string, number>;
  /** Wires that a lemma determines, by group, with their number. */
  readonly argued: ReadonlyMap<string, number>;
  /** Names of protected wires (x and the derived inputs) that are undetermined. Must be empty. */
  readonly exposed: readonly string[];
};

/**
 * @param leftOut rows that are left out, for a mutant
 * @param first wires that a row left out computes: in the sources, the mutant would have `<--` in place of `<==`
 */
export function auditUniqueness(
  subject: AuditSubject,
  leftOut: ReadonlySet<number> = new Set(),
  first: readonly number[] = [],
): AuditedPropagation {
  const { circuit, symbols, r1cs } = subject;
  const { fixedInputs, hintWires, quotients, protectedWires } = readRoles(subject);
  const extended = extendWithDigitForms(r1cs);
  const added = [...extended.originOf].filter(([, origin]) => leftOut.has(origin));
  const system = createSystem(extended.r1cs, new Set([...leftOut, ...added.map(([row]) => row)]));
  const lemmas = {
    quotients: new Set(quotients),
    consequences: circuit.findConsequences(symbols),
  };
  const propagation = propagate(system, fixedInputs, hintWires, lemmas, first);
  const isOurs = (wire: number) => wire < r1cs.wires;
  const nameOf = (wire: number) => symbols.nameOf(wire);
  const undetermined = propagation.undetermined.filter(isOurs);
  const beforeRelease = propagation.derivations.slice(0, propagation.released);
  const argued = beforeRelease.flatMap(({ kind, wires }) => (kind === 'argued' ? wires : []));
  const countGroups = (wires: readonly number[]): ReadonlyMap<string, number> => {
    const groups = new Map<string, number>();
    for (const group of wires.map((wire) => circuit.groupOf(nameOf(wire)))) {
      groups.set(group, (groups.get(group) ?? 0) + 1);
    }
    return groups;
  };
  return {
    ...propagation,
    undetermined,
    system,
    witness: extended.extend(subject.witness),
    groups: countGroups(undetermined),
    argued: countGroups(argued),
    exposed: undetermined.filter((wire) => protectedWires.has(wire)).map(nameOf),
  };
}

export type FuzzLimits = {
  readonly seed: number;
  /** Half for the hints, half for the inputs. It counts once a wire of each group and `atLeast` others were attacked. 0: these only. */
  readonly seconds: number;
  readonly atLeast: { readonly hints: number; readonly inputs: number };
  /** For a mutant: only hints that share a row with these are attacked, and these in any case. Default: all. */
  readonly near?: readonly number[];
  /** For a mutant: the attacks end when this holds. Default: never. */
  readonly isEnough?: (hints: Found, inputs: Found) => boolean;
};

/** The wires that share a row with one of `near`. */
function findNeighbours(system: System, near: readonly number[]): ReadonlySet<number> {
  const rows = near.flatMap((wire) => [...listItems(system.rowsOfWire, wire)]);
  return new Set([...near, ...rows.flatMap((row) => [...listItems(system.wiresOfRow, row)])]);
}

export type AuditedFuzz = {
  /** Attacks on hints: inputs are fixed, and no protected wire may change. */
  readonly hints: FuzzReport;
  /** Attacks on the private inputs, whose consequences follow as far as D and y. */
  readonly inputs: FuzzReport;
  /** Hints of the sources (`Template.signal`) of which no wire was attacked. Must be empty. */
  readonly uncovered: readonly string[];
};

/** One wire of each group is always attacked, so a hint is covered if it has a wire that is a target. */
function findUncovered(
  { circuit, hints, symbols }: AuditSubject,
  targets: ReadonlySet<number>,
): string[] {
  const own = [...targets].map((wire) => hints.declarationOf(symbols.nameOf(wire)));
  const merged = Object.entries(circuit.merged)
    .filter(([, name]) => targets.has(symbols.wireOf(name)))
    .map(([declaration]) => declaration);
  const covered = new Set([...own, ...merged]);
  return hints.reachable(symbols.names).filter((declaration) => !covered.has(declaration));
}

/** Programs of hints that are inverses: of the form that multiplies the hint in a row. */
function findInversePrograms({ circuit, symbols, r1cs }: AuditSubject, system: System) {
  const programs: HintProgram[] = [];
  for (let wire = 1; wire < r1cs.wires; wire++) {
    if (!circuit.inverses.test(symbols.nameOf(wire))) {
      continue;
    }
    for (const row of listItems(system.rowsOfWire, wire)) {
      const { a, b, c } = readRow(system, row);
      const [own, factor] = a.terms.has(wire) ? [a, b] : [b, a];
      if (!own.terms.has(wire) || factor.terms.size === 0 || factor.terms.has(wire)) {
        continue;
      }
      // The result of the product shall be 1.
      const [unit = c.constant] = c.terms.values();
      const scale = divide(unit, own.terms.get(wire) ?? 1n);
      const reads = [...factor.terms.keys()];
      const compute = (values: readonly bigint[]): bigint => {
        const value = evaluateForm(factor, (one) => values[reads.indexOf(one)] ?? 0n);
        return value === 0n ? 0n : divide(scale, value);
      };
      programs.push({ wire, reads, compute });
      break;
    }
  }
  return programs;
}

function createTimer(seconds: number): () => boolean {
  const end = Date.now() + 1000 * seconds;
  return () => Date.now() > end;
}

const nothing: Found = { survivors: new Map(), breaches: [] };

/** Attacks everything that the prover chooses. */
export function auditWitness(
  subject: AuditSubject,
  { system, derivations, ranges, witness, undetermined }: AuditedPropagation,
  { seed, seconds, atLeast, near, isEnough }: FuzzLimits,
): AuditedFuzz {
  const { circuit, symbols } = subject;
  const { fixedInputs, hintWires, protectedWires } = readRoles(subject);
  const recompute = createRecompute(system, derivations, createRowSums(system.r1cs, witness), [
    ...circuit.findPrograms(symbols),
    ...findInversePrograms(subject, system),
  ]);
  const chosen = derivations.filter(({ kind }) => kind !== 'solve').flatMap(({ wires }) => wires);
  const hintTargets = new Set([...hintWires, ...chosen]);
  const neighbours = near === undefined ? undefined : findNeighbours(system, near);
  const numbers = circuit.findNumbers(symbols);
  const anchors = numbers.flatMap(({ wires: [first] }) => first ?? []);
  const urgent = new Set([...anchors, ...(near ?? undetermined)]);
  const isNear = (wire: number) => urgent.has(wire) || (neighbours?.has(wire) ?? true);
  const shared = {
    numbers,
    urgent,
    system,
    ranges,
    witness,
    recompute,
    nameOf: symbols.nameOf,
    groupOf: (wire: number) => circuit.groupOf(symbols.nameOf(wire)),
  };
  const hints = fuzz({
    ...shared,
    isOver: createTimer(seconds / 2),
    atLeast: atLeast.hints,
    random: createRandom(seed),
    targets: [...hintTargets].filter(isNear),
    isTarget: (wire) => hintTargets.has(wire),
    isProtected: (wire) => protectedWires.has(wire),
    isEnough: (found) => isEnough?.(found, nothing) === true,
  });
  return {
    hints,
    inputs: fuzz({
      ...shared,
      isOver: createTimer(seconds / 2),
      atLeast: atLeast.inputs,
      random: createRandom(seed + 1),
      targets: isEnough?.(hints, nothing) === true ? [] : [...fixedInputs],
      isTarget: (wire) => fixedInputs.has(wire),
      isProtected: () => false,
      attacksPerTarget: inputAttacks,
      isEnough: (found) => isEnough?.(hints, found) === true,
    }),
    uncovered: findUncovered(subject, hintTargets),
  };
}
