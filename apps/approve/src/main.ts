#!/usr/bin/env node
/**
 * The binary `pool-approve`: the gate as a process of its own, beside the custody service.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { createProcessSource, runApproveCli } from '@pool/approve';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

process.exitCode = await runApproveCli(process.argv.slice(2), {
  name: 'pool-approve',
  version: manifest.version,
  source: createProcessSource(),
  nowMs: Date.now,
  streams: {
    out: (text) => process.stdout.write(`${text}\n`),
    err: (text) => process.stderr.write(`${text.trimEnd()}\n`),
  },
});
