/**
 * The simulator of custodian B as a process. The configuration is a JSON file: the first argument, or CUSTODIAN_B_CONFIG.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import type { CustodianBConfig } from './config.ts';
import { createCustodianB } from './custodian-b.ts';

const path = process.argv[2] ?? process.env['CUSTODIAN_B_CONFIG'];
if (path === undefined) {
  process.stderr.write('custodian B: give the path of the configuration, or CUSTODIAN_B_CONFIG\n');
  process.exit(2);
}
// createCustodianB checks every field.
const config = JSON.parse(readFileSync(path, 'utf8')) as CustodianBConfig;
const custodian = createCustodianB(config, {
  onError: (error) => {
    process.stderr.write(`custodian B: ${error instanceof Error ? error.stack : 'error'}\n`);
  },
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    void custodian.close().then(() => process.exit(0));
  });
}
const url = await custodian.listen();
process.stdout.write(`${JSON.stringify({ url })}\n`);
