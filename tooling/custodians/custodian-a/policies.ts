/**
 * Policies: which activities need an approval, from whom, and for how long. Every rule triggers here: the provider
 * documents that rules over amounts trigger when they cannot read an amount, and a raw signature has none.
 *
 * @module
 */
import * as v from 'valibot';

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(100));
const ids = v.strictObject({ in: v.pipe(v.array(id), v.minLength(1), v.maxLength(100)) });

export const approvalGroupSchema = v.strictObject({
  name: v.optional(v.string()),
  quorum: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** Empty: every person of the organisation, and no service account. */
  approvers: v.strictObject({ userId: v.optional(ids) }),
  initiatorCanApprove: v.optional(v.boolean()),
  serviceAccountsCanApprove: v.optional(v.boolean()),
});

const actionSchema = v.variant('kind', [
  v.strictObject({
    kind: v.literal('RequestApproval'),
    approvalGroups: v.pipe(v.array(approvalGroupSchema), v.minLength(1)),
    /** Minutes. Without it a request never expires. */
    autoRejectTimeout: v.optional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1)))),
  }),
  v.strictObject({ kind: v.literal('Block') }),
  v.strictObject({ kind: v.literal('NoAction') }),
]);

const tagList = v.optional(v.array(id));

/** The body of `POST` and `PUT /v2/policies`. */
export const policyBodySchema = v.strictObject({
  name: v.pipe(v.string(), v.minLength(1)),
  activityKind: v.picklist([
    'Wallets:Sign',
    'Policies:Modify',
    'Permissions:Modify',
    'Permissions:Assign',
  ]),
  rule: v.strictObject({
    kind: v.picklist([
      'AlwaysTrigger',
      'TransactionAmountLimit',
      'TransactionAmountVelocity',
      'TransactionCountVelocity',
      'TransactionRecipientWhitelist',
    ]),
    configuration: v.optional(v.record(v.string(), v.unknown())),
  }),
  action: actionSchema,
  filters: v.optional(
    v.strictObject({
      walletId: v.optional(ids),
      walletTags: v.optional(v.strictObject({ hasAny: tagList, hasAll: tagList })),
      policyId: v.optional(ids),
      permissionId: v.optional(ids),
    }),
  ),
});

export const policySchema = v.strictObject({
  id,
  status: v.optional(v.picklist(['Active', 'Archived']), 'Active'),
  dateCreated: v.optional(v.string()),
  dateUpdated: v.optional(v.string()),
  ...policyBodySchema.entries,
});

export type Policy = v.InferOutput<typeof policySchema>;
export type PolicyBody = v.InferOutput<typeof policyBodySchema>;
export type ApprovalGroup = v.InferOutput<typeof approvalGroupSchema>;

/** Whoever votes. */
type Voter = { readonly userId: string; readonly isServiceAccount: boolean };

/** What an activity is about, as far as filters can see. */
export type Subject = {
  readonly activityKind: Policy['activityKind'];
  readonly walletId?: string;
  readonly walletTags?: readonly string[];
  readonly policyId?: string;
  readonly permissionId?: string;
};

export type Evaluation = {
  readonly blocked: boolean;
  readonly groups: readonly ApprovalGroup[];
  /** The shortest time-out of the policies that trigger; minutes. */
  readonly timeoutMinutes: number | undefined;
  readonly policyEvaluations: readonly {
    readonly policyId: string;
    readonly triggered: boolean;
    readonly reason: string;
  }[];
};

/** Evaluates every active policy of the activity's kind. */
export function evaluatePolicies(policies: readonly Policy[], subject: Subject): Evaluation {
  const ofKind = policies.filter(
    ({ status, activityKind }) => status === 'Active' && activityKind === subject.activityKind,
  );
  const triggered = ofKind.filter((policy) => isCovered(policy, subject));
  const approvals = triggered.flatMap(({ action }) =>
    action.kind === 'RequestApproval' ? [action] : [],
  );
  const timeouts = approvals.flatMap(({ autoRejectTimeout }) => autoRejectTimeout ?? []);
  return {
    blocked: triggered.some(({ action }) => action.kind === 'Block'),
    groups: approvals.flatMap(({ approvalGroups }) => approvalGroups),
    timeoutMinutes: timeouts.length === 0 ? undefined : Math.min(...timeouts),
    policyEvaluations: ofKind.map((policy) => ({
      policyId: policy.id,
      triggered: triggered.includes(policy),
      reason: triggered.includes(policy)
        ? `The rule ${policy.rule.kind} triggered.`
        : 'The filters of the policy do not match.',
    })),
  };
}

function isCovered({ filters }: Policy, subject: Subject): boolean {
  const { walletId, walletTags, policyId, permissionId } = filters ?? {};
  const tags = subject.walletTags ?? [];
  return (
    includes(walletId, subject.walletId) &&
    includes(policyId, subject.policyId) &&
    includes(permissionId, subject.permissionId) &&
    (walletTags?.hasAny === undefined || walletTags.hasAny.some((tag) => tags.includes(tag))) &&
    (walletTags?.hasAll ?? []).every((tag) => tags.includes(tag))
  );
}

function includes(list: { readonly in: readonly string[] } | undefined, item: string | undefined) {
  return list === undefined || (item !== undefined && list.in.includes(item));
}

/** Whether this account's approval counts in the group. */
export function mayApprove(group: ApprovalGroup, account: Voter, initiatorId: string): boolean {
  if (account.userId === initiatorId && group.initiatorCanApprove !== true) {
    return false;
  }
  const listed = group.approvers.userId?.in;
  if (account.isServiceAccount) {
    return group.serviceAccountsCanApprove === true && listed?.includes(account.userId) === true;
  }
  return listed === undefined || listed.includes(account.userId);
}

/** Whether every group has its quorum. */
export function isApproved(
  groups: readonly ApprovalGroup[],
  approvers: readonly Voter[],
  initiatorId: string,
): boolean {
  return groups.every(
    (group) =>
      approvers.filter((account) => mayApprove(group, account, initiatorId)).length >= group.quorum,
  );
}
