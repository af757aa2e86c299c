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
import { findManifestState, heldReasons } from '../judge/manifest-state.ts';
import { describePeople, renderPeople } from './describe-people.ts';
import { type CommandContext, type CommonOptions, exitCodes, print, withLedger } from './output.ts';

/** Requests that wait, with what ends the wait, and votes that the custodian has not shown yet. @returns the exit code */
export async function runPending(options: CommonOptions, context: CommandContext): Promise<number> {
  return await withLedger(context, options, (ledger, { policyFile }) => {
    const policy = findPolicy(policyFile, context);
    const nowMs = context.nowMs();
    const waiting = ledger.read((view) =>
      ledger.listWaiting().map((one) => describeWaiting(one, view, policy, nowMs)),
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
    const text = lines.length === 0 ? 'Nothing waits.' : lines.join('\n');
    print(context, options, { waiting, openVotes }, text);
    return exitCodes.ok;
  });
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
function findPolicy(path: string, { streams }: CommandContext): Policy | undefined {
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

/** Every stored manifest and what became of it. @returns the exit code */
export async function runManifests(
  options: CommonOptions,
  context: CommandContext,
): Promise<number> {
  return await withLedger(context, options, (ledger, { policyFile }) => {
    const manifests = describeManifests(ledger, findPolicy(policyFile, context));
    const lines = manifests.map(
      ({ receivedAt, kind, manifestDigest, state, reason, ...rest }) =>
        `${receivedAt}  ${kind}  ${manifestDigest}  ${'totalText' in rest ? `total ${rest.totalText}  ` : ''}${state}${reason === undefined ? '' : ` (${reason})`}`,
    );
    const text = lines.length === 0 ? 'No manifest is stored.' : lines.join('\n');
    print(context, options, { manifests }, text);
    return exitCodes.ok;
  });
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
