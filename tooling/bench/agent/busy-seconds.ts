import type { Stack } from '../../../apps/sandbox/src/stack/stack.ts';

/** How long the agent of a deployment has been proving. */
export async function fetchBusySeconds({ agent }: Pick<Stack, 'agent'>): Promise<number> {
  const response = await fetch(`${agent.url}/metrics`, {
    headers: { authorization: `Bearer ${agent.loopbackToken}` },
  });
  const text = await response.text();
  return Number(
    /^\w*prover_busy_seconds_total(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1] ?? Number.NaN,
  );
}
