/**
 * Standard output with `--json`: envelopes only, one line each (README.md, "Output for programs"). Commands hand over their documents; the
 * text is written here and nowhere else.
 *
 * @module
 */

type Texts = { out(text: string): void; err(text: string): void };
type Outcomes = { out(outcome: string | object): void };

/**
 * Runs a command: a document becomes an envelope, and a text goes to standard error.
 *
 * @param goesOn - it prints a line for each event, so no line if there was none
 * @returns the exit code
 */
export async function runWithJson(
  streams: Texts,
  goesOn: boolean,
  work: (output: Outcomes) => Promise<number>,
): Promise<number> {
  const { formatData } = await import('@pool/core');
  let hasAnswered = false;
  const code = await work({
    ...streams,
    out(outcome: string | object) {
      if (typeof outcome === 'string') {
        streams.err(outcome);
      } else {
        hasAnswered = true;
        streams.out(formatData(outcome));
      }
    },
  });
  if (!hasAnswered && !goesOn) {
    streams.out(formatData(null));
  }
  return code;
}
