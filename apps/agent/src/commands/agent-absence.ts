/**
 * A dry run needs no agent, and the payment does: whether one runs is told beside the report.
 *
 * @module
 */
import type { Terminal } from '../terminal/progress-view.ts';

const timeoutMs = 1_000;

/** Says that no agent answers. Silent where one does. */
export async function noteAbsence(
  baseUrl: string,
  terminal: Terminal,
  send: typeof fetch = fetch,
): Promise<void> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await send(`${baseUrl}/api/livez`, { redirect: 'error', signal });
    await answer.body?.cancel();
  } catch {
    terminal.write(
      `note: no agent answers at ${baseUrl}: start it with "disburse-agent serve" before the payment\n`,
    );
  }
}
