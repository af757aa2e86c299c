/**
 * The entities of the API as answers.
 *
 * @module
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { computeAddress, getBytes } from 'ethers';
import type { Account, ParsedConfig, Wallet } from './config.ts';
import type { SignatureBody } from './digest.ts';
import type { Settings } from './settings.ts';
import { showSignature } from './sign.ts';
import type { ApprovalRecord, SignatureRecord, State } from './store.ts';

type Sources = {
  readonly config: ParsedConfig;
  readonly state: State;
  readonly settings: Settings;
};

/** The dates of a wallet are not simulated. */
const walletDate = '2024-01-01T00:00:00.000Z';

export function showWallet(wallet: Wallet): unknown {
  const publicKey = secp256k1.getPublicKey(getBytes(wallet.privateKey), true);
  return {
    id: wallet.id,
    network: wallet.network,
    // Pseudo networks sign for any chain and have no address.
    ...(wallet.network.startsWith('Key') ? {} : { address: addressOf(wallet) }),
    signingKey: {
      scheme: 'ECDSA',
      curve: 'secp256k1',
      publicKey: Buffer.from(publicKey).toString('hex'),
    },
    status: 'Active',
    dateCreated: walletDate,
    ...(wallet.name === undefined ? {} : { name: wallet.name }),
    custodial: true,
    tags: wallet.tags,
  };
}

/** Lower case, as the provider shows it. */
function addressOf(wallet: Wallet): string {
  return computeAddress(wallet.privateKey).toLowerCase();
}

export function showUser(account: Account, orgId: string): unknown {
  return {
    username: account.username,
    name: account.name,
    userId: account.userId,
    kind: 'CustomerEmployee',
    credentialUuid: account.credentialId,
    orgId,
    permissions: [],
    scopes: [],
    isActive: account.isActive,
    isServiceAccount: account.isServiceAccount,
    isRegistered: true,
    permissionAssignments: account.permissionAssignments,
  };
}

export function showSignatureRequest(record: SignatureRecord, sources: Sources): unknown {
  const { config, settings } = sources;
  const wallet = config.wallets.find(({ id }) => id === record.walletId);
  const { externalId } = record.body;
  return withoutUndefined({
    id: record.id,
    walletId: record.walletId,
    network: wallet?.network,
    requester: { userId: record.requesterId },
    requestBody: settings.foreignBody ? createForeignBody(record.body) : record.body,
    status: record.status,
    reason: record.reason,
    signature:
      record.signature === undefined ? undefined : showSignature(record.signature, record.form),
    signedData: record.signedData,
    txHash: record.txHash,
    approvalId: record.approvalId,
    dateRequested: record.dateRequested,
    datePolicyResolved: record.datePolicyResolved,
    dateSigned: record.dateSigned,
    dateConfirmed: record.dateConfirmed,
    externalId,
  });
}

/** A body that signs another digest. */
function createForeignBody(body: SignatureBody): SignatureBody {
  switch (body.kind) {
    case 'Eip712':
      return { ...body, domain: { ...body.domain, version: `${body.domain.version ?? ''}0` } };
    case 'Eip191':
      return { ...body, message: `${body.message}00` };
    case 'Hash':
      return { ...body, hash: body.hash.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) };
    case 'Transaction':
      return { ...body, transaction: body.transaction.replace(/..$/, '') };
  }
}

export function showApproval(approval: ApprovalRecord, sources: Sources): unknown {
  return withoutUndefined({
    id: approval.id,
    initiatorId: approval.initiatorId,
    activity: showActivity(approval, sources),
    status: approval.status,
    expirationDate:
      approval.expiresAt === undefined ? undefined : new Date(approval.expiresAt).toISOString(),
    dateCreated: approval.dateCreated,
    dateUpdated: approval.dateUpdated,
    dateResolved: approval.dateResolved,
    policyEvaluations: approval.policyEvaluations,
    decisions: approval.decisions,
  });
}

function showActivity({ subject }: ApprovalRecord, sources: Sources): unknown {
  const { state } = sources;
  switch (subject.kind) {
    case 'Wallets:Sign': {
      const record = state.signatures.find(({ id }) => id === subject.signatureId);
      return {
        kind: subject.kind,
        ...(record === undefined
          ? {}
          : { signatureRequest: showSignatureRequest(record, sources) }),
      };
    }
    case 'Policies:Modify':
      return {
        kind: subject.kind,
        changeRequest: state.changeRequests.find(({ id }) => id === subject.changeRequestId),
      };
    case 'other':
      return subject.activity;
  }
}

function withoutUndefined(fields: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
