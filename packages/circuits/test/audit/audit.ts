/** Both tools on one circuit: uniqueness propagation, then the witness fuzzer over the derivations that it found. */
import type { R1cs } from '../../src/r1cs.ts';
import type { AuditedCircuit } from './circuits.ts';
import { type FuzzReport, fuzz } from './fuzz.ts';
import type { HintFinder } from './hints.ts';
import { type Propagation, propagate } from './propagate.ts';
import { createRandom } from './random.ts';
import { createRecompute, type HintProgram } from './recompute.ts';
import type { Symbols } from './symbols.ts';
import { createSystem, listItems, type System } from './system.ts';

export type AuditSubject = {
  readonly circuit: AuditedCircuit;
  readonly r1cs: R1cs;
  readonly symbols: Symbols;
  readonly hints: HintFinder;
  /** An honest witness. */
  readonly witness: readonly bigint[];
  /** Number of inputs of the main component, public and private. Their wires come first. */
  readonly inputs: number;
};

/** An accepted change of an input recomputes most of the circuit, so only some attacks are tried on each. */
const inputAttacks = 12;

/** Wires by their role in the audit. */
function readRoles({ circuit, symbols, hints, inputs, r1cs }: AuditSubject) {
  const derived = new Set(circuit.derivedInputs.map((name) => symbols.wireOf(name)));
  const allInputs = Array.from({ length: inputs }, (_, index) => index + 1);
  const wires = Array.from({ length: r1cs.wires - 1 }, (_, index) => index + 1);
  const vector = wires.filter((wire) =>
    circuit.vector.some((expression) => expression.test(symbols.nameOf(wire))),
  );
  return {
    fixedInputs: new Set(allInputs.filter((wire) => !derived.has(wire))),
    hintWires: wires.filter(
      (wire) => wire > inputs && hints.declarationOf(symbols.nameOf(wire)) !== undefined,
    ),
    protectedWires: new Set([...vector, ...derived]),
    vector,
  };
}

export type AuditedPropagation = Propagation & {
  readonly system: System;
  /** Undetermined wires by group, with their number. */
  readonly groups: ReadonlyMap<string, number>;
  /** Names of protected wires (x and the derived inputs) that are undetermined. Must be empty. */
  readonly exposed: readonly string[];
};

/**
 * @param leftOut rows that are left out, for a mutant
 * @param moreHints wires that only a row left out computes: in the sources, the mutant would have `<--` in place of `<==`
 */
export function auditUniqueness(
  subject: AuditSubject,
  leftOut: ReadonlySet<number> = new Set(),
  moreHints: readonly number[] = [],
): AuditedPropagation {
  const { circuit, symbols, r1cs } = subject;
  const { fixedInputs, hintWires, protectedWires } = readRoles(subject);
  const system = createSystem(r1cs, leftOut);
  const propagation = propagate(system, fixedInputs, [...moreHints, ...hintWires]);
  const groups = new Map<string, number>();
  for (const wire of propagation.undetermined) {
    const group = circuit.groupOf(symbols.nameOf(wire));
    groups.set(group, (groups.get(group) ?? 0) + 1);
  }
  const exposed = propagation.undetermined
    .filter((wire) => protectedWires.has(wire))
    .map((wire) => symbols.nameOf(wire));
  return { ...propagation, system, groups, exposed };
}

function findPrograms({ circuit, symbols, r1cs }: AuditSubject): HintProgram[] {
  const programs: HintProgram[] = [];
  for (let wire = 1; wire < r1cs.wires; wire++) {
    for (const { hint, reads, compute } of circuit.programs) {
      const match = hint.exec(symbols.nameOf(wire));
      if (match !== null) {
        programs.push({ wire, reads: reads(match).map(symbols.wireOf), compute });
      }
    }
  }
  return programs;
}

export type FuzzLimits = {
  readonly seed: number;
  /** Half for the hints, half for the inputs. It counts once a wire of each group and `atLeast` others were attacked. */
  readonly seconds: number;
  readonly atLeast: { readonly hints: number; readonly inputs: number };
  /** For a mutant: only hints that share a row with these are attacked, and these in any case. Default: all. */
  readonly near?: readonly number[];
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
function findUncovered({ hints, symbols }: AuditSubject, hintWires: readonly number[]): string[] {
  const covered = new Set(hintWires.map((wire) => hints.declarationOf(symbols.nameOf(wire))));
  return hints.reachable(symbols.names).filter((declaration) => !covered.has(declaration));
}

function createTimer(seconds: number): () => boolean {
  const end = Date.now() + 1000 * seconds;
  return () => Date.now() > end;
}

/** Attacks everything that the prover chooses. */
export function auditWitness(
  subject: AuditSubject,
  { system, derivations, ranges }: AuditedPropagation,
  { seed, seconds, atLeast, near }: FuzzLimits,
): AuditedFuzz {
  const { circuit, symbols, witness } = subject;
  const { fixedInputs, hintWires, protectedWires } = readRoles(subject);
  const recompute = createRecompute(system, derivations, witness, findPrograms(subject));
  const chosen = derivations.filter(({ kind }) => kind !== 'solve').flatMap(({ wires }) => wires);
  const hintTargets = new Set([...hintWires, ...chosen]);
  const neighbours = near === undefined ? undefined : findNeighbours(system, near);
  const isNear = (wire: number) => neighbours?.has(wire) ?? true;
  const shared = {
    urgent: new Set(near),
    system,
    ranges,
    witness,
    recompute,
    nameOf: symbols.nameOf,
    groupOf: (wire: number) => circuit.groupOf(symbols.nameOf(wire)),
  };
  return {
    hints: fuzz({
      ...shared,
      isOver: createTimer(seconds / 2),
      atLeast: atLeast.hints,
      random: createRandom(seed),
      targets: [...hintTargets].filter(isNear),
      isTarget: (wire) => hintTargets.has(wire),
      isProtected: (wire) => protectedWires.has(wire),
    }),
    inputs: fuzz({
      ...shared,
      isOver: createTimer(seconds / 2),
      atLeast: atLeast.inputs,
      random: createRandom(seed + 1),
      targets: [...fixedInputs],
      isTarget: (wire) => fixedInputs.has(wire),
      isProtected: () => false,
      attacksPerTarget: inputAttacks,
    }),
    uncovered: findUncovered(subject, hintWires),
  };
}
