/**
 * `platform edge-token create|list|revoke` and `platform indexer resume`: through the running platform when there is one, otherwise on the
 * data directory itself.
 *
 * @module
 */

import { errorCodeOf, PoolError, Secret } from '@pool/core';
import type { DatabaseConfig, PlatformTables } from '@pool/database';
import { hasEmbeddedDatabase, openStore, platformMigrations } from '@pool/database';
import { createLog } from '@pool/http-server';
import { openCredentialMint } from '../credentials/credential.ts';
import { createControlApp } from './control.ts';
import {
  type ControlCall,
  callControl,
  connectControl,
  controlFileName,
} from './control-client.ts';

/** The settings with which the operator's commands find the platform and its data. */
export type OperatorConfig = { readonly dataDirectory: string; readonly database: DatabaseConfig };

/**
 * Runs `work` with a way to call the control routes.
 * @throws PoolError `control_file_stale`, `platform_not_running`, and as `openStore`
 */
export async function withControl<T>(
  { dataDirectory, database: config }: OperatorConfig,
  work: (call: ControlCall) => Promise<T>,
): Promise<T> {
  const running = await connectControl(dataDirectory);
  if (running.kind === 'running') {
    return await work(running.call);
  }
  // A replica that is down leaves no database there. An empty one would answer, and stop the replica's next start.
  if (config.kind === 'embedded' && !hasEmbeddedDatabase(dataDirectory)) {
    if (running.kind === 'stranger') {
      throw createStale();
    }
    throw new PoolError(
      'platform_not_running',
      `no platform answers in PLATFORM_DATA_DIR (${dataDirectory}), and it has no database: name the directory of a running platform, or set DATABASE_URL as for serve`,
    );
  }
  const log = createLog('silent', 'platform');
  const database = await openStore<PlatformTables>(
    config,
    'platform',
    platformMigrations,
    log,
  ).catch((error: unknown) => {
    if (running.kind === 'stranger' && errorCodeOf(error) === 'data_directory_locked') {
      throw createStale(error);
    }
    throw error;
  });
  try {
    const token = new Secret('local');
    const credentials = await openCredentialMint(database.db);
    const deps = {
      db: database.db,
      credentials,
      log: createLog('silent', 'platform'),
      nowMs: Date.now,
    };
    const app = createControlApp(deps, token);
    const local = { url: 'http://127.0.0.1', token: token.reveal() };
    return await work((...call) =>
      callControl(local, call, async (url, init) => await app.request(url, init)),
    );
  } finally {
    await database.close();
  }
}

function createStale(cause?: unknown): PoolError {
  return new PoolError(
    'control_file_stale',
    `${controlFileName} in this data directory leads to a process that is not the platform using it; nothing was sent there. ` +
      'If the platform is starting, try again; otherwise restart the platform, which writes the file again',
    { cause },
  );
}
