#!/usr/bin/env node
/**
 * The binary `disburse-agent`.
 *
 * @module
 */
import { runCli } from './cli.ts';
import { createAsk } from './terminal/ask.ts';
import { interruptOnClosedOutput } from './terminal/closed-output.ts';

interruptOnClosedOutput({ output: process.stdout, error: process.stderr }, () =>
  process.kill(process.pid, 'SIGINT'),
);

process.exitCode = await runCli(process.argv.slice(2), {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text.trimEnd()}\n`),
  terminal: {
    isTty: process.stderr.isTTY === true,
    write: (text) => process.stderr.write(text),
  },
  ask: createAsk({ input: process.stdin, output: process.stdout, error: process.stderr }),
});
