/**
 * `approve pending` and `approve manifests`: what waits, for whom, and what is stored.
 *
 * @module
 */
import { isPoolError } from '@pool/core';
import {
  describeAmount,
  findTokenUnit,
  type Ledger,
  type LedgerView,
  type Policy,
  type StoredManifest,
  type WaitingRequest,
} from '@pool/policy';
import { readPolicyFile } from '../config/settings-files.ts';
import { findManifestState, heldReasons } from '../judge/intake.ts';
import { describePeople, renderPeople } from './describe-payment.ts';
import type { LedgerCall, Outcome } from './output.ts';

/** Requests that wait, with what ends the wait, and votes that the custodian has not shown yet. */
export function runPending({ ledger, policyFile, streams, nowMs }: LedgerCall): Outcome {
  const policy = findPolicy(policyFile, streams);
  const waiting = ledger.read((view) =>
    ledger.listWaiting().map((one) => describeWaiting(one, view, policy, nowMs())),
  );
  const openVotes = ledger.listOpenVotes().map(({ requestId, kind, value, decidedAtMs }) => ({
    requestId,
    kind,
    value,
    decidedAt: new Date(decidedAtMs).toISOString(),
  }));
  const lines = [
    ...waiting.flatMap((one) => [
      `${one.since}  ${one.kind}  ${one.manifestDigest ?? one.requestId}  ${'totalText' in one ? `total ${one.totalText}: ` : ''}${one.message} (${one.reason})`,
      ...(one.people === undefined ? [] : [`    ${renderPeople(one.people)}`]),
    ]),
    ...openVotes.map(
      (vote) =>
        `${vote.decidedAt}  ${vote.kind}  ${vote.requestId}  voted ${vote.value}; the custodian has not shown it yet`,
    ),
  ];
  return { document: { waiting, openVotes }, text: lines.join('\n') || 'Nothing waits.' };
}

function describeWaiting(
  { requestId, kind, manifestDigest, reason, message, sinceMs }: WaitingRequest,
  view: LedgerView,
  policy: Policy | undefined,
  nowMs: number,
) {
  const stored = manifestDigest === undefined ? undefined : view.findManifest(manifestDigest);
  const people =
    stored === undefined || policy === undefined || !heldReasons.has(reason)
      ? undefined
      : describePeople(stored, view, policy, nowMs);
  return {
    requestId,
    kind,
    manifestDigest: manifestDigest ?? null,
    reason,
    message,
    since: new Date(sinceMs).toISOString(),
    ...(stored === undefined ? {} : describeBatch(stored, policy)),
    ...(people === undefined ? {} : { people }),
  };
}

function describeBatch(stored: StoredManifest, policy: Policy | undefined) {
  const { batch, token } = stored;
  return batch === undefined
    ? {}
    : {
        total: String(batch.total),
        totalText: describeAmount(batch.total, findTokenUnit(policy, stored)),
        token,
        jobKey: batch.jobKey,
      };
}

/** These lists are for the moment when something is wrong, so they do not depend on the policy file. */
function findPolicy(path: string, streams: LedgerCall['streams']): Policy | undefined {
  try {
    return readPolicyFile(path).policy;
  } catch (error) {
    if (!isPoolError(error)) {
      throw error;
    }
    streams.err(
      `${error.code}: ${error.message}\nWithout the policy, amounts are base units, and the people who may release are not known.`,
    );
    return undefined;
  }
}

/** Every stored manifest and what became of it. */
export function runManifests({ ledger, policyFile, streams }: LedgerCall): Outcome {
  const manifests = describeManifests(ledger, findPolicy(policyFile, streams));
  const lines = manifests.map(
    ({ receivedAt, kind, manifestDigest, state, reason, ...rest }) =>
      `${receivedAt}  ${kind}  ${manifestDigest}  ${'totalText' in rest ? `total ${rest.totalText}  ` : ''}${state}${reason === undefined ? '' : ` (${reason})`}`,
  );
  return { document: { manifests }, text: lines.join('\n') || 'No manifest is stored.' };
}

/** Reads each list once: a ledger has up to 10,000 files, and more manifests without one. */
export function describeManifests(
  ledger: Pick<Ledger, 'listManifests' | 'listWaiting' | 'listVotes'>,
  policy: Policy | undefined,
) {
  const waiting = ledger.listWaiting();
  return ledger.listManifests().map((stored) => ({
    manifestDigest: stored.manifestDigest,
    kind: stored.kind,
    receivedAt: new Date(stored.receivedAtMs).toISOString(),
    deadline: stored.deadline,
    isErased: stored.isErased,
    ...describeBatch(stored, policy),
    ...findManifestState(ledger, stored.manifestDigest, waiting),
  }));
}
