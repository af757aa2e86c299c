// The start of an agent whose custodian and gate are real HTTP servers, and its platform away.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShellLog } from '@pool/http-server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startAgent } from './agent.ts';
import { parseConfig } from './config/config.ts';
import { createConfigSource, goodEnvironment } from './fixtures/config-world.ts';
import { type CustodyWorld, openCustodyWorld } from './fixtures/custody-world.ts';
import { writeAgentFiles } from './fixtures/stub-platform.ts';

type Line = { readonly level: string; readonly variable?: unknown; readonly message: string };

let home: string;
let world: CustodyWorld;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'start-'));
  world = await openCustodyWorld();
});
afterEach(async () => {
  await world.close();
  rmSync(home, { recursive: true });
});

function createRecordedLog(lines: Line[]): ShellLog {
  const keep =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push({ ...fields, level, message });
  const log: ShellLog = {
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
    child: () => log,
  };
  return log;
}

async function withAgent(
  changes: Readonly<Record<string, string>>,
  work: (agent: Awaited<ReturnType<typeof startAgent>>, lines: readonly Line[]) => Promise<void>,
): Promise<void> {
  writeAgentFiles(home, 'http://127.0.0.1:9');
  const env = {
    ...goodEnvironment,
    DISBURSE_PLATFORM_URL: 'http://127.0.0.1:9/agent-edge',
    DISBURSE_HOME: home,
    DISBURSE_PROVER: 'mock',
    DISBURSE_JOB_STORE: 'memory:',
    ...world.variables,
    ...changes,
  };
  const lines: Line[] = [];
  const config = parseConfig(createConfigSource(env), { values: {} });
  const agent = await startAgent(config, createRecordedLog(lines));
  try {
    await work(agent, lines);
  } finally {
    await agent.close();
  }
}

async function readSigner({ app }: Awaited<ReturnType<typeof startAgent>>) {
  const answer = await app.request('http://127.0.0.1/api/readyz');
  return ((await answer.json()) as { readonly checks: { readonly signer: unknown } }).checks.signer;
}

describe('the start of an agent with a custodian', () => {
  it('logs an error for a token that the gate refuses, and the agent serves', async () => {
    const wrong = { DISBURSE_APPROVE_TOKEN: 'another-token-canary-of-a-gate' };
    await withAgent(wrong, async (agent, lines) => {
      await expect
        .poll(() => lines)
        .toContainEqual(
          expect.objectContaining({ level: 'error', variable: 'DISBURSE_APPROVE_TOKEN' }),
        );
      expect(await readSigner(agent)).toMatchObject({ ok: false, detail: { kind: 'refused' } });
      expect(JSON.stringify(lines)).not.toContain('canary-of-a-gate');
    });
  });

  it('warns of a gate that is away, and the agent serves', async () => {
    await world.gate.stop();
    await withAgent({}, async (agent, lines) => {
      await expect
        .poll(() => lines)
        .toContainEqual(
          expect.objectContaining({ level: 'warn', variable: 'DISBURSE_APPROVE_URL' }),
        );
      expect(await readSigner(agent)).toMatchObject({
        ok: false,
        detail: { kind: 'unreachable', message: expect.stringContaining('the approve process') },
      });
      expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
    });
  });

  it('asks everybody again for readiness after ten seconds, however often it is read', async () => {
    const startMs = Math.floor(performance.now());
    const now = vi.spyOn(performance, 'now').mockImplementation(() => startMs);
    try {
      await withAgent({}, async (agent) => {
        expect(await readSigner(agent)).toMatchObject({ ok: true });
        await world.gate.stop();
        now.mockImplementation(() => startMs + 9_999);
        expect(await readSigner(agent)).toMatchObject({ ok: true });
        now.mockImplementation(() => startMs + 10_000);
        expect(await readSigner(agent)).toMatchObject({ ok: false });
      });
    } finally {
      now.mockRestore();
    }
  });
});
