/**
 * The pool-gate's HTTP application (ARCHITECTURE.md): OAuth tokens, eligibility paths and root, and the list of wallets.
 * A write is answered once the root that contains it is final on chain.
 *
 * @module
 */
import { createApiPages, type GateWallet, gateApi, gateRoutes } from '@pool/api';
import {
  fieldToHex,
  type Hex32,
  PoolError,
  parseField,
  parseWalletPub,
  parseWire,
  type Secret,
} from '@pool/core';
import type { Check, ShellContext } from '@pool/http-server';
import {
  addApiPages,
  addHealthRoutes,
  addMetricsRoute,
  createShell,
  describeFailure,
  type Log,
  type Measure,
  readBearer,
  readJson,
  type Shell,
} from '@pool/http-server';
import { computeWalletId } from '@pool/notes';
import type { GateDatabase } from './gate-tables.ts';
import type { Leaves } from './leaves.ts';
import { findWallet, unwantWallet, wantWallet } from './leaves.ts';
import type { TokenService } from './oauth.ts';
import type { Publisher } from './publisher.ts';
import type { ReaderClients } from './reader-clients.ts';
import type { Screening } from './screening.ts';

// `POST /oauth/token` (RFC 6749 §4.4): client credentials as HTTP Basic or in the form.

export function addTokenRoute(app: Shell, tokens: TokenService): void {
  app.post('/oauth/token', async (c) => {
    const form = new URLSearchParams(await c.req.text());
    try {
      const granted = await tokens.grant({
        ...readClientCredentials(c, form),
        grantType: form.get('grant_type') ?? undefined,
        scope: form.get('scope') ?? undefined,
        address: c.get('callerAddress'),
      });
      return c.json({
        access_token: granted.accessToken.reveal(),
        token_type: 'Bearer',
        expires_in: granted.expiresInSeconds,
        scope: granted.scope,
      });
    } catch (error) {
      // RFC 6749 has no word for what passes: a limit, or a database that does not answer.
      if (!(error instanceof PoolError) || error.status === 429 || error.status >= 500) {
        throw error;
      }
      // RFC 6749 §5.2 asks for `error`; every other answer has `{code, message}`. This one has both.
      const { code, message } = error;
      if (error.status === 401) {
        c.header('www-authenticate', 'Basic realm="pool-gate"');
      }
      const body = { error: code, error_description: message, code, message };
      return c.json(body, error.status === 401 ? 401 : 400);
    }
  });
}

/** Client id and secret from HTTP Basic (form-encoded per RFC 6749 §2.3.1) or from the form. */
function readClientCredentials(
  c: ShellContext,
  form: URLSearchParams,
): { clientId: string; clientSecret: string } {
  const basic = /^Basic ([A-Za-z0-9+/=]{1,1024})$/i.exec(c.req.header('authorization') ?? '')?.[1];
  if (basic !== undefined) {
    const text = Buffer.from(basic, 'base64').toString('utf8');
    const colon = text.indexOf(':');
    return {
      clientId: decodeForm(text.slice(0, Math.max(0, colon))),
      clientSecret: decodeForm(text.slice(colon + 1)),
    };
  }
  return {
    clientId: form.get('client_id') ?? '',
    clientSecret: form.get('client_secret') ?? '',
  };
}

function decodeForm(value: string): string {
  return new URLSearchParams(`v=${value}`).get('v') ?? '';
}

export type GateAppDeps = {
  readonly db: GateDatabase;
  readonly publisher: Publisher;
  readonly tokens: TokenService;
  readonly readers: ReaderClients;
  readonly screening: Screening;
  readonly log: Log;
  readonly allowedHosts: readonly string[];
  readonly leaves: Leaves;
  /** Why this process should not be sent requests. Absent: it always should. */
  readonly findProblem?: Check;
  /** Absent: there is no `/metrics`. */
  readonly metrics?: { readonly token: Secret | undefined; readonly measures: readonly Measure[] };
  /** The number of own proxies in front, whose `X-Forwarded-For` is trusted. Default: none. */
  readonly proxyHops?: number;
};

const maxBodyBytes = 64 * 1024;

export function createGateApp(deps: GateAppDeps): Shell {
  const { db, publisher, tokens, leaves } = deps;
  const app = createShell({
    log: deps.log,
    allowedHosts: deps.allowedHosts,
    hostsVariable: 'GATE_ALLOWED_HOSTS',
    allowedOrigins: [],
    maxBodyBytes,
    describeFailure,
    ...(deps.proxyHops === undefined ? {} : { proxyHops: deps.proxyHops }),
  });

  addHealthRoutes(app, deps.findProblem);
  addMetricsRoute(app, deps.metrics?.measures ?? [], deps.metrics?.token);
  addApiPages(app, createApiPages({ '': gateApi }));

  addTokenRoute(app, tokens);

  app.post('/v1/paths', async (c) => {
    await tokens.assertScope(readBearer(c), 'gate.read');
    const { walletIds, root } = await readJson(c, gateRoutes.findPaths.body);
    if (root === undefined) {
      // Another gate may have published a wallet, and answered that it is on the list.
      await publisher.follow();
    }
    const asked = root === undefined ? publisher.tree.root : parseField(root);
    const wanted = [...new Set(walletIds)].map((word) => parseField(word));
    let list = publisher.findList(asked);
    if (list === undefined) {
      await publisher.follow();
      list = publisher.findList(asked);
    }
    if (list === undefined) {
      throw await publisher.explainMissing(asked);
    }
    return c.json({
      root: list.root,
      paths: wanted.filter(list.has).map(list.path),
      missing: wanted.filter((walletId) => !list.has(walletId)).map(fieldToHex),
    });
  });

  app.get('/v1/root', async (c) => {
    await tokens.assertScope(readBearer(c), 'gate.read');
    await publisher.follow();
    const txHash = await publisher.fetchLastTxHash();
    return c.json({
      root: fieldToHex(publisher.tree.root),
      wallets: publisher.tree.size,
      ...(txHash === undefined ? {} : { txHash }),
    });
  });

  app.get('/v1/capacity', async (c) => {
    await tokens.assertScope(readBearer(c), 'gate.read');
    return c.json(await leaves.count());
  });

  app.put('/v1/wallets/:walletId', async (c) => {
    await tokens.assertScope(readBearer(c), 'gate.write');
    const walletId = parseField(c.req.param('walletId'));
    const request = await readJson(c, gateRoutes.putWallet.body);
    const walletPub = parseWalletPub(request.walletPub);
    if (computeWalletId(walletPub) !== walletId) {
      throw new PoolError('invalid_request', 'walletPub: is not the key of the wallet in the path');
    }
    const word = fieldToHex(walletId);
    if (!(await deps.screening(walletPub))) {
      await remove(word);
      return c.json(describe(word, 'denied'));
    }
    const known = await findWallet(db, word);
    if (known === undefined || !known.wanted || !known.published) {
      await wantWallet(db, word, walletPub, leaves.capacity);
      await leaves.watch();
      await publisher.publishWanted();
    }
    const row = await findWallet(db, word);
    if (row === undefined || !row.published) {
      throw new PoolError(
        'publication_failed',
        'the wallet is not on the published list; try again',
      );
    }
    return c.json(describe(word, 'whitelisted', row.whitelisted_at ?? undefined));
  });

  app.delete('/v1/wallets/:walletId', async (c) => {
    await tokens.assertScope(readBearer(c), 'gate.write');
    const word = fieldToHex(parseField(c.req.param('walletId')));
    await remove(word);
    return c.json(describe(word, 'removed'));
  });

  app.put('/v1/readers/:clientId', async (c) => {
    await tokens.assertScope(readBearer(c), 'gate.write');
    const clientId = parseWire(
      gateRoutes.putReader.params.clientId,
      c.req.param('clientId'),
      'clientId',
    );
    await deps.readers.put(clientId, await readJson(c, gateRoutes.putReader.body));
    return c.json({ clientId });
  });

  async function remove(walletId: string): Promise<void> {
    const known = await findWallet(db, walletId);
    if (known?.wanted === true || known?.published === true) {
      await unwantWallet(db, walletId);
      await publisher.publishWanted();
    }
  }

  function describe(
    walletId: Hex32,
    status: GateWallet['status'],
    whitelistedAt?: string,
  ): GateWallet {
    const root = fieldToHex(publisher.tree.root);
    return { walletId, status, root, ...(whitelistedAt === undefined ? {} : { whitelistedAt }) };
  }

  return app;
}
