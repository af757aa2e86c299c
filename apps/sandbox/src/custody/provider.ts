/**
 * Starts the simulator of a custodian as a process of its own.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startNodeProcess, waitUntilReady } from '@pool/testkit';
import type { CustodyPlace } from './custody-place.ts';

/** @returns its URL */
export async function startProvider(
  place: CustodyPlace,
  provider: { readonly name: string; readonly script: string; readonly config: unknown },
): Promise<string> {
  const { name, script, config } = provider;
  const folder = join(place.directory, 'custody');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  const process = place.track(
    startNodeProcess({ name, script, args: [path], logPath: join(place.logs, `${name}.log`) }),
  );
  return await waitUntilReady(process, async () => readUrl(process.output()));
}

/** The simulator prints one JSON line when it listens. */
function readUrl(output: string): string | undefined {
  return /"url":"(http:\/\/127\.0\.0\.1:[0-9]+)"/.exec(output)?.[1];
}
