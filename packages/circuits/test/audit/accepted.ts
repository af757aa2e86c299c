/** Compares what the tools found with the committed lists (accepted-*.json). Both directions: nothing new, nothing stale. */
import { readFileSync } from 'node:fs';
import type { AuditedPropagation } from './audit.ts';
import type { Found } from './fuzz.ts';

/** Names of alike wires, and why it does no harm that they are open. */
type Entry = {
  readonly wires: string;
  readonly argument: string;
  /** Only a few values are accepted, so an audit finds it only if it draws one of them. */
  readonly isRare: boolean;
};

export type AcceptedList = {
  /** Wires that the inputs do not determine. */
  readonly undetermined: readonly Entry[];
  /** Wires that no rule determines but an argument does. The rules go on from them. */
  readonly lemmas: readonly Entry[];
  /** Hints that can be changed alone, inputs unchanged. */
  readonly survivors: readonly Entry[];
  /** Inputs that a prover may change, because the changed witness proves another true statement. */
  readonly inputs: readonly Entry[];
};

function parseEntries(value: unknown): Entry[] {
  if (!Array.isArray(value)) {
    throw new TypeError('A list of accepted wires is missing.');
  }
  return value.map((item: unknown) => {
    if (typeof item !== 'object' || item === null || !('wires' in item) || !('argument' in item)) {
      throw new TypeError('An accepted entry needs wires and an argument.');
    }
    const { wires, argument } = item;
    if (typeof wires !== 'string' || typeof argument !== 'string' || argument.length < 20) {
      throw new TypeError('An accepted entry needs names and an argument of a sentence or more.');
    }
    return { wires, argument, isRare: 'rare' in item && item.rare === true };
  });
}

/** @param family the file is `accepted-<family>.json` */
export function readAcceptedList(family: string): AcceptedList {
  const path = new URL(`accepted-${family}.json`, import.meta.url);
  const lists: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const { undetermined, lemmas, survivors, inputs } = lists as Record<string, unknown>;
  return {
    undetermined: parseEntries(undetermined),
    lemmas: parseEntries(lemmas),
    survivors: parseEntries(survivors),
    inputs: parseEntries(inputs),
  };
}

function compare(what: string, found: Iterable<string>, accepted: readonly Entry[]): string[] {
  const names = new Set(found);
  const listed = new Set(accepted.map(({ wires }) => wires));
  // A pair is found only if it is drawn, like a rare value.
  const isSeldom = ({ wires, isRare }: Entry) => isRare || wires.includes(' + ');
  return [
    ...[...names].filter((name) => !listed.has(name)).map((name) => `${what}, new: ${name}`),
    ...accepted
      .filter((entry) => !names.has(entry.wires) && !isSeldom(entry))
      .map(({ wires }) => `${what}, stale: ${wires}`),
  ];
}

/** What differs from the committed list, and every way to a protected wire. Empty: all is as argued. */
export function findDifferences(
  accepted: AcceptedList,
  propagation: Pick<AuditedPropagation, 'exposed' | 'groups' | 'argued'>,
  fuzzed: { readonly hints: Found; readonly inputs: Found },
): string[] {
  const free = new Set(accepted.inputs.map(({ wires }) => wires));
  // Two inputs that are each free may also change together.
  const inputs = [...fuzzed.inputs.survivors.keys()].filter(
    (group) => free.has(group) || !group.split(' + ').every((name) => free.has(name)),
  );
  return [
    ...propagation.exposed.map((name) => `undetermined, public vector: ${name}`),
    ...fuzzed.hints.breaches.map((breach) => `survivor, public vector: ${breach}`),
    ...compare('undetermined', propagation.groups.keys(), accepted.undetermined),
    ...compare('lemma', propagation.argued.keys(), accepted.lemmas),
    ...compare('survivor', fuzzed.hints.survivors.keys(), accepted.survivors),
    ...compare('free input', inputs, accepted.inputs),
  ];
}
