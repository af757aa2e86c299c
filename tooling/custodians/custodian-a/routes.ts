/**
 * The provider's routes: who asks, what the account may do, and the shapes of the answers.
 *
 * @module
 */
import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import type { Account, ParsedConfig, Wallet } from './config.ts';
import { parseSignatureBody } from './digest.ts';
import type { Engine } from './engine.ts';
import { ApiError } from './errors.ts';
import { takePage } from './pages.ts';
import { type Policy, policyBodySchema } from './policies.ts';
import type { Settings } from './settings.ts';
import { showApproval, showSignatureRequest, showUser, showWallet } from './show.ts';
import { type ApprovalRecord, createId, type State } from './store.ts';
import type { UserActions } from './user-actions.ts';

export type RouteDeps = {
  readonly config: ParsedConfig;
  readonly state: State;
  readonly settings: Settings;
  readonly engine: Engine;
  readonly userActions: UserActions;
  now(): string;
};

const decisionSchema = v.strictObject({
  value: v.picklist(['Approved', 'Denied']),
  reason: v.optional(v.pipe(v.string(), v.maxLength(4_096))),
});

/** Two names of one permission: the second is the older one. */
const readApprovals = ['Policies:Evaluations:Read', 'Policies:Approvals:Read'];
const voteOnApprovals = ['Policies:Evaluations:Vote', 'Policies:Approvals:Approve'];

export function createRoutes(deps: RouteDeps): Hono {
  const { config, state, settings, engine, userActions } = deps;
  const app = new Hono();

  /** @throws ApiError 401, 403 */
  function authenticate(c: Context, operations: readonly string[] = []): Account {
    const header = c.req.header('authorization') ?? '';
    const account = config.accounts.find(({ token }) => header === `Bearer ${token}`);
    if (account?.isActive !== true) {
      throw new ApiError(401, 'Not Authorized.');
    }
    const granted = account.permissionAssignments.flatMap((assignment) => assignment.operations);
    const [operation = ''] = operations;
    if (operations.length > 0 && !operations.some((name) => granted.includes(name))) {
      throw new ApiError(
        403,
        `CustomerEmployee ${account.userId} is not authorized to perform operation (${operation})`,
      );
    }
    return account;
  }

  /** {@link authenticate}, and takes the user action of exactly this request. */
  async function authorize(
    c: Context,
    operations: readonly string[],
  ): Promise<{ readonly account: Account; readonly body: unknown }> {
    const account = authenticate(c, operations);
    const bytes = Buffer.from(await c.req.arrayBuffer());
    userActions.use(account, c.req.header(`${config.headerPrefix}useraction`), {
      method: c.req.method,
      path: new URL(c.req.url).pathname,
      body: bytes,
    });
    return { account, body: parseJson(bytes) };
  }

  function findWallet(c: Context): Wallet {
    const walletId = c.req.param('walletId');
    const wallet = config.wallets.find(({ id }) => id === walletId);
    if (wallet === undefined) {
      throw new ApiError(404, 'wallet not found', { walletId, orgId: config.orgId });
    }
    return wallet;
  }

  function findPolicy(c: Context): Policy {
    const policy = state.policies.find(({ id }) => id === c.req.param('policyId'));
    if (policy === undefined) {
      throw new ApiError(404, 'policy not found');
    }
    return policy;
  }

  function findApproval(c: Context): ApprovalRecord {
    const approval = state.approvals.find(({ id }) => id === c.req.param('approvalId'));
    if (approval === undefined) {
      throw new ApiError(404, 'approval not found');
    }
    return approval;
  }

  function page<T extends { readonly id: string }>(
    c: Context,
    items: readonly T[],
    matches: (item: T) => boolean,
    show: (item: T) => unknown,
  ): Record<string, unknown> {
    const taken = takePage(items, matches, c.req.query(), settings.pageSize);
    return { ...taken, items: taken.items.map(show) };
  }

  app.post('/auth/action/init', async (c) => {
    const account = authenticate(c);
    return c.json(userActions.init(account, await readJson(c)) as object);
  });

  app.post('/auth/action', async (c) => {
    const account = authenticate(c);
    return c.json(userActions.complete(account, await readJson(c)));
  });

  app.get('/auth/users', (c) => {
    authenticate(c, ['Auth:Users:Read']);
    const users = config.accounts.map((account) => ({ id: account.userId, account }));
    return c.json(
      page(
        c,
        users,
        () => true,
        ({ account }) => showUser(account, config.orgId),
      ),
    );
  });

  app.get('/auth/users/:userId', (c) => {
    authenticate(c, ['Auth:Users:Read']);
    const user = config.accounts.find(({ userId }) => userId === c.req.param('userId'));
    if (user === undefined) {
      throw new ApiError(404, 'User not found');
    }
    return c.json(showUser(user, config.orgId) as object);
  });

  app.get('/wallets', (c) => {
    authenticate(c, ['Wallets:Read']);
    return c.json(page(c, config.wallets, () => true, showWallet));
  });

  app.get('/wallets/:walletId', (c) => {
    authenticate(c, ['Wallets:Read']);
    return c.json(showWallet(findWallet(c)) as object);
  });

  app.post('/wallets/:walletId/signatures', async (c) => {
    const { account, body } = await authorize(c, ['Wallets:GenerateSignature']);
    const wallet = findWallet(c);
    const { record, isNew } = engine.createSignature(account, wallet, parseSignatureBody(body));
    const answer = showSignatureRequest(record, deps) as object;
    if (!isNew || record.status !== 'Pending' || settings.pendingStatus === '200') {
      return c.json(answer);
    }
    const isAccepted = settings.pendingStatus === '202' || state.turns++ % 2 === 0;
    return c.json(answer, isAccepted ? 202 : 200);
  });

  app.get('/wallets/:walletId/signatures', (c) => {
    authenticate(c, ['Wallets:ReadSignature']);
    const { id } = findWallet(c);
    const list = page(
      c,
      state.signatures,
      (record) => record.walletId === id,
      (record) => showSignatureRequest(record, deps),
    );
    return c.json({ walletId: id, ...list });
  });

  app.get('/wallets/:walletId/signatures/:signatureId', (c) => {
    authenticate(c, ['Wallets:ReadSignature']);
    const wallet = findWallet(c);
    const signatureId = c.req.param('signatureId');
    const record = state.signatures.find(
      ({ id, walletId }) => id === signatureId && walletId === wallet.id,
    );
    if (record === undefined) {
      throw new ApiError(404, 'signature not found', { signatureId });
    }
    engine.readSignature(record);
    return c.json(showSignatureRequest(record, deps) as object);
  });

  app.get('/v2/policies', (c) => {
    authenticate(c, ['Policies:Read']);
    const status = c.req.query('status');
    const matches = (policy: Policy) => status === undefined || policy.status === status;
    return c.json(page(c, state.policies, matches, (policy) => policy));
  });

  app.get('/v2/policies/:policyId', (c) => {
    authenticate(c, ['Policies:Read']);
    return c.json(findPolicy(c));
  });

  app.post('/v2/policies', async (c) => {
    const { body } = await authorize(c, ['Policies:Create']);
    const date = deps.now();
    const policy: Policy = {
      id: createId('plc'),
      status: 'Active',
      dateCreated: date,
      dateUpdated: date,
      ...parsePolicy(body),
    };
    state.policies.push(policy);
    return c.json(policy);
  });

  app.put('/v2/policies/:policyId', async (c) => {
    const { account, body } = await authorize(c, ['Policies:Update']);
    const result = engine.changePolicy(account, findPolicy(c), parsePolicy(body));
    return 'policy' in result ? c.json(result.policy) : c.json(result.changeRequest, 202);
  });

  app.delete('/v2/policies/:policyId', async (c) => {
    const { account } = await authorize(c, ['Policies:Archive', 'Policies:Delete']);
    const result = engine.changePolicy(account, findPolicy(c), 'delete');
    return 'policy' in result ? c.json(result.policy) : c.json(result.changeRequest, 202);
  });

  app.get('/v2/policy-approvals', (c) => {
    authenticate(c, readApprovals);
    const { status, initiatorId, approverId } = c.req.query();
    const matches = (approval: ApprovalRecord): boolean =>
      (status === undefined || approval.status === status) &&
      (initiatorId === undefined || approval.initiatorId === initiatorId) &&
      (approverId === undefined ||
        approval.groups.some((group) => group.approvers.userId?.in.includes(approverId)));
    return c.json(page(c, state.approvals, matches, (approval) => showApproval(approval, deps)));
  });

  app.get('/v2/policy-approvals/:approvalId', (c) => {
    authenticate(c, readApprovals);
    return c.json(showApproval(findApproval(c), deps) as object);
  });

  app.post('/v2/policy-approvals/:approvalId/decisions', async (c) => {
    const { account, body } = await authorize(c, voteOnApprovals);
    const decision = v.safeParse(decisionSchema, body);
    if (!decision.success) {
      throw new ApiError(400, decision.issues[0].message);
    }
    const { value, reason = null } = decision.output;
    const approval = findApproval(c);
    engine.decide(account, approval, { value, reason });
    return c.json(showApproval(approval, deps) as object);
  });

  return app;
}

function parsePolicy(body: unknown): v.InferOutput<typeof policyBodySchema> {
  const result = v.safeParse(policyBodySchema, body);
  if (!result.success) {
    const [issue] = result.issues;
    throw new ApiError(400, `${v.getDotPath(issue) ?? 'body'}: ${issue.message}`);
  }
  return result.output;
}

async function readJson(c: Context): Promise<unknown> {
  return parseJson(Buffer.from(await c.req.arrayBuffer()));
}

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) {
    return {};
  }
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new ApiError(400, 'the body is not JSON');
  }
}
