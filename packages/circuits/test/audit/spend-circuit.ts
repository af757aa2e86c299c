/** What the audit must know about a spend circuit (protocol §6, §7). */
import { computeTag } from '../fund-batch.ts';
import { createSpend, maskingSigner, toSpendInput, withPaths, withWallet } from '../spend.ts';
import type { AuditedCircuit } from './circuits.ts';
import {
  createSignerLemmas,
  createSignerPrograms,
  listSignerNumbers,
  outputNames,
  type SignerNames,
  signerInverses,
} from './signer-circuit.ts';

/** A spend circuit and the honest spend of it that is attacked. Inputs without a depth, and outputs without a payee, are dummies. */
export type AuditedSpend = {
  readonly name: string;
  readonly inputs: number;
  readonly outputs: number;
  readonly levels: number;
  readonly windows: number;
  /** Depth of each note's path, one or two. */
  readonly depths: readonly number[];
  readonly payees: number;
};

export const spend2x4: AuditedSpend = {
  name: 'spend-2x4',
  inputs: 2,
  outputs: 4,
  levels: 32,
  windows: 31,
  depths: [5],
  payees: 2,
};
export const spend16x8: AuditedSpend = {
  ...spend2x4,
  name: 'spend-16x8',
  inputs: 16,
  outputs: 8,
  depths: [5, 9],
};

function nameSigner(windows: number): SignerNames {
  return {
    path: 'signer.',
    windows,
    wallet: ['wxLo', 'wxHi', 'wyLo', 'wyHi'],
    digest: ['message.out', 'signer.m'],
    scalar: ['rLo', 'rHi'],
    bit: (index) => `blindingBits[${index}]`,
    outputs: outputNames.map((name, index) => [`signer.${name}`, `digest.values[${index + 3}]`]),
  };
}

/** Arrays with an item for each input, and with an item for each output but the change. */
const inputArrays =
  /^(ranges|nullifiers|notes|paths|inputEnabled|inputAmounts|inputNonces|inputDepths|inputIndices|inputSiblings)\[(\d+)\]/;
const outputArrays = /^(outputs|amounts|walletIds|px|py|leafIndices|siblings)\[(\d+)\]/;

/** A signal's name without its numbers. Of a note's siblings, those below its root count, and those above it do not. */
function labelInput(depths: readonly number[], name: string): string {
  const [, array = '', index = '', level] = /^(\w+)\[(\d+)\](?:\[(\d+)\])?/.exec(name) ?? [];
  const depth = depths[Number(index)];
  const label = depth === undefined ? 'dummy' : 'note';
  if (array === 'inputSiblings' && depth !== undefined) {
    return `${array}[${label}][${Number(level) < depth ? 'below' : 'above'}]`;
  }
  return name.replace(/^\w+\[\d+\]/, `${array}[${label}]`);
}

export function describeSpend(audited: AuditedSpend): AuditedCircuit {
  const { name: circuit, depths, payees, levels, inputs, outputs } = audited;
  const names = nameSigner(audited.windows);
  return {
    name: circuit,
    template: 'Spend',
    createInput: () => {
      const spend = withWallet(createSpend(audited), 12_345n);
      const operationTag = computeTag(inputs === 16 ? 'OP_16x8' : 'OP_2x4');
      return toSpendInput(withPaths(spend, levels, depths), { operationTag }, maskingSigner);
    },
    derivedInputs: ['D', 'y'],
    vectorSize: 17 + inputs + outputs,
    vector: [
      /^(assetId|withdrawAmount|recipient|deadline|sealedLo|sealedHi|noteRoot|eligibilityRoot|rLo|rHi)$/,
      // outRoot, nf_1, cOut_1 ...; nf_0; cOut_0; W' and m'. The compiler keeps these names.
      /^horner\.x\[\d+\]$/,
      /^base\.inputs\[1\]$/,
      /^change\.out$/,
      /^digest\.values\[[3-8]\]$/,
    ],
    merged: {
      'MultiplyBasePoint.px': 'notes[0].inputs[4]',
      'MultiplyBasePoint.py': 'notes[0].inputs[5]',
      ...Object.fromEntries(
        outputNames.map((name, index) => [`HiddenSigner.${name}`, `digest.values[${index + 3}]`]),
      ),
    },
    quotients: [/^owner\.(slope\[\d+\]|ex|ey)$/, /^notes\[0\]\.inputs\[[45]\]$/],
    inverses: new RegExp(`${signerInverses.source}|^outputs\\[\\d+\\]\\.inverse$`),
    findConsequences: (symbols) => createSignerLemmas(symbols, names),
    findPrograms: (symbols) => createSignerPrograms(symbols, names),
    findNumbers: (symbols) => listSignerNumbers(symbols, names),
    groupOf: (signal) =>
      (inputArrays.test(signal) ? labelInput(depths, signal) : signal)
        .replace(
          outputArrays,
          (_, array: string, index: string) =>
            `${array}[${Number(index) < payees ? 'payee' : 'dummy'}]`,
        )
        .replace(/\[\d+\]/g, '[*]'),
  };
}
