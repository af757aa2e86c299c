/**
 * Serves custodian A over real HTTP on 127.0.0.1.
 *
 * @module
 */
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import type { CustodianAConfig } from './config.ts';
import type { CustodianAControl } from './control.ts';
import { createCustodianA } from './custodian.ts';

export type ServedCustodianA = {
  /** Without a slash at the end. */
  readonly url: string;
  readonly control: CustodianAControl;
  /** Closes every connection, also one that hangs. */
  close(): Promise<void>;
};

/** @throws Error when the configuration is wrong or the port is taken */
export async function serveCustodianA(config: CustodianAConfig): Promise<ServedCustodianA> {
  const custodian = createCustodianA(config);
  const server = await new Promise<ReturnType<typeof serve>>((resolve, reject) => {
    const starting = serve(
      { fetch: custodian.fetch, hostname: '127.0.0.1', port: config.port ?? 0 },
      () => {
        resolve(starting);
      },
    );
    starting.once('error', reject);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    control: custodian.control,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        if ('closeAllConnections' in server) {
          server.closeAllConnections();
        }
      }),
  };
}
