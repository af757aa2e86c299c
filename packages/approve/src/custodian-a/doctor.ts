/**
 * What `approve doctor` proves about custodian A: every wallet of the policy needs the gate's vote, the agent cannot vote for itself or
 * change that, requests expire, and changes of policies need people.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { Policy } from '@pool/policy';
import type { CustodianAClient } from '@pool/signers';
import * as v from 'valibot';
import { type DoctorCheck, type Examine, failed, passed } from '../gate/doctor.ts';

const id = v.pipe(v.string(), v.maxLength(128));

const groupSchema = v.object({
  quorum: v.pipe(v.number(), v.integer(), v.minValue(1)),
  approvers: v.optional(v.object({ userId: v.optional(v.object({ in: v.array(id) })) }), {}),
  initiatorCanApprove: v.nullish(v.boolean()),
});

const policySchema = v.object({
  id,
  status: v.string(),
  activityKind: v.string(),
  rule: v.object({ kind: v.string() }),
  action: v.object({
    kind: v.string(),
    autoRejectTimeout: v.nullish(v.number()),
    approvalGroups: v.optional(v.array(groupSchema), []),
  }),
  filters: v.nullish(v.record(v.string(), v.unknown())),
});
type CustodyPolicy = v.InferOutput<typeof policySchema>;

const pageSchema = v.object({
  items: v.array(policySchema),
  nextPageToken: v.nullish(v.string()),
});

const userSchema = v.object({
  userId: id,
  isActive: v.optional(v.boolean(), true),
  permissionAssignments: v.array(v.object({ operations: v.nullish(v.array(v.string())) })),
});

/** Operations of an initiator that leave the policies as they are. The provider requires a right to vote to cancel a request. */
const harmlessOperations: ReadonlySet<string> = new Set([
  'Policies:Read',
  'Policies:Evaluations:Read',
  'Policies:Approvals:Read',
  'Policies:Evaluations:Vote',
  'Policies:Approvals:Approve',
  'Permissions:Read',
  'Auth:Users:Read',
]);

/** Families of operations that could change who must vote, or who may act as whom. */
const governing = /^(?:Policies|Permissions|Auth|Orgs|PersonalAccessTokens):/i;

/** Changes that people must approve. */
const governedKinds = ['Policies:Modify', 'Permissions:Modify', 'Permissions:Assign'] as const;

export function createCustodianAExamination(deps: {
  readonly client: CustodianAClient;
  readonly policy: () => Policy;
  readonly userId: string;
}): Examine {
  return async () => {
    const { funders, holders } = deps.policy();
    const rules = [...funders, ...holders];
    const wallets = [...new Set(rules.flatMap((rule) => rule.wallets))];
    const initiators = [...new Set(rules.flatMap((rule) => rule.initiators))];
    const policies = (await listPolicies(deps.client)).filter(({ status }) => status === 'Active');
    const checks: DoctorCheck[] = [
      wallets.length > 0
        ? passed('wallets', `the policy lists ${wallets.length} wallets`)
        : failed('wallets', 'the policy lists no wallet; add wallet ids to a funder or holder'),
      initiators.includes(deps.userId)
        ? failed(
            'own-user',
            'the gate’s own user is listed as an initiator; the agent needs another user',
          )
        : passed('own-user', 'the gate’s user is not an initiator'),
    ];
    for (const wallet of wallets) {
      checks.push(...examineWallet(policies, wallet, deps.userId, initiators));
    }
    for (const initiator of initiators) {
      checks.push(await examineInitiator(deps.client, initiator));
    }
    checks.push(...governedKinds.map((kind) => examineGovernance(policies, kind, initiators)));
    return checks;
  };
}

async function listPolicies(client: CustodianAClient): Promise<readonly CustodyPolicy[]> {
  const found: CustodyPolicy[] = [];
  let token: string | undefined;
  for (let page = 0; page < 100; page += 1) {
    const answer = await client.get('/v2/policies', {
      query: { status: 'Active', ...(token === undefined ? {} : { paginationToken: token }) },
    });
    const { items, nextPageToken } = parse(client, answer, pageSchema, 'policies');
    found.push(...items);
    if (nextPageToken === undefined || nextPageToken === null) {
      return found;
    }
    token = nextPageToken;
  }
  throw new PoolError('custodian_invalid_response', 'the list of policies does not end');
}

function parse<TSchema extends v.GenericSchema>(
  client: CustodianAClient,
  answer: Awaited<ReturnType<CustodianAClient['get']>>,
  schema: TSchema,
  what: string,
): v.InferOutput<TSchema> {
  if (answer.status < 200 || answer.status > 299) {
    throw client.createRefusal(answer, `reading ${what}`);
  }
  const result = v.safeParse(schema, answer.body);
  if (!result.success) {
    throw new PoolError(
      'custodian_invalid_response',
      `the custodian's answer about ${what} does not have the documented form`,
    );
  }
  return result.output;
}

/** One policy that triggers always, for this wallet, and cannot be satisfied without the gate. */
function examineWallet(
  policies: readonly CustodyPolicy[],
  wallet: string,
  userId: string,
  initiators: readonly string[],
): readonly DoctorCheck[] {
  const covering = policies.filter((policy) => covers(policy, wallet));
  const gating = covering.filter(({ action }) =>
    action.approvalGroups.some((group) => needsVoteOf(group, userId)),
  );
  const place = `wallet ${wallet}`;
  if (gating.length === 0) {
    const detail =
      covering.length === 0
        ? `${place}: no active policy requires an approval for every signature; add one for Wallets:Sign with the rule AlwaysTrigger`
        : `${place}: a policy requires an approval, but it can be given without the gate; add a group whose quorum needs ${userId}`;
    return [failed('wallet-covered', detail)];
  }
  const selfApproved = covering.some(({ action }) =>
    action.approvalGroups.some(({ initiatorCanApprove }) => initiatorCanApprove === true),
  );
  const listed = covering.flatMap(({ action }) =>
    action.approvalGroups.flatMap(({ approvers }) => approvers.userId?.in ?? []),
  );
  const agents = initiators.filter((initiator) => listed.includes(initiator));
  const expires = covering.some(({ action }) => (action.autoRejectTimeout ?? 0) > 0);
  return [
    passed('wallet-covered', `${place}: every signature needs the gate's vote`),
    selfApproved
      ? failed('initiator-cannot-approve', `${place}: initiatorCanApprove is true; set it to false`)
      : passed('initiator-cannot-approve', `${place}: who asks cannot approve`),
    agents.length > 0
      ? failed(
          'agent-not-approver',
          `${place}: the agent's user ${agents[0]} is an approver; remove it`,
        )
      : passed('agent-not-approver', `${place}: the agent's user is no approver`),
    expires
      ? passed('auto-reject', `${place}: requests expire`)
      : failed('auto-reject', `${place}: requests never expire; set autoRejectTimeout`),
  ];
}

/** A filter other than the list of wallets could leave a request out, so it does not count. */
function covers({ activityKind, rule, action, filters }: CustodyPolicy, wallet: string): boolean {
  const { walletId, ...others } = filters ?? {};
  const listed = v.safeParse(v.object({ in: v.array(id) }), walletId);
  const isWallet = walletId === undefined || (listed.success && listed.output.in.includes(wallet));
  const hasOther = Object.values(others).some((value) => value !== undefined && value !== null);
  return (
    activityKind === 'Wallets:Sign' &&
    rule.kind === 'AlwaysTrigger' &&
    action.kind === 'RequestApproval' &&
    isWallet &&
    !hasOther
  );
}

/** The group's quorum cannot be reached by its other members. A group without a list contains everybody. */
function needsVoteOf({ approvers, quorum }: v.InferOutput<typeof groupSchema>, userId: string) {
  const listed = approvers.userId?.in ?? [];
  const others = new Set(listed.filter((one) => one !== userId));
  return listed.includes(userId) && others.size < quorum;
}

async function examineInitiator(client: CustodianAClient, initiator: string): Promise<DoctorCheck> {
  const answer = await client.get(`/auth/users/${encodeURIComponent(initiator)}`);
  const user = parse(client, answer, userSchema, `the user ${initiator}`);
  const assignments = user.permissionAssignments.map(({ operations }) => operations ?? undefined);
  if (assignments.includes(undefined)) {
    return failed(
      'agent-rights',
      `the agent's user ${initiator} has a permission whose operations are not shown; take it away, or let the gate's user read it`,
    );
  }
  const rights = assignments
    .flatMap((operations) => operations ?? [])
    .filter((operation) => governing.test(operation) && !harmlessOperations.has(operation));
  return rights.length === 0
    ? passed('agent-rights', `the agent's user ${initiator} cannot change policies or permissions`)
    : failed(
        'agent-rights',
        `the agent's user ${initiator} has the right ${rights[0]}; take away every right over policies, permissions and users`,
      );
}

function examineGovernance(
  policies: readonly CustodyPolicy[],
  kind: (typeof governedKinds)[number],
  initiators: readonly string[],
): DoctorCheck {
  const gating = policies.find(
    ({ activityKind, rule, action, filters }) =>
      activityKind === kind &&
      rule.kind === 'AlwaysTrigger' &&
      Object.keys(filters ?? {}).length === 0 &&
      (action.kind === 'Block' ||
        (action.kind === 'RequestApproval' &&
          action.approvalGroups.some((group) => isOfPeople(group, initiators)))),
  );
  return gating === undefined
    ? failed(
        'changes-are-gated',
        `a change of the kind ${kind} needs no approval; add a policy for it with the rule AlwaysTrigger, without filters and without the agent's user`,
      )
    : passed('changes-are-gated', `a change of the kind ${kind} needs an approval`);
}

/** A group without a list contains everybody, the agent included. */
function isOfPeople(
  { approvers, initiatorCanApprove }: v.InferOutput<typeof groupSchema>,
  initiators: readonly string[],
): boolean {
  const listed = approvers.userId?.in ?? [];
  return (
    initiatorCanApprove !== true &&
    listed.length > 0 &&
    !initiators.some((one) => listed.includes(one))
  );
}
