/**
 * What the custodian does: takes requests, evaluates policies, counts votes, lets approvals expire, signs.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from './clock.ts';
import type { Account, ParsedConfig, Wallet } from './config.ts';
import { computeDigest, type SignatureBody } from './digest.ts';
import { ApiError } from './errors.ts';
import {
  type Evaluation,
  evaluatePolicies,
  isApproved,
  mayApprove,
  type Policy,
  type PolicyBody,
} from './policies.ts';
import type { Settings, SignatureForm } from './settings.ts';
import { showApproval, showSignatureRequest } from './show.ts';
import { signDigest, signTransaction } from './sign.ts';
import {
  type ApprovalRecord,
  type ApprovalSubject,
  type ChangeRequest,
  createId,
  type Decision,
  type SignatureRecord,
  type State,
} from './store.ts';
import type { WebhookKind, Webhooks } from './webhooks.ts';

export type Engine = {
  /**
   * Takes a request for a signature, or finds the one with its externalId.
   * @throws ApiError 409 when another request has the externalId
   */
  createSignature(
    account: Account,
    wallet: Wallet,
    body: SignatureBody,
  ): { readonly record: SignatureRecord; readonly isNew: boolean };
  /** A read: one step from `Executing` to signed. */
  readSignature(record: SignatureRecord): void;
  /** @throws ApiError 403 when this account may not vote, 409 when it has voted, 412 when nothing is pending */
  decide(
    account: Account,
    approval: ApprovalRecord,
    vote: { readonly value: Decision['value']; readonly reason: string | null },
  ): void;
  /** A vote without any check of who votes. */
  recordVote(approval: ApprovalRecord, decision: Omit<Decision, 'date'>): void;
  /** @returns the changed policy, or a request for the change that waits for an approval */
  changePolicy(
    account: Account,
    policy: Policy,
    change: PolicyBody | 'delete',
  ): { readonly policy: Policy } | { readonly changeRequest: ChangeRequest };
  /** An approval of another activity; nothing executes when it is approved. */
  createForeignApproval(
    initiatorId: string,
    activity: Readonly<Record<string, unknown>>,
    evaluation: Evaluation,
  ): ApprovalRecord;
  expire(approval: ApprovalRecord): void;
  /** Lets approvals expire whose time is over. */
  settle(): void;
};

export function createEngine(deps: {
  readonly config: ParsedConfig;
  readonly state: State;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly webhooks: Webhooks;
}): Engine {
  const { config, state, settings, clock, webhooks } = deps;

  function emitSignature(kind: WebhookKind, record: SignatureRecord): void {
    webhooks.emit(kind, { signatureRequest: showSignatureRequest(record, deps) });
  }

  function emitApproval(kind: WebhookKind, approval: ApprovalRecord): void {
    webhooks.emit(kind, { approval: showApproval(approval, deps) });
  }

  function findWallet(walletId: string): Wallet {
    const wallet = config.wallets.find(({ id }) => id === walletId);
    if (wallet === undefined) {
      throw new ApiError(404, 'wallet not found', { walletId });
    }
    return wallet;
  }

  function nextForm(): SignatureForm {
    if (settings.signatureForm !== 'mixed') {
      return settings.signatureForm;
    }
    const forms = ['canonical', 'no-prefix', 'no-recid', 'short'] as const;
    return forms[state.turns++ % forms.length] ?? 'canonical';
  }

  function execute(record: SignatureRecord): void {
    record.status = 'Executing';
    record.readsLeft = settings.executingReads;
    if (record.readsLeft === 0) {
      finish(record);
    }
  }

  function finish(record: SignatureRecord): void {
    if (settings.failSigning) {
      record.status = 'Failed';
      record.reason = 'The signature could not be generated.';
      emitSignature('wallet.signature.failed', record);
      return;
    }
    sign(record);
    record.status = 'Signed';
    record.dateSigned = clock.date();
    if (record.body.kind === 'Transaction' && takesConfirmed()) {
      record.status = 'Confirmed';
      record.dateConfirmed = record.dateSigned;
    }
    emitSignature('wallet.signature.signed', record);
  }

  function takesConfirmed(): boolean {
    return settings.transactionEnd === 'mixed'
      ? state.turns++ % 2 === 0
      : settings.transactionEnd === 'Confirmed';
  }

  function sign(record: SignatureRecord): void {
    const { body } = record;
    record.form = nextForm();
    const signature = signDigest(computeDigest(body), findWallet(record.walletId).privateKey, {
      highS: settings.highS,
      signer: settings.signer,
      form: record.form,
    });
    record.signature = signature;
    if (body.kind === 'Transaction') {
      const transaction = signTransaction(body.transaction, signature);
      record.signedData = transaction.serialized;
      record.txHash = transaction.hash ?? '';
    }
  }

  function reject(record: SignatureRecord, reason: string): void {
    record.status = 'Rejected';
    record.reason = reason;
    emitSignature('wallet.signature.rejected', record);
  }

  function createApproval(
    initiatorId: string,
    subject: ApprovalSubject,
    evaluation: Evaluation,
  ): ApprovalRecord {
    const time = clock.now();
    const now = new Date(time).toISOString();
    const approval: ApprovalRecord = {
      id: createId('ap'),
      initiatorId,
      subject,
      status: 'Pending',
      dateCreated: now,
      dateUpdated: now,
      groups: evaluation.groups,
      policyEvaluations: evaluation.policyEvaluations,
      decisions: [],
    };
    if (evaluation.timeoutMinutes !== undefined) {
      approval.expiresAt = time + evaluation.timeoutMinutes * 60_000;
    }
    state.approvals.push(approval);
    return approval;
  }

  function resolve(approval: ApprovalRecord, status: 'Approved' | 'Denied' | 'Expired'): void {
    const now = clock.date();
    approval.status = status;
    approval.dateUpdated = now;
    approval.dateResolved = now;
    const { subject } = approval;
    if (subject.kind === 'Wallets:Sign') {
      const record = state.signatures.find(({ id }) => id === subject.signatureId);
      if (record !== undefined) {
        record.datePolicyResolved = now;
        if (status === 'Approved') {
          execute(record);
        } else {
          reject(
            record,
            status === 'Denied' ? 'The approval was denied.' : 'The approval expired.',
          );
        }
      }
    } else if (subject.kind === 'Policies:Modify') {
      const change = state.changeRequests.find(({ id }) => id === subject.changeRequestId);
      if (change !== undefined) {
        change.status = status === 'Approved' ? 'Applied' : 'Rejected';
        change.dateResolved = now;
        if (status === 'Approved') {
          applyChange(change);
        }
      }
    }
    emitApproval('policy.approval.resolved', approval);
  }

  function applyChange({ entityId, operationKind, body }: Omit<ChangeRequest, 'id'>): void {
    const index = state.policies.findIndex(({ id }) => id === entityId);
    const before = state.policies[index];
    if (before !== undefined) {
      const dateUpdated = clock.date();
      state.policies[index] =
        operationKind === 'Delete'
          ? { ...before, status: 'Archived', dateUpdated }
          : { ...(body as PolicyBody), id: entityId, status: before.status, dateUpdated };
    }
  }

  function recordVote(approval: ApprovalRecord, decision: Omit<Decision, 'date'>): void {
    const date = clock.date();
    approval.decisions.push({ ...decision, date });
    approval.dateUpdated = date;
    if (decision.value === 'Denied') {
      resolve(approval, 'Denied');
      return;
    }
    const approvers = approval.decisions.flatMap(({ userId }) =>
      config.accounts.filter((account) => account.userId === userId),
    );
    if (isApproved(approval.groups, approvers, approval.initiatorId)) {
      resolve(approval, 'Approved');
    }
  }

  function evaluateWallet(wallet: Wallet): Evaluation {
    return evaluatePolicies(state.policies, {
      activityKind: 'Wallets:Sign',
      walletId: wallet.id,
      walletTags: wallet.tags,
    });
  }

  return {
    createSignature(account, wallet, body) {
      const { externalId } = body;
      const existing =
        externalId === undefined
          ? undefined
          : state.signatures.find((record) => record.body.externalId === externalId);
      if (existing !== undefined) {
        if (existing.walletId === wallet.id && isDeepStrictEqual(existing.body, body)) {
          return { record: existing, isNew: false };
        }
        throw new ApiError(409, 'Conflicting signature with same externalId', {
          duplicate: { id: existing.id, externalId },
        });
      }
      const evaluation = evaluateWallet(wallet);
      const record: SignatureRecord = {
        id: createId('sig'),
        walletId: wallet.id,
        requesterId: account.userId,
        body,
        status: 'Pending',
        readsLeft: 0,
        form: 'canonical',
        dateRequested: clock.date(),
      };
      state.signatures.push(record);
      emitSignature('wallet.signature.requested', record);
      if (evaluation.blocked) {
        reject(record, 'A policy blocks this activity.');
      } else if (evaluation.groups.length === 0) {
        execute(record);
      } else {
        const approval = createApproval(
          account.userId,
          { kind: 'Wallets:Sign', signatureId: record.id },
          evaluation,
        );
        record.approvalId = approval.id;
        emitApproval('policy.approval.pending', approval);
      }
      return { record, isNew: true };
    },

    readSignature(record) {
      if (record.status === 'Executing') {
        if (record.readsLeft === 0) {
          finish(record);
        } else {
          record.readsLeft -= 1;
        }
      } else if (record.signature !== undefined && settings.resignOnRead) {
        sign(record);
      }
    },

    decide(account, approval, { value, reason }) {
      if (approval.status !== 'Pending') {
        throw new ApiError(412, `approval is ${approval.status}`, { approvalId: approval.id });
      }
      if (approval.decisions.some(({ userId }) => userId === account.userId)) {
        throw new ApiError(409, 'user has already given a decision', { approvalId: approval.id });
      }
      const isInitiator = account.userId === approval.initiatorId;
      const isApprover = approval.groups.some((group) =>
        mayApprove(group, account, approval.initiatorId),
      );
      // The initiator cancels its own request, whatever its groups say.
      if (!isApprover && !(isInitiator && value === 'Denied')) {
        throw new ApiError(403, `${account.userId} is not an approver of ${approval.id}`);
      }
      recordVote(approval, { userId: account.userId, value, reason });
    },

    recordVote,

    changePolicy(account, policy, change) {
      const evaluation = evaluatePolicies(state.policies, {
        activityKind: 'Policies:Modify',
        policyId: policy.id,
      });
      const changeRequest: ChangeRequest = {
        id: createId('cr'),
        kind: 'Policy',
        operationKind: change === 'delete' ? 'Delete' : 'Update',
        status: 'Pending',
        requester: { userId: account.userId },
        entityId: policy.id,
        dateCreated: clock.date(),
        body: change === 'delete' ? {} : change,
      };
      if (evaluation.blocked) {
        throw new ApiError(403, 'A policy blocks this activity.');
      }
      if (evaluation.groups.length === 0) {
        applyChange(changeRequest);
        return { policy: state.policies.find(({ id }) => id === policy.id) ?? policy };
      }
      state.changeRequests.push(changeRequest);
      const approval = createApproval(
        account.userId,
        { kind: 'Policies:Modify', changeRequestId: changeRequest.id },
        evaluation,
      );
      changeRequest.approvalId = approval.id;
      emitApproval('policy.approval.pending', approval);
      return { changeRequest };
    },

    createForeignApproval(initiatorId, activity, evaluation) {
      const approval = createApproval(initiatorId, { kind: 'other', activity }, evaluation);
      emitApproval('policy.approval.pending', approval);
      return approval;
    },

    expire(approval) {
      if (approval.status === 'Pending') {
        resolve(approval, 'Expired');
      }
    },

    settle() {
      for (const approval of state.approvals) {
        if (
          approval.status === 'Pending' &&
          approval.expiresAt !== undefined &&
          approval.expiresAt <= clock.now()
        ) {
          resolve(approval, 'Expired');
        }
      }
    },
  };
}
