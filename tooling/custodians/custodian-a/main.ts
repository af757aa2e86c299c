/**
 * The simulator as a process: `node --conditions=@pool/source tooling/custodians/custodian-a/main.ts config.json`.
 * The configuration is the file named by the argument or by CUSTODIAN_A_CONFIG; CUSTODIAN_A_PORT outranks its port.
 * It prints one JSON line with its URL when it listens, and ends with status 0 on SIGTERM and SIGINT.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import type { CustodianAConfig } from './config.ts';
import { serveCustodianA } from './serve.ts';

async function main(): Promise<void> {
  const path = process.argv[2] ?? process.env['CUSTODIAN_A_CONFIG'];
  if (path === undefined) {
    throw new Error(
      'name the configuration: main.ts config.json, or CUSTODIAN_A_CONFIG=config.json',
    );
  }
  const config = JSON.parse(readFileSync(path, 'utf8')) as CustodianAConfig;
  const port = process.env['CUSTODIAN_A_PORT'];
  const served = await serveCustodianA(
    port === undefined ? config : { ...config, port: Number(port) },
  );
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      void served.close().then(() => process.exit(0));
    });
  }
  process.stdout.write(`${JSON.stringify({ url: served.url })}\n`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : 'failed'}\n`);
  process.exitCode = 1;
}
