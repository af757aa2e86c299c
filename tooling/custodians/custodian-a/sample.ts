/**
 * A whole organisation for tests and demonstrations: the agent that asks, the gate that votes, a person who
 * administers, wallets, and the policies that `approve doctor` expects.
 *
 * @module
 */
import { generateKeyPairSync } from 'node:crypto';
import type { CustodianAConfig } from './config.ts';
import type { Policy } from './policies.ts';

/** What one account needs to call the API. */
export type SampleAccount = {
  readonly userId: string;
  readonly token: string;
  readonly credentialId: string;
  /** PKCS#8 PEM. */
  readonly privateKey: string;
};

export type SampleOrganisation = {
  readonly config: CustodianAConfig;
  /** The agent. */
  readonly initiator: SampleAccount;
  /** The gate. */
  readonly approver: SampleAccount;
  /** A person with every permission. */
  readonly admin: SampleAccount;
};

export const sampleOrigin = 'https://custody.example';

const sampleIds = {
  initiator: 'us-00000-agent-0000000000000001',
  approver: 'us-00000-gate0-0000000000000002',
  admin: 'us-00000-admin-0000000000000003',
} as const;

const operations = {
  initiator: [
    'Wallets:Read',
    'Wallets:GenerateSignature',
    'Wallets:ReadSignature',
    'Policies:Evaluations:Read',
    // The provider asks for it even when an initiator cancels its own request.
    'Policies:Evaluations:Vote',
  ],
  approver: [
    'Wallets:Read',
    'Wallets:ReadSignature',
    'Policies:Read',
    'Policies:Evaluations:Read',
    'Policies:Evaluations:Vote',
    'Auth:Users:Read',
  ],
  admin: [
    'Wallets:Read',
    'Wallets:GenerateSignature',
    'Wallets:ReadSignature',
    'Policies:Create',
    'Policies:Read',
    'Policies:Update',
    'Policies:Delete',
    'Policies:Evaluations:Read',
    'Policies:Evaluations:Vote',
    'Auth:Users:Read',
  ],
} as const;

/** @param wallets id → secp256k1 scalar as hex; each gets an approval policy */
export function createSampleOrganisation(
  wallets: Readonly<Record<string, string>>,
  options: { readonly credentialCurve?: 'ed25519' | 'p256' } & Partial<CustodianAConfig> = {},
): SampleOrganisation {
  const { credentialCurve = 'ed25519', ...overrides } = options;
  const roles = ['initiator', 'approver', 'admin'] as const;
  const made = roles.map((role) => createAccount(role, credentialCurve));
  const [initiator, approver, admin] = made.map(({ sample }) => sample) as [
    SampleAccount,
    SampleAccount,
    SampleAccount,
  ];
  return {
    initiator,
    approver,
    admin,
    config: {
      origin: sampleOrigin,
      accounts: made.map(({ account }) => account),
      wallets: Object.entries(wallets).map(([id, privateKey]) => ({
        id,
        network: 'EthereumSepolia',
        privateKey,
      })),
      policies: [
        createApprovalPolicy(Object.keys(wallets)),
        ...(['Policies:Modify', 'Permissions:Modify', 'Permissions:Assign'] as const).map(
          createGovernancePolicy,
        ),
      ],
      ...overrides,
    },
  };
}

/** One vote of the gate, within a day. */
function createApprovalPolicy(walletIds: string[]): Policy {
  return {
    id: 'plc-00000-votes-0000000000000001',
    status: 'Active',
    name: 'The gate votes',
    activityKind: 'Wallets:Sign',
    rule: { kind: 'AlwaysTrigger', configuration: {} },
    action: {
      kind: 'RequestApproval',
      autoRejectTimeout: 1_440,
      approvalGroups: [
        {
          name: 'Gate',
          quorum: 1,
          approvers: { userId: { in: [sampleIds.approver] } },
          initiatorCanApprove: false,
          serviceAccountsCanApprove: true,
        },
      ],
    },
    filters: { walletId: { in: walletIds } },
  };
}

/** A person says yes to every change of policies and permissions. */
function createGovernancePolicy(activityKind: Policy['activityKind'], index: number): Policy {
  return {
    id: `plc-00000-gover-000000000000000${index + 2}`,
    status: 'Active',
    name: `A person approves ${activityKind}`,
    activityKind,
    rule: { kind: 'AlwaysTrigger', configuration: {} },
    action: {
      kind: 'RequestApproval',
      autoRejectTimeout: 1_440,
      approvalGroups: [
        { name: 'People', quorum: 1, approvers: { userId: { in: [sampleIds.admin] } } },
      ],
    },
  };
}

function createAccount(
  role: keyof typeof sampleIds,
  curve: 'ed25519' | 'p256',
): { sample: SampleAccount; account: CustodianAConfig['accounts'][number] } {
  const { publicKey, privateKey } =
    curve === 'ed25519'
      ? generateKeyPairSync('ed25519')
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const userId = sampleIds[role];
  const token = `token-of-${role}`;
  const credentialId = `credential-of-${role}`;
  return {
    sample: {
      userId,
      token,
      credentialId,
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    },
    account: {
      userId,
      username: `${role}@example.com`,
      name: role,
      isServiceAccount: role !== 'admin',
      token,
      credentialId,
      publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      permissionAssignments: [
        {
          permissionId: `pm-00000-${role}`,
          permissionName: role,
          assignmentId: `as-00000-${role}`,
          operations: [...operations[role]],
        },
      ],
    },
  };
}
