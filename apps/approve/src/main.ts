#!/usr/bin/env node
/**
 * The binary `pool-approve`: the gate as a process of its own, beside the custody service.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

// The end of whoever reads the output, as in `pool-approve audit list | head`, ends neither the gate nor a command with a stack trace.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') {
      throw error;
    }
  });
}

// An older Node does not even load the gate: it has no node:sqlite, which the gate imports.
if (isBuiltin('node:sqlite')) {
  process.exitCode = await run();
} else {
  process.stderr.write(
    `pool-approve needs Node ${manifest.engines.node} with node:sqlite, and this is Node ${process.versions.node}; install a newer Node\n`,
  );
  process.exitCode = 1;
}

async function run(): Promise<number> {
  const { createProcessSource, runApproveCli } = await import('@pool/approve');
  return await runApproveCli(process.argv.slice(2), {
    name: 'pool-approve',
    version: manifest.version,
    source: createProcessSource(),
    nowMs: Date.now,
    streams: {
      out: (text) => process.stdout.write(`${text}\n`),
      err: (text) => process.stderr.write(`${text.trimEnd()}\n`),
    },
  });
}
