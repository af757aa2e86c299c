/**
 * The operator's console of this agent (docs/decisions/0023), and the route that gives its own command line a login.
 *
 * @module
 */
import { isSameSecret, readChainsFile } from '@pool/configuration';
import { type ConsoleDeps, createConsole } from '@pool/console';
import { PoolError, type Secret } from '@pool/core';
import type { Shell } from '@pool/http-server';
import { createAgentClient, createHolderClient, urlOf } from '@pool/pay-run';
import { readLabels } from '@pool/wallet/node';
import type { Config } from '../config/config.ts';
import { withLocalChecks } from '../services/local-checks.ts';
import { defaultDays, openDisclosures } from '../services/payslip-disclosures.ts';
import { findPeople } from '../state/invited-people.ts';
import { readBearer } from './bearer.ts';

/** For the console's own requests to the routes of this agent. */
const here = { remoteAddress: '127.0.0.1' };

/** @returns what ends the work of the console */
export function addConsole(
  app: Shell,
  {
    config,
    loopbackToken,
    releases,
    owners,
  }: { readonly config: Config; readonly loopbackToken: Secret } & Pick<
    ConsoleDeps,
    'releases' | 'owners'
  >,
): () => Promise<void> {
  const { balanceToken, tokenSymbol } = config.holder;
  const send = async (url: string | URL | Request, init?: RequestInit): Promise<Response> =>
    app.fetch(new Request(url, init), here);
  const {
    app: pages,
    issueLogin,
    close,
  } = createConsole({
    payer: {
      ledger: config,
      chain: config.chain,
      readChains: () => readChainsFile(config.chainsFile).chains,
      openAgent: () => createAgentClient(urlOf(config), loopbackToken, send),
      withChecks: (work) => withLocalChecks(config, work),
      invitations: { find: (text) => findPeople(config.home, text) },
    },
    ...{ releases, owners },
    openDisclosures: (paid) =>
      openDisclosures(config, paid, { days: defaultDays, withMemos: false }),
    holder: balanceToken && {
      client: createHolderClient(urlOf(config), balanceToken, send),
      token: tokenSymbol,
      readLabels: () => readLabels(config.home),
    },
    monotonicMs: () => performance.now(),
  });
  app.post('/console/logins', (c) => {
    const token = readBearer(c.req.header('authorization'));
    if (token === undefined || !isSameSecret(token, loopbackToken.reveal())) {
      throw new PoolError('unauthorized', 'send Authorization: Bearer with the loopback token');
    }
    return c.json({ path: issueLogin() }, 201);
  });
  app.route('/console', pages);
  return close;
}
