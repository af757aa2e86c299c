// The files of the agent: modes, and the loopback token.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureAgentHome, ensureLoopbackToken, readLoopbackToken } from './agent-home.ts';

let home: string;
beforeEach(() => {
  home = join(mkdtempSync(join(tmpdir(), 'agent-')), 'home');
});
afterEach(() => {
  rmSync(join(home, '..'), { recursive: true });
});

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

describe('the loopback token', () => {
  it('is created once, readable by its owner only [auth.api-key-or-loopback]', () => {
    ensureAgentHome(home);
    const token = ensureLoopbackToken(home).reveal();
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(ensureLoopbackToken(home).reveal()).toBe(token);
    expect(modeOf(home)).toBe(0o700);
    expect(modeOf(join(home, 'loopback.token'))).toBe(0o600);
  });

  it('gives advice when it is missing or damaged', () => {
    ensureAgentHome(home);
    expect(() => readLoopbackToken(home)).toThrow('disburse-agent serve');
    writeFileSync(join(home, 'loopback.token'), 'short');
    expect(() => readLoopbackToken(home)).toThrow('damaged');
  });
});
