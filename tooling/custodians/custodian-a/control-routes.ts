/**
 * The control API over HTTP, for processes: the README has the table. It is open to everybody on this machine's
 * loopback address.
 *
 * @module
 */
import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import type { CustodianAControl } from './control.ts';
import { ApiError } from './errors.ts';
import { faultSchema } from './faults.ts';
import { approvalGroupSchema, policySchema } from './policies.ts';
import { settingsSchema } from './settings.ts';

const voteSchema = v.strictObject({
  approvalId: v.string(),
  userId: v.string(),
  value: v.picklist(['Approved', 'Denied']),
  reason: v.optional(v.string()),
});
const clockSchema = v.strictObject({
  advanceSeconds: v.optional(v.number()),
  scale: v.optional(v.pipe(v.number(), v.minValue(0))),
});
const approvalSchema = v.strictObject({
  initiatorId: v.string(),
  activity: v.looseObject({
    kind: v.picklist([
      'Wallets:Sign',
      'Policies:Modify',
      'Permissions:Modify',
      'Permissions:Assign',
    ]),
  }),
  groups: v.optional(v.array(approvalGroupSchema)),
});
const accountSchema = v.strictObject({
  isActive: v.optional(v.boolean()),
  operations: v.optional(v.array(v.string())),
});
const webhooksSchema = v.array(
  v.strictObject({
    id: v.string(),
    url: v.pipe(v.string(), v.url()),
    secret: v.pipe(v.string(), v.minLength(8)),
    events: v.array(v.string()),
  }),
);

export function createControlRoutes(control: CustodianAControl): Hono {
  const app = new Hono();

  app.get('/state', (c) => c.json(control.state));
  app.get('/requests', (c) => c.json(control.requests(c.req.query())));
  app.delete('/requests', (c) => {
    control.clearRequests();
    return c.json({});
  });
  app.post('/reset', (c) => {
    control.reset();
    return c.json({});
  });
  app.patch('/settings', async (c) => {
    const patch = await read(c, settingsSchema);
    return c.json(control.changeSettings(patch));
  });
  app.post('/faults', async (c) => {
    control.addFault(await read(c, faultSchema));
    return c.json({});
  });
  app.delete('/faults', (c) => {
    control.clearFaults();
    return c.json({});
  });
  app.post('/clock', async (c) => {
    const { advanceSeconds, scale } = await read(c, clockSchema);
    if (scale !== undefined) {
      control.setClockScale(scale);
    }
    if (advanceSeconds !== undefined) {
      control.advanceClock(advanceSeconds);
    }
    return c.json({});
  });
  app.post('/votes', async (c) => {
    const { approvalId, userId, value, reason } = await read(c, voteSchema);
    return c.json(attempt(() => control.vote(approvalId, userId, value, reason)));
  });
  app.post('/approvals', async (c) => {
    const { initiatorId, activity, groups } = await read(c, approvalSchema);
    return c.json(control.addApproval(initiatorId, activity, groups));
  });
  app.post('/approvals/:approvalId/expire', (c) =>
    c.json(attempt(() => control.expire(c.req.param('approvalId')))),
  );
  app.put('/policies', async (c) => {
    control.replacePolicies(await read(c, v.array(policySchema)));
    return c.json(control.state.policies);
  });
  app.put('/webhooks', async (c) => {
    control.replaceWebhooks(await read(c, webhooksSchema));
    return c.json({});
  });
  app.post('/webhooks/flush', async (c) => c.json(await control.flushWebhooks()));
  app.get('/webhooks/deliveries', (c) => c.json(control.deliveries()));
  app.patch('/accounts/:userId', async (c) => {
    const change = withoutUndefined(await read(c, accountSchema));
    const { token: _, ...account } = attempt(() =>
      control.changeAccount(c.req.param('userId'), change),
    );
    return c.json(account);
  });

  return app;
}

async function read<Schema extends v.GenericSchema>(
  c: Context,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  const result = v.safeParse(schema, await c.req.json().catch(() => undefined));
  if (!result.success) {
    const [issue] = result.issues;
    throw new ApiError(400, `${v.getDotPath(issue) ?? 'body'}: ${issue.message}`);
  }
  return result.output;
}

function attempt<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new ApiError(404, error instanceof Error ? error.message : 'not found');
  }
}

function withoutUndefined<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
