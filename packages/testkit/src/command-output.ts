/**
 * What the commands of `disburse-agent` print with `--json`.
 *
 * @module
 */

/** @param stdout - exactly one envelope. @returns its document. Throws if the command failed */
export function readData(stdout: string): unknown {
  const envelope = JSON.parse(stdout) as { readonly ok?: unknown; readonly data?: unknown };
  if (envelope.ok !== true || !('data' in envelope)) {
    throw new Error(`the command failed: ${stdout}`);
  }
  return envelope.data;
}

/** What a command that is called as a function hands to its output: text as it is, a document as JSON. */
export function textOf(outcome: string | object): string {
  return typeof outcome === 'string' ? outcome : JSON.stringify(outcome);
}
