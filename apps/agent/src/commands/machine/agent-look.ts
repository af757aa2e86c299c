/**
 * What the running agent of this directory says about itself, for `status` and `doctor`. It is asked only after it proved its port.
 *
 * @module
 */
import { isPoolError, PoolError } from '@pool/core';
import { createProvenFetch, createUnreachable, urlOf } from '@pool/pay-run';
import * as v from 'valibot';
import type { AgentAddress } from '../../config/config.ts';
import { readLoopbackToken } from '../../state/agent-home.ts';

const livezSchema = v.object({ version: v.string(), uptimeSeconds: v.number() });
const checkSchema = v.object({
  ok: v.boolean(),
  detail: v.object({ kind: v.string(), message: v.string() }),
});
const readyzSchema = v.object({ ok: v.boolean(), checks: v.record(v.string(), checkSchema) });

export type RunningAgent = v.InferOutput<typeof livezSchema> & {
  readonly url: string;
  readonly readiness: v.InferOutput<typeof readyzSchema>;
};

const lookMs = 15_000;

/** @throws PoolError `agent_unreachable`, `agent_not_proven`, `agent_invalid_response`, `loopback_token_missing` */
export async function lookAtAgent(address: AgentAddress): Promise<RunningAgent> {
  const url = urlOf(address);
  const send = createProvenFetch(() => readLoopbackToken(address.home));
  const read = async (path: string): Promise<unknown> => {
    try {
      const answer = await send(`${url}${path}`, { signal: AbortSignal.timeout(lookMs) });
      return await answer.json();
    } catch (error) {
      throw isPoolError(error) ? error : createUnreachable(url, error);
    }
  };
  const [livez, readyz] = await Promise.all([read('/api/livez'), read('/api/readyz')]);
  const [life, readiness] = [v.safeParse(livezSchema, livez), v.safeParse(readyzSchema, readyz)];
  if (!life.success || !readiness.success) {
    throw new PoolError(
      'agent_invalid_response',
      `the agent at ${url} is of another version than this command; restart it`,
    );
  }
  return { url, ...life.output, readiness: readiness.output };
}
