/** Compiles a circuit for the audit, with its symbols, and computes the honest witness. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileCircuit } from '../../src/artifacts/compile.ts';
import { computeFileDigest } from '../../src/artifacts-manifest.ts';
import { sourceFolder } from '../../src/circuits.ts';
import { readR1cs } from '../../src/constraints/r1cs.ts';
import { computeWitness } from '../witness.ts';
import type { AuditSubject } from './audit.ts';
import type { AuditedCircuit } from './circuits.ts';
import { createHintFinder } from './hints.ts';
import { readSymbols } from './symbols.ts';

export type CompiledSubject = AuditSubject & {
  /** SHA-256 of the constraint file, to compare with the pinned one. */
  readonly constraintsDigest: string;
};

/**
 * @param text a main of its own, in circom; includes relative to circom/. Default: the deployed circuit of this name
 */
export async function compileSubject(
  circuit: AuditedCircuit,
  text?: string,
): Promise<CompiledSubject> {
  const folder = await mkdtemp(join(tmpdir(), 'pool-circuit-audit-'));
  try {
    let source = join(sourceFolder(), `${circuit.name}.circom`);
    if (text !== undefined) {
      await cp(sourceFolder(), join(folder, 'circom'), { recursive: true });
      source = join(folder, 'circom', 'audited-main.circom');
      await writeFile(source, `pragma circom 2.2.0;\n${text}\n`);
    }
    const { r1csPath, wasmPath } = await compileCircuit(source, folder, { symbols: true });
    const input = circuit.createInput();
    return {
      circuit,
      r1cs: readR1cs(r1csPath),
      symbols: readSymbols(r1csPath.replace(/\.r1cs$/, '.sym')),
      hints: createHintFinder(sourceFolder(), circuit.template),
      witness: await computeWitness(await readFile(wasmPath), input),
      input,
      constraintsDigest: await computeFileDigest(r1csPath),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
