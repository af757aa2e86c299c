/**
 * What the simulator remembers: requests for signatures, approvals, policies and changes of them. Plain JSON, so
 * that a file can keep it over a restart.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { ParsedConfig, Webhook } from './config.ts';
import type { SignatureBody } from './digest.ts';
import type { ApprovalGroup, Evaluation, Policy, PolicyBody } from './policies.ts';
import type { SignatureForm } from './settings.ts';
import type { RawSignature } from './sign.ts';

export type SignatureStatus =
  | 'Pending'
  | 'Executing'
  | 'Signed'
  | 'Confirmed'
  | 'Failed'
  | 'Rejected';

export type SignatureRecord = {
  readonly id: string;
  readonly walletId: string;
  readonly requesterId: string;
  readonly body: SignatureBody;
  status: SignatureStatus;
  /** Reads that still answer `Executing`. */
  readsLeft: number;
  reason?: string;
  approvalId?: string;
  signature?: RawSignature;
  form: SignatureForm;
  /** The signed transaction, for `Transaction`. */
  signedData?: string;
  txHash?: string;
  readonly dateRequested: string;
  datePolicyResolved?: string;
  dateSigned?: string;
  dateConfirmed?: string;
};

export type ChangeRequest = {
  readonly id: string;
  readonly kind: 'Policy';
  readonly operationKind: 'Update' | 'Delete';
  readonly requester: { readonly userId: string };
  status: 'Pending' | 'Applied' | 'Failed' | 'Rejected';
  readonly entityId: string;
  approvalId?: string;
  readonly dateCreated: string;
  dateResolved?: string;
  readonly body: PolicyBody | Record<string, never>;
};

/** What an approval is about. `other` is put there by the control API and executes nothing. */
export type ApprovalSubject =
  | { readonly kind: 'Wallets:Sign'; readonly signatureId: string }
  | { readonly kind: 'Policies:Modify'; readonly changeRequestId: string }
  | { readonly kind: 'other'; readonly activity: Readonly<Record<string, unknown>> };

export type Decision = {
  readonly userId: string;
  readonly date: string;
  readonly reason: string | null;
  readonly value: 'Approved' | 'Denied';
};

export type ApprovalRecord = {
  readonly id: string;
  readonly initiatorId: string;
  readonly subject: ApprovalSubject;
  status: 'Pending' | 'Approved' | 'Denied' | 'Expired';
  /** Milliseconds since 1970. */
  expiresAt?: number;
  readonly dateCreated: string;
  dateUpdated: string;
  dateResolved?: string;
  readonly groups: readonly ApprovalGroup[];
  readonly policyEvaluations: Evaluation['policyEvaluations'];
  readonly decisions: Decision[];
};

export type State = {
  signatures: SignatureRecord[];
  approvals: ApprovalRecord[];
  changeRequests: ChangeRequest[];
  policies: Policy[];
  webhooks: Webhook[];
  /** How far the simulator's clock is ahead. */
  clockOffsetMs: number;
  /** Counts answers that alternate. */
  turns: number;
};

export type Store = {
  readonly state: State;
  save(): void;
  /** Back to the configuration; removes the file. */
  reset(): void;
};

export function createStore(config: ParsedConfig): Store {
  const { stateFile } = config;
  const fresh = (): State => ({
    signatures: [],
    approvals: [],
    changeRequests: [],
    policies: structuredClone(config.policies),
    webhooks: structuredClone(config.webhooks),
    clockOffsetMs: 0,
    turns: 0,
  });
  const state =
    stateFile !== undefined && existsSync(stateFile)
      ? (JSON.parse(readFileSync(stateFile, 'utf8')) as State)
      : fresh();
  let saved = '';
  return {
    state,
    save() {
      const text = stateFile === undefined ? '' : JSON.stringify(state);
      if (stateFile !== undefined && text !== saved) {
        writeFileSync(`${stateFile}.new`, text, { mode: 0o600 });
        renameSync(`${stateFile}.new`, stateFile);
        saved = text;
      }
    },
    reset() {
      Object.assign(state, fresh());
      if (stateFile !== undefined) {
        rmSync(stateFile, { force: true });
        saved = '';
      }
    },
  };
}

/** Ids in the provider's form: a prefix and three groups. */
export function createId(prefix: 'sig' | 'ap' | 'cr' | 'plc' | 'whe'): string {
  const hex = randomBytes(13).toString('hex');
  return `${prefix}-${hex.slice(0, 5)}-${hex.slice(5, 10)}-${hex.slice(10)}`;
}
