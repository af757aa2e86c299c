/**
 * `approve pending` and `approve manifests`: what waits, and what is stored.
 *
 * @module
 */
import { decisionReasons, type Ledger, type StoredManifest } from '@pool/policy';
import { findManifestState } from '../gate/manifest-state.ts';
import { withLedger } from './open-files.ts';
import { type CommandContext, type CommonOptions, exitCodes, print } from './output.ts';

/** Requests that wait, with what ends the wait, and votes that the custodian has not shown yet. @returns the exit code */
export async function runPending(options: CommonOptions, context: CommandContext): Promise<number> {
  return await withLedger(context, options, (ledger) => {
    const waiting = ledger.listWaiting().map((one) => ({
      requestId: one.requestId,
      kind: one.kind,
      manifestDigest: one.manifestDigest ?? null,
      reason: one.reason,
      message: decisionReasons[one.reason],
      since: new Date(one.sinceMs).toISOString(),
      ...describeBatch(ledger, one.manifestDigest),
    }));
    const openVotes = ledger.listOpenVotes().map(({ requestId, kind, value, decidedAtMs }) => ({
      requestId,
      kind,
      value,
      decidedAt: new Date(decidedAtMs).toISOString(),
    }));
    const lines = [
      ...waiting.map(
        (one) =>
          `${one.since}  ${one.kind}  ${one.manifestDigest ?? one.requestId}  ${describeTotal(one)}${one.message} (${one.reason})`,
      ),
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

function describeBatch(
  ledger: Ledger,
  manifestDigest: StoredManifest['manifestDigest'] | undefined,
) {
  const stored = ledger.listManifests().find((one) => one.manifestDigest === manifestDigest);
  return stored?.batch === undefined
    ? {}
    : { total: String(stored.batch.total), token: stored.token, jobKey: stored.batch.jobKey };
}

function describeTotal(one: { readonly total?: string; readonly token?: string }): string {
  return one.total === undefined ? '' : `total ${one.total} base units of ${one.token}: `;
}

/** Every stored manifest and what became of it. @returns the exit code */
export async function runManifests(
  options: CommonOptions,
  context: CommandContext,
): Promise<number> {
  return await withLedger(context, options, (ledger) => {
    const manifests = ledger.listManifests().map((stored) => ({
      manifestDigest: stored.manifestDigest,
      kind: stored.kind,
      receivedAt: new Date(stored.receivedAtMs).toISOString(),
      deadline: stored.deadline,
      isErased: stored.isErased,
      ...describeBatch(ledger, stored.manifestDigest),
      ...findManifestState(ledger, stored.manifestDigest),
    }));
    const lines = manifests.map(
      ({ receivedAt, kind, manifestDigest, state, reason }) =>
        `${receivedAt}  ${kind}  ${manifestDigest}  ${state}${reason === undefined ? '' : ` (${reason})`}`,
    );
    const text = lines.length === 0 ? 'No manifest is stored.' : lines.join('\n');
    print(context, options, { manifests }, text);
    return exitCodes.ok;
  });
}
