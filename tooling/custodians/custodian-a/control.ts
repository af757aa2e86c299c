/**
 * What a test or a demonstration does to the simulator from outside: votes of other people, time, faults, other
 * policies, a look at what was received.
 *
 * @module
 */
import type { Clock } from './clock.ts';
import type { Account, ParsedConfig, Webhook } from './config.ts';
import type { Engine } from './engine.ts';
import type { FaultInput, Faults } from './faults.ts';
import type { ApprovalGroup, Policy } from './policies.ts';
import { applySettings, createSettings, type Settings, type SettingsPatch } from './settings.ts';
import type { ApprovalRecord, Decision, SignatureRecord, State, Store } from './store.ts';
import type { UserActions } from './user-actions.ts';
import type { Delivery, Webhooks } from './webhooks.ts';

/** One request to the provider's routes, in the order of arrival. */
export type ReceivedRequest = {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** As text; empty for none. */
  readonly body: string;
  /** Of the bearer token. */
  readonly userId: string | undefined;
  /** undefined: no answer was sent, or not yet. */
  status: number | undefined;
};

export type CustodianAControl = {
  readonly state: State;
  /** All requests, or those of one method and path (a regular expression). */
  requests(filter?: { readonly method?: string; readonly path?: string }): ReceivedRequest[];
  clearRequests(): void;
  changeSettings(patch: SettingsPatch): Settings;
  addFault(fault: FaultInput): void;
  clearFaults(): void;
  /** The faults that still wait for a request. */
  pendingFaults(): number;
  /** Approvals whose time is over expire at once. */
  advanceClock(seconds: number): void;
  setClockScale(scale: number): void;
  /** A vote of any user. An approval counts only where a group admits the account. */
  vote(
    approvalId: string,
    userId: string,
    value: Decision['value'],
    reason?: string,
  ): ApprovalRecord;
  expire(approvalId: string): ApprovalRecord;
  /**
   * A pending approval of any activity, such as `Permissions:Assign`.
   * @param groups who votes; by default the groups of every policy of this kind, whatever its filters say
   */
  addApproval(
    initiatorId: string,
    activity: { readonly kind: Policy['activityKind'] } & Readonly<Record<string, unknown>>,
    groups?: readonly ApprovalGroup[],
  ): ApprovalRecord;
  replacePolicies(policies: readonly Policy[]): void;
  replaceWebhooks(webhooks: readonly Webhook[]): void;
  changeAccount(
    userId: string,
    change: { readonly isActive?: boolean; readonly operations?: readonly string[] },
  ): Account;
  flushWebhooks(): Promise<Delivery[]>;
  deliveries(): readonly Delivery[];
  findSignature(id: string): SignatureRecord | undefined;
  /** Back to the configuration. */
  reset(): void;
};

export function createControl(deps: {
  readonly config: ParsedConfig;
  readonly store: Store;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly engine: Engine;
  readonly faults: Faults;
  readonly userActions: UserActions;
  readonly webhooks: Webhooks;
  readonly received: ReceivedRequest[];
}): CustodianAControl {
  const { config, store, settings, clock, engine, faults, userActions, webhooks, received } = deps;
  const { state } = store;
  const configuredAccounts = structuredClone(config.accounts);

  function findApproval(approvalId: string): ApprovalRecord {
    const approval = state.approvals.find(({ id }) => id === approvalId);
    if (approval === undefined) {
      throw new Error(`there is no approval ${approvalId}`);
    }
    return approval;
  }

  function saved<T>(result: T): T {
    store.save();
    return result;
  }

  return {
    state,
    requests: ({ method, path } = {}) =>
      received.filter(
        (request) =>
          (method === undefined || request.method === method) &&
          (path === undefined || new RegExp(path).test(request.path)),
      ),
    clearRequests() {
      received.length = 0;
    },
    changeSettings: (patch) => applySettings(settings, patch),
    addFault: (fault) => {
      faults.add(fault);
    },
    clearFaults: () => {
      faults.clear();
    },
    pendingFaults: () => faults.pending(),
    advanceClock(seconds) {
      clock.advance(seconds * 1_000);
      state.clockOffsetMs = clock.offset();
      engine.settle();
      store.save();
    },
    setClockScale: (scale) => {
      clock.setScale(scale);
    },
    vote(approvalId, userId, value, reason) {
      const approval = findApproval(approvalId);
      engine.recordVote(approval, { userId, value, reason: reason ?? null });
      return saved(approval);
    },
    expire(approvalId) {
      const approval = findApproval(approvalId);
      engine.expire(approval);
      return saved(approval);
    },
    addApproval(initiatorId, activity, groups) {
      const ofKind = state.policies.flatMap(({ activityKind, action }) =>
        activityKind === activity.kind && action.kind === 'RequestApproval' ? [action] : [],
      );
      return saved(
        engine.createForeignApproval(initiatorId, activity, {
          blocked: false,
          groups: groups ?? ofKind.flatMap(({ approvalGroups }) => approvalGroups),
          timeoutMinutes: undefined,
          policyEvaluations: [],
        }),
      );
    },
    replacePolicies(policies) {
      state.policies = structuredClone([...policies]);
      store.save();
    },
    replaceWebhooks(next) {
      state.webhooks = structuredClone([...next]);
      store.save();
    },
    changeAccount(userId, { isActive, operations }) {
      const account = config.accounts.find((each) => each.userId === userId);
      if (account === undefined) {
        throw new Error(`there is no user ${userId}`);
      }
      if (isActive !== undefined) {
        account.isActive = isActive;
      }
      if (operations !== undefined) {
        account.permissionAssignments = [
          {
            permissionId: 'pm-00000-contr-0000000000000000',
            permissionName: 'Control',
            assignmentId: 'as-00000-contr-0000000000000000',
            operations: [...operations],
          },
        ];
      }
      return account;
    },
    flushWebhooks: () => webhooks.flush(),
    deliveries: () => webhooks.deliveries(),
    findSignature: (id) => state.signatures.find((record) => record.id === id),
    reset() {
      store.reset();
      config.accounts = structuredClone(configuredAccounts);
      Object.assign(settings, createSettings(config.settings));
      clock.setScale(1);
      clock.advance(-clock.offset());
      faults.clear();
      userActions.reset();
      webhooks.reset();
      received.length = 0;
    },
  };
}
