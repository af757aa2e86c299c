/**
 * The label of a pay run inside a job key. The agent's command writes `<label>-<32 hex digits>`, or
 * `<label>-<part>of<count>-<32 hex digits>` for a part of a roster.
 *
 * @module
 */

/** @returns undefined for a key that the command did not write: a caller of the HTTP API chooses keys freely */
export function parsePayRunLabel(jobKey: string): string | undefined {
  const label = /^(.+)-[0-9a-f]{32}$/s.exec(jobKey)?.[1];
  return label?.replace(/-[0-9]+of[0-9]+$/, '');
}
