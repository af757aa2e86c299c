// Files of the agent: modes, the loopback token, evidence that survives a restart.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeHolder } from '@pool/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureAgentHome, ensureLoopbackToken, readLoopbackToken } from './agent-home.ts';
import { openEvidencePins } from './evidence-pins.ts';

let home: string;
beforeEach(() => {
  home = join(mkdtempSync(join(tmpdir(), 'agent-')), 'home');
});
afterEach(() => {
  rmSync(join(home, '..'), { recursive: true });
});

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('the loopback token', () => {
  it('is made once, for its owner alone', () => {
    ensureAgentHome(home);
    const token = ensureLoopbackToken(home).reveal();
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(ensureLoopbackToken(home).reveal()).toBe(token);
    expect(modeOf(home)).toBe(0o700);
    expect(modeOf(join(home, 'loopback.token'))).toBe(0o600);
  });

  it('says what to do when it is missing or damaged', () => {
    ensureAgentHome(home);
    expect(() => readLoopbackToken(home)).toThrow('disburse-agent serve');
    writeFileSync(join(home, 'loopback.token'), 'short');
    expect(() => readLoopbackToken(home)).toThrow('damaged');
  });
});

describe('evidence pins', () => {
  it('remember the newest across a restart, in a file of mode 0600', async () => {
    ensureAgentHome(home);
    const path = join(home, 'pins.sqlite');
    const { walletPub, encryptionPublicKey: old } = createFakeHolder(1);
    const { encryptionPublicKey: rotated } = createFakeHolder(2);
    const first = openEvidencePins(path);
    expect(await first.pin({ walletPub, encryptionPublicKey: old, issuedAtMs: 1 })).toBe(true);
    expect(await first.pin({ walletPub, encryptionPublicKey: rotated, issuedAtMs: 2 })).toBe(true);
    first.close();
    const again = openEvidencePins(path);
    expect(await again.pin({ walletPub, encryptionPublicKey: old, issuedAtMs: 1 })).toBe(false);
    expect(await again.pin({ walletPub, encryptionPublicKey: old, issuedAtMs: 2 })).toBe(false);
    expect(await again.pin({ walletPub, encryptionPublicKey: rotated, issuedAtMs: 1 })).toBe(true);
    again.close();
    expect(modeOf(path)).toBe(0o600);
  });
});
