#!/usr/bin/env node
/**
 * `pool-enclave`: makes and seals a signing key, and serves it on a socket.
 *
 * @module
 */
import { runEnclaveCommand } from './enclave/cli.ts';

// A message that cannot be written, as on a full disk, must not end the enclave.
process.stderr.on('error', () => undefined);

process.exitCode = await runEnclaveCommand(process.argv.slice(2), {
  write: (line) => process.stdout.write(`${line}\n`),
  writeError: (line) => process.stderr.write(`${line}\n`),
  nowMs: Date.now,
});
