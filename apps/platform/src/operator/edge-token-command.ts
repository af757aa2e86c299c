/**
 * `platform edge-token create|list|revoke` and `platform indexer resume`: through the running platform when there is one, else on the
 * data directory itself.
 *
 * @module
 */
import { Secret } from '@pool/core';
import { openCredentialMint } from '../accounts/credential-key.ts';
import { openDatabase } from '../database/open-database.ts';
import { type PlatformTables, platformMigrations } from '../database/platform-tables.ts';
import { createLog } from '../log.ts';
import {
  type ControlCall,
  connectControl,
  createControlApp,
  readControlAnswer,
} from './control.ts';

/** Runs `work` with a way to call the control routes. @throws PoolError `data_directory_locked` */
export async function withControl<T>(
  directory: string,
  work: (call: ControlCall) => Promise<T>,
): Promise<T> {
  const running = await connectControl(directory);
  if (running !== undefined) {
    return await work(running);
  }
  const database = await openDatabase<PlatformTables>(directory, platformMigrations);
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
    return await work(async (method, path, body) => {
      const response = await app.request(`http://127.0.0.1${path}`, {
        method,
        headers: { authorization: `Bearer ${token.reveal()}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return await readControlAnswer(response);
    });
  } finally {
    await database.close();
  }
}
