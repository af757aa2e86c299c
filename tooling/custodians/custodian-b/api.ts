/**
 * The provider's API: transactions, vault accounts, co-signers (CUSTODY, "Custodian B"; the provider's public API reference). Permissions
 * are the documented ones.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { ApiProblemError, malformed, notFound } from './api-problem.ts';
import { type Authenticator, requireRole } from './authenticate.ts';
import type { ApiUser, ParsedConfig, Role } from './config.ts';
import type { Faults, HttpFault } from './faults.ts';
import type { HandlerClient } from './handler-client.ts';
import { pageOf } from './pages.ts';
import { accountOf, type Processor } from './processor.ts';
import type { Store } from './store.ts';
import {
  isCancellable,
  parseTransactionRequest,
  type Transaction,
  viewTransaction,
} from './transaction.ts';
import { findTransactions } from './transaction-list.ts';
import { addressOf, derivationPathOf, publicKeyOf, showAccount } from './vault.ts';

const everyone: readonly Role[] = [
  'ADMIN',
  'NON_SIGNING_ADMIN',
  'SIGNER',
  'APPROVER',
  'EDITOR',
  'VIEWER',
];
const creators: readonly Role[] = ['ADMIN', 'SIGNER', 'EDITOR'];
const cancellers: readonly Role[] = ['ADMIN', 'NON_SIGNING_ADMIN', 'SIGNER', 'APPROVER', 'EDITOR'];
const administrators: readonly Role[] = ['ADMIN', 'NON_SIGNING_ADMIN'];

/** One request to the API, for the control API. */
export type ApiRecord = {
  readonly method: string;
  readonly uri: string;
  readonly apiKey: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly body: string;
  /** 0: the connection was dropped, or is held. */
  status: number;
};

type Environment = {
  Bindings: HttpBindings;
  Variables: { user: ApiUser; body: unknown; record: ApiRecord };
};

export type ApiDeps = {
  readonly config: ParsedConfig;
  readonly store: Store;
  readonly faults: Faults;
  readonly handler: HandlerClient;
  readonly processor: Processor;
  readonly authenticator: Authenticator;
  readonly requests: ApiRecord[];
  readonly nowMs: () => number;
  readonly onError: (error: unknown) => void;
};

type Answer = { readonly status: number; readonly body: object };

export function createApi(deps: ApiDeps): Hono<Environment> {
  const { config, store, faults, processor, authenticator, requests, nowMs } = deps;
  const app = new Hono<Environment>();

  app.use('/v1/*', async (context, next) => {
    const bytes = new Uint8Array(await context.req.arrayBuffer());
    const uri = context.env.incoming.url ?? '';
    const record: ApiRecord = {
      method: context.req.method,
      uri,
      apiKey: context.req.header('x-api-key'),
      idempotencyKey: context.req.header('idempotency-key'),
      body: Buffer.from(bytes).toString('utf8'),
      status: 0,
    };
    requests.push(record);
    context.set('record', record);
    const authorization = context.req.header('authorization');
    context.set(
      'user',
      await authenticator.authenticate({ apiKey: record.apiKey, authorization, uri, body: bytes }),
    );
    context.set('body', parseBody(record.body));
    await next();
    return undefined;
  });

  app.post('/v1/transactions', async (context) => {
    const user = allow(context, creators);
    return await answerWithFaults(context, 'create', () => {
      const { idempotencyKey } = context.get('record');
      const key = `${user.id} ${idempotencyKey}`;
      const kept = idempotencyKey === undefined ? undefined : store.findAnswer(key);
      if (kept !== undefined) {
        return { status: kept.status, body: kept.body as object };
      }
      const answer = answerOf(() => create(context.get('body'), user));
      if (idempotencyKey !== undefined) {
        store.keepAnswer(key, answer);
      }
      return answer;
    });
  });

  function create(body: unknown, user: ApiUser): Answer {
    const { account, ...request } = parseTransactionRequest(body, config);
    const { externalTxId } = request;
    if (externalTxId !== undefined && store.findExternal(externalTxId) !== undefined) {
      const message = 'The external tx id that was provided in the request, already exists';
      throw new ApiProblemError(400, 1438, message);
    }
    const now = nowMs();
    const transaction: Transaction = {
      ...request,
      id: randomUUID(),
      vaultAccountId: account.id,
      createdBy: user.id,
      createdAt: now,
      lastUpdated: now,
      status: 'SUBMITTED',
      subStatus: '',
      signedBy: [],
      rejectedBy: '',
    };
    store.add(transaction);
    processor.start(transaction);
    return { status: 200, body: { id: transaction.id, status: transaction.status } };
  }

  app.get('/v1/transactions', async (context) => {
    allow(context, everyone);
    return await answerWithFaults(context, 'find', () => ({
      status: 200,
      body: findTransactions(store.list(), context.req.query()).map(view),
    }));
  });

  app.get('/v1/transactions/external_tx_id/:externalTxId', async (context) => {
    allow(context, everyone);
    return await answerWithFaults(context, 'find', () =>
      show(store.findExternal(context.req.param('externalTxId'))),
    );
  });

  app.get('/v1/transactions/:id', async (context) => {
    allow(context, everyone);
    return await answerWithFaults(context, 'read', () => show(store.find(context.req.param('id'))));
  });

  app.post('/v1/transactions/:id/cancel', async (context) => {
    allow(context, cancellers);
    return await answerWithFaults(context, 'cancel', () => {
      const transaction = store.find(context.req.param('id'));
      if (transaction === undefined) {
        throw notFound('The transaction was not found');
      }
      if (!isCancellable(transaction)) {
        throw malformed(`The transaction cannot be cancelled in status ${transaction.status}`);
      }
      store.change(transaction, { status: 'CANCELLED', subStatus: 'CANCELLED_BY_USER' });
      return { status: 200, body: { success: true } };
    });
  });

  app.get('/v1/vault/accounts/:account', (context) => {
    allow(context, everyone);
    const account = config.vaultAccounts.find(({ id }) => id === context.req.param('account'));
    if (account === undefined) {
      throw notFound('The vault account was not found');
    }
    return context.json(showAccount(account));
  });

  app.get('/v1/vault/accounts/:account/:asset/addresses_paginated', (context) => {
    allow(context, everyone);
    const account = findAccount(context.req.param('account'), context.req.param('asset'));
    return context.json({
      addresses: [
        {
          assetId: context.req.param('asset'),
          address: addressOf(account),
          description: '',
          tag: '',
          type: 'Permanent',
          addressFormat: 'BASE',
          bip44AddressIndex: 0,
          userDefined: false,
        },
      ],
      paging: {},
    });
  });

  app.get('/v1/vault/accounts/:account/:asset/:change/:index/public_key_info', (context) => {
    allow(context, administrators);
    const account = findAccount(context.req.param('account'), context.req.param('asset'));
    if (context.req.param('change') !== '0' || context.req.param('index') !== '0') {
      throw notFound('The address was not found');
    }
    return context.json({
      status: 0,
      algorithm: 'MPC_ECDSA_SECP256K1',
      derivationPath: derivationPathOf(account),
      publicKey: publicKeyOf(account, context.req.query('compressed') === 'true'),
    });
  });

  app.get('/v1/cosigners', (context) => {
    allow(context, administrators);
    return context.json({ data: [cosigner()], next: null });
  });

  app.get('/v1/cosigners/:id', (context) => {
    allow(context, administrators);
    requireCosigner(context.req.param('id'));
    return context.json(cosigner());
  });

  app.get('/v1/cosigners/:id/api_keys', (context) => {
    allow(context, administrators);
    requireCosigner(context.req.param('id'));
    return context.json(pageOf(pairedUsers(), context.req.query()));
  });

  app.get('/v1/cosigners/:id/api_keys/:apiKeyId', (context) => {
    allow(context, administrators);
    requireCosigner(context.req.param('id'));
    const user = pairedUsers().find(({ id }) => id === context.req.param('apiKeyId'));
    if (user === undefined) {
      throw notFound('The API key is not paired with this co-signer');
    }
    return context.json(user);
  });

  app.onError((error, context) => {
    const problem =
      error instanceof ApiProblemError
        ? error
        : new ApiProblemError(500, 1000, 'Internal server error');
    if (problem !== error) {
      deps.onError(error);
    }
    setStatus(context, problem.status);
    return context.json(problem.body, problem.status);
  });

  function allow(context: Context<Environment>, roles: readonly Role[]): ApiUser {
    const user = context.get('user');
    requireRole(user, roles);
    setStatus(context, 200);
    return user;
  }

  function view(transaction: Transaction): object {
    const shown = faults.takeStatus();
    const base =
      shown === undefined
        ? transaction
        : { ...transaction, status: shown.status, subStatus: shown.subStatus };
    return viewTransaction(base, accountOf(config, transaction));
  }

  function show(transaction: Transaction | undefined): Answer {
    if (transaction === undefined) {
      throw notFound('The transaction was not found');
    }
    return { status: 200, body: view(transaction) };
  }

  function findAccount(id: string, asset: string): ParsedConfig['vaultAccounts'][number] {
    const account = config.vaultAccounts.find((one) => one.id === id);
    if (account?.assets.includes(asset) !== true) {
      throw notFound('The vault account does not have this asset');
    }
    return account;
  }

  function cosigner(): object {
    const { id, name } = config.cosigner;
    return { id, name, archived: false };
  }

  /** Newest first: the user that signs was paired before the others. */
  function pairedUsers(): readonly { readonly id: string }[] {
    const { signerId, otherUsers } = config.cosigner;
    const users = [...otherUsers, { id: signerId, callback: deps.handler.callback() }];
    return users.map(({ id, callback: callbackHandler }) => ({
      id,
      lastSeen: new Date(nowMs()).toISOString(),
      ...(callbackHandler === undefined ? {} : { callbackHandler }),
    }));
  }

  function requireCosigner(id: string): void {
    if (id !== config.cosigner.id) {
      throw notFound('The co-signer was not found');
    }
  }

  /** The work between its two faults: one before, as if it had never arrived, and one after, when only the answer is lost. */
  async function answerWithFaults(
    context: Context<Environment>,
    on: HttpFault['on'],
    work: () => Answer,
  ): Promise<Response> {
    const before = await applyFault(context, faults.takeHttp(on, 'before'));
    if (before !== undefined) {
      return before;
    }
    const answer = answerOf(work);
    const after = await applyFault(context, faults.takeHttp(on, 'after'));
    return after ?? respond(context, answer);
  }

  return app;
}

/** The answer of some work, or of its refusal. */
function answerOf(work: () => Answer): Answer {
  try {
    return work();
  } catch (error) {
    if (error instanceof ApiProblemError) {
      return { status: error.status, body: error.body };
    }
    throw error;
  }
}

function respond(context: Context<Environment>, { status, body }: Answer): Response {
  setStatus(context, status);
  return Response.json(body, { status });
}

function setStatus(context: Context<Environment>, status: number): void {
  const record = context.get('record');
  record.status = status;
}

async function applyFault(
  context: Context<Environment>,
  fault: HttpFault | undefined,
): Promise<Response | undefined> {
  switch (fault?.effect) {
    case undefined:
      return undefined;
    case 'error':
      return respond(context, {
        status: fault.status,
        body: { message: 'Internal server error', code: 1000 },
      });
    case 'delay':
      await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
      return undefined;
    case 'redirect':
      setStatus(context, 302);
      return new Response(null, { status: 302, headers: { location: '/elsewhere' } });
    case 'drop':
      setStatus(context, 0);
      context.env.outgoing.destroy();
      return new Response(null);
    case 'hang':
      setStatus(context, 0);
      return await new Promise(() => undefined);
  }
}

function parseBody(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    throw malformed('the body is not JSON');
  }
}
