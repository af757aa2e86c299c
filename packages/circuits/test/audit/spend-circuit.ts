/** What the audit must know about a spend circuit (protocol §6, §7). */
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

const shape = { inputs: 2, outputs: 4, levels: 32, windows: 28 };
/** One note at this depth; the second input is a dummy. Two payees; the third output is a dummy. */
const depths = [5];
const payees = 2;

const names: SignerNames = {
  path: 'signer.',
  windows: shape.windows,
  wallet: ['wxLo', 'wxHi', 'wyLo', 'wyHi'],
  digest: ['message.out', 'signer.m'],
  scalar: ['rLo', 'rHi'],
  bit: (index) => `blindingBits[${index}]`,
  outputs: outputNames.map((name, index) => [`signer.${name}`, `digest.values[${index + 3}]`]),
};

/** Arrays with an item for each input, and with an item for each output but the change. */
const inputArrays =
  /^(ranges|nullifiers|notes|paths|inputEnabled|inputAmounts|inputNonces|inputDepths|inputIndices|inputSiblings)\[(\d+)\]/;
const outputArrays = /^(outputs|amounts|walletIds|px|py|leafIndices|siblings)\[(\d+)\]/;

/** Levels below the note's root, or above it, where nothing counts. */
function labelLevel(signal: string): string {
  return signal.replace(
    /^(inputSiblings\[note\])\[(\d+)\]/,
    (_, start: string, level: string) =>
      `${start}[${Number(level) < (depths[0] ?? 0) ? 'below' : 'above'}]`,
  );
}

export function describeSpend(): AuditedCircuit {
  return {
    name: 'spend-2x4',
    template: 'Spend',
    createInput: () => {
      const spend = withWallet(createSpend({ ...shape, depths, payees }), 12_345n);
      return toSpendInput(withPaths(spend, shape.levels, depths), {}, maskingSigner);
    },
    derivedInputs: ['D', 'y'],
    vectorSize: 17 + shape.inputs + shape.outputs,
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
      labelLevel(
        signal
          .replace(
            inputArrays,
            (_, array: string, index: string) =>
              `${array}[${Number(index) < depths.length ? 'note' : 'dummy'}]`,
          )
          .replace(
            outputArrays,
            (_, array: string, index: string) =>
              `${array}[${Number(index) < payees ? 'payee' : 'dummy'}]`,
          ),
      ).replace(/\[\d+\]/g, '[*]'),
  };
}
