/**
 * What `approve doctor` proves about custodian A: the gate can vote, every wallet of the policy has its address and needs the gate's vote,
 * the agent has no right but to ask, requests expire, and changes of policies need people.
 *
 * @module
 */
import {
  computeWalletAddress,
  errorCodeOf,
  isPoolError,
  PoolError,
  parseHex,
  parseWalletPub,
  tryParseEvmAddress,
} from '@pool/core';
import type { Policy } from '@pool/policy';
import type { CustodianAClient } from '@pool/signers';
import * as v from 'valibot';
import {
  checkAddress,
  checked,
  checkListed,
  type DoctorCheck,
  type Examine,
  failed,
  listPolicyWallets,
  type PolicyWallet,
  passed,
} from '../examine/doctor.ts';

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

const walletSchema = v.object({
  id,
  /** Missing for a key that signs for any chain. */
  address: v.nullish(v.string()),
  signingKey: v.object({
    curve: v.string(),
    publicKey: v.pipe(v.string(), v.maxLength(200)),
  }),
});

/**
 * What an initiator may do: ask for signatures, read them, and vote, because the provider requires that right to cancel a request of
 * one's own. The two rights over approvals have an older name each. Everything else fails: a right that is not known here could sign,
 * export a key, or change who must vote.
 */
const initiatorOperations: ReadonlySet<string> = new Set([
  'Wallets:Read',
  'Wallets:GenerateSignature',
  'Wallets:ReadSignature',
  'Policies:Evaluations:Read',
  'Policies:Approvals:Read',
  'Policies:Evaluations:Vote',
  'Policies:Approvals:Approve',
]);

/** The right to vote, with its older name. */
const voteOperations = ['Policies:Evaluations:Vote', 'Policies:Approvals:Approve'] as const;

/** Changes that people must approve. */
const governedKinds = ['Policies:Modify', 'Permissions:Modify', 'Permissions:Assign'] as const;

export function createCustodianAExamination(deps: {
  readonly client: CustodianAClient;
  readonly policy: () => Policy;
  readonly userId: string;
}): Examine {
  return async () => {
    const { funders, holders } = deps.policy();
    const wallets = listPolicyWallets(deps.policy());
    const initiators = [...new Set([...funders, ...holders].flatMap((rule) => rule.initiators))];
    const policies = (await listPolicies(deps.client)).filter(({ status }) => status === 'Active');
    const checks: DoctorCheck[] = [
      checkListed(wallets),
      checked(
        'own-user',
        !initiators.includes(deps.userId),
        'the gate’s user is not an initiator',
        'the gate’s own user is listed as an initiator; the agent needs another user',
      ),
      await examineOwnKey(deps.client),
      await examineOwnRights(deps.client, deps.userId),
    ];
    for (const wallet of wallets) {
      checks.push(checkAddress(wallet, await readAddress(deps.client, wallet)));
    }
    for (const wallet of new Set(wallets.map((one) => one.wallet))) {
      checks.push(...examineWallet(policies, wallet, deps.userId, initiators));
    }
    for (const initiator of initiators) {
      checks.push(await examineInitiator(deps.client, initiator));
    }
    checks.push(...governedKinds.map((kind) => examineGovernance(policies, kind, initiators)));
    return checks;
  };
}

/** A user action for a vote that is never sent: the bearer token alone only reads. */
async function examineOwnKey(client: CustodianAClient): Promise<DoctorCheck> {
  try {
    await client.authorize({
      method: 'POST',
      path: '/v2/policy-approvals/doctor/decisions',
      body: '{}',
    });
    return passed('own-key', "the custodian accepts the gate's key, so it can vote");
  } catch (error) {
    if (!isPoolError(error) || errorCodeOf(error) !== 'custodian_refused') {
      throw error;
    }
    return failed(
      'own-key',
      `the gate cannot vote: ${error.message}; correct APPROVE_CUSTODIAN_A_CREDENTIAL_ID, APPROVE_CUSTODIAN_A_SERVICE_KEY or APPROVE_CUSTODIAN_A_ORIGIN`,
    );
  }
}

async function examineOwnRights(client: CustodianAClient, userId: string): Promise<DoctorCheck> {
  const operations = await readOperations(client, userId);
  return checked(
    'own-rights',
    operations === undefined || voteOperations.some((right) => operations.includes(right)),
    "the gate's user may vote",
    `the gate's user ${userId} has no right to vote; give it ${voteOperations[0]}`,
  );
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

/** Whether the key that signs is that of the policy. The address that is shown beside it must be the same. */
async function readAddress(
  client: CustodianAClient,
  { wallet, address }: PolicyWallet,
): Promise<'same' | 'other' | 'unknown'> {
  const answer = await client.get(`/wallets/${encodeURIComponent(wallet)}`);
  if (answer.status === 404) {
    return 'unknown';
  }
  const shown = parse(client, answer, walletSchema, `the wallet ${wallet}`);
  const { curve, publicKey } = shown.signingKey;
  // Compressed. A key of another curve is another key.
  const [, point] = /^(?:0x)?(0[23][0-9a-f]{64})$/.exec(publicKey.toLowerCase()) ?? [];
  const isSame =
    shown.id === wallet &&
    curve === 'secp256k1' &&
    point !== undefined &&
    computeWalletAddress(parseWalletPub(parseHex(`0x${point}`))) === address &&
    tryParseEvmAddress(shown.address ?? address) === address;
  return isSame ? 'same' : 'other';
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
    checked(
      'initiator-cannot-approve',
      !selfApproved,
      `${place}: who asks cannot approve`,
      `${place}: initiatorCanApprove is true; set it to false`,
    ),
    checked(
      'agent-not-approver',
      agents.length === 0,
      `${place}: the agent's user is no approver`,
      `${place}: the agent's user ${agents[0]} is an approver; remove it`,
    ),
    checked(
      'auto-reject',
      expires,
      `${place}: requests expire`,
      `${place}: requests never expire; set autoRejectTimeout`,
    ),
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

/** Every operation of a user's permissions. Undefined: a permission does not show them. */
async function readOperations(
  client: CustodianAClient,
  userId: string,
): Promise<readonly string[] | undefined> {
  const answer = await client.get(`/auth/users/${encodeURIComponent(userId)}`);
  const user = parse(client, answer, userSchema, `the user ${userId}`);
  const assignments = user.permissionAssignments.map(({ operations }) => operations ?? undefined);
  return assignments.includes(undefined)
    ? undefined
    : assignments.flatMap((operations) => operations ?? []);
}

async function examineInitiator(client: CustodianAClient, initiator: string): Promise<DoctorCheck> {
  const operations = await readOperations(client, initiator);
  if (operations === undefined) {
    return failed(
      'agent-rights',
      `the agent's user ${initiator} has a permission whose operations are not shown; take it away, or let the gate's user read it`,
    );
  }
  const others = new Set(operations.filter((operation) => !initiatorOperations.has(operation)));
  return checked(
    'agent-rights',
    others.size === 0,
    `the agent's user ${initiator} may ask for signatures, and no more`,
    `the agent's user ${initiator} has more rights than to ask for signatures: ${[...others].join(', ')}; take them away`,
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
  return checked(
    'changes-are-gated',
    gating !== undefined,
    `a change of the kind ${kind} needs an approval`,
    `a change of the kind ${kind} needs no approval; add a policy for it with the rule AlwaysTrigger, without filters and without the agent's user`,
  );
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
