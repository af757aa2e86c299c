/** The counts of an audit, in lines that a person reads. */
import type { AuditedFuzz, AuditedPropagation } from './audit.ts';
import type { FuzzReport } from './fuzz.ts';
import type { CompiledSubject } from './subject.ts';

function formatFuzz(what: string, report: FuzzReport): string {
  const kinds = [...report.byAttack].map(([kind, count]) => `${count} ${kind}`).join(', ');
  const accepted = [...report.survivors.values()].reduce((sum, { count }) => sum + count, 0);
  return (
    `  ${what}: ${report.attacked} of ${report.targets} wires attacked, ${report.attempts} attempts (${kinds}), ` +
    `${report.rejected} rejected, ${report.unchanged} without effect, ${accepted} accepted in ` +
    `${report.survivors.size} groups, ${report.breaches.length} with another public vector`
  );
}

export function formatReport(
  { circuit, r1cs, witness }: CompiledSubject,
  { derivations, undetermined, groups, exposed }: AuditedPropagation,
  fuzzed: AuditedFuzz,
): string {
  const kinds = new Map<string, number>();
  for (const { kind, wires } of derivations) {
    kinds.set(kind, (kinds.get(kind) ?? 0) + wires.length);
  }
  const determined = [...kinds].map(([kind, count]) => `${count} by ${kind}`).join(', ');
  return [
    `${circuit.name}: ${r1cs.constraints} rows, ${witness.length} wires`,
    `  uniqueness: ${determined}; ${undetermined.length} undetermined in ${groups.size} groups, ` +
      `${exposed.length} of them in the public vector`,
    formatFuzz('hints', fuzzed.hints),
    formatFuzz('inputs', fuzzed.inputs),
  ].join('\n');
}
