/**
 * The thread that encrypts and opens the file with a password: seconds of work, whose code would divide that of the wallet's worker.
 *
 * @module
 */
import { Secret } from '@pool/core';
import { type MessagePlace, serveCalls } from '../calls/call-protocol.ts';
import type { BackupCalls } from './backup-calls.ts';
import { createBackupFile, openBackupFile } from './backup-file.ts';

// The types of the window are in force here.
serveCalls<BackupCalls>(self as unknown as MessagePlace, {
  async create({ seed, ...options }) {
    try {
      return await createBackupFile({ ...options, seed: new Secret(seed), nowMs: Date.now() });
    } finally {
      seed.fill(0);
    }
  },
  async open({ backup, password, domain }) {
    return (await openBackupFile(backup, password, domain)).reveal();
  },
});
