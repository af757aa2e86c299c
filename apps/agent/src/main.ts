#!/usr/bin/env node
/**
 * The binary `disburse-agent`.
 *
 * @module
 */
import { runCli } from './cli.ts';
import { createAsk } from './terminal/ask.ts';
import { interruptOnClosedOutput } from './terminal/closed-output.ts';
import { createPaint } from './terminal/paint.ts';

interruptOnClosedOutput({ output: process.stdout, error: process.stderr }, () =>
  process.kill(process.pid, 'SIGINT'),
);

process.on('uncaughtException', (error) => {
  void reportUnexpected(error).finally(() => process.exit(1));
});

const words = process.argv.slice(2);
const argv = words.filter((word) => word !== '--no-color');
process.exitCode = await runCli(argv, {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text.trimEnd()}\n`),
  terminal: {
    isTty: process.stderr.isTTY === true,
    write: (text) => process.stderr.write(text),
  },
  ...(argv.length < words.length ? {} : { paint: createPaint(process.stdout) }),
  ask: createAsk({ input: process.stdin, output: process.stdout, error: process.stderr }),
});

async function reportUnexpected(error: unknown): Promise<void> {
  const { createProcessSource } = await import('./config/config.ts');
  const { describeUnexpected } = await import('./terminal/unexpected.ts');
  process.stderr.write(`${describeUnexpected(error, createProcessSource().env)}\n`);
  const { asksForJson, formatFailure } = await import('@pool/core');
  if (asksForJson(words)) {
    process.stdout.write(`${formatFailure(error)}\n`);
  }
}
