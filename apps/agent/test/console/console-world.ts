/**
 * The console over the agent's own routes with a fake worker, as a browser of this machine sends its requests. Tests only.
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConsoleDeps, createConsole } from '@pool/console';
import type { PoolError } from '@pool/core';
import type { OwnersPlace } from '@pool/operations';
import { openPayRunLedger, payRunLedgerPath } from '@pool/pay-run';
import { onTestFinished } from 'vitest';
import { createTestPayRun } from '../pay-run/test-pay-run.ts';

export const origin = 'http://127.0.0.1:8787';
const here = { remoteAddress: '127.0.0.1' };

/** @param options.pollMs - pause between two readings of a job */
export function openTestConsole({
  pollMs = 1,
  chains = {},
  releases,
  owners,
  openDisclosures,
  holder,
  jobs = { url: 'memory:' },
  nowMs,
  ...options
}: Parameters<typeof createTestPayRun>[0] &
  Partial<Pick<ConsoleDeps, 'pollMs' | 'releases' | 'openDisclosures' | 'holder' | 'nowMs'>> & {
    readonly chains?: object;
    readonly jobs?: ConsoleDeps['payer']['ledger']['jobs'];
    readonly owners?: OwnersPlace;
  } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'pool-console-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const world = createTestPayRun(options, openPayRunLedger(payRunLedgerPath(home)));
  const clock = { monotonicMs: 0 };
  /** Why the agent does not answer. */
  const outage = { reason: undefined as PoolError | undefined };
  const tokens = { USDC: { address: '0x', decimals: 6 } };
  const payer: ConsoleDeps['payer'] = {
    ledger: { home, jobs },
    chain: 'anvil',
    readChains: () => ({ anvil: { tokens }, ...chains }) as never,
    openAgent: () => {
      if (outage.reason !== undefined) {
        throw outage.reason;
      }
      return world.client;
    },
    withChecks: (work) =>
      work({
        validate: (request) => world.client.validate(request) as never,
        readCeiling: () => world.state.ceiling,
        findForeignUse: async () => undefined,
        inspect: () => Promise.reject(new Error('the console does not ask')),
      }),
    invitations: { find: () => [] },
    openRecords: () => ({
      fetchTransactionLeaves: async () => [],
      fetchBlockTime: async () => 0,
      close: () => undefined,
    }),
  };
  const pages = createConsole({
    ...{ payer, releases, openDisclosures, holder, pollMs },
    ...(nowMs === undefined ? {} : { nowMs }),
    owners: owners && { ...owners, store: world.store },
    monotonicMs: () => clock.monotonicMs,
  });
  onTestFinished(() => pages.close());
  world.app.route('/console', pages.app as never);
  const send = async (path: string, init: RequestInit = {}, from = here): Promise<Response> =>
    world.app.request(`${origin}${path}`, init, from);
  const post = (path: string, fields: Record<string, string>, headers: object = {}) =>
    send(path, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { origin, 'sec-fetch-site': 'same-origin', ...headers },
    });
  return {
    world,
    clock,
    outage,
    payer,
    pages,
    send,
    post,
    /** A browser with a session. */
    async login() {
      const path = pages.issueLogin();
      const token = path.split('/').at(-1) ?? '';
      const opened = await post('/console/login', { token });
      const place = opened.headers.get('location') ?? '';
      const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      const get = (at: string, headers: object = {}) =>
        send(`${place}${at}`, { headers: { cookie, ...headers } });
      const read = async (at: string): Promise<string> => (await get(at)).text();
      return {
        opened,
        place,
        cookie,
        get,
        read,
        submit: async (at: string, fields: Record<string, string> = {}) => {
          const form = /name="form" value="([^"]+)"/.exec(await read(''))?.[1] ?? '';
          return post(`${place}${at}`, { form, ...fields }, { cookie });
        },
      };
    },
  };
}
