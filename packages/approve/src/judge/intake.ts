/**
 * Takes the manifests that the agent posts. A manifest is parsed strictly, rebuilt once with the evidence of every recipient, and stored
 * by its digest; the same again changes nothing. Two posts of one manifest at once are one rebuild.
 *
 * @module
 */
import {
  type ErrorCode,
  type Hex32,
  type ManifestFile,
  manifestFileSchema,
  PoolError,
  parseWire,
} from '@pool/core';
import {
  type DecisionReason,
  decideIntake,
  decisionReasons,
  type Ledger,
  listFactQuestions,
  type Policy,
  type StoredManifest,
} from '@pool/policy';
import { listClockPlaces } from '../config/settings-files.ts';
import type { FactSource } from './facts.ts';
import type { Rebuilds } from './rebuilds.ts';

// What became of a stored manifest, from the ledger's votes and waiting requests.

/**
 * - `pending`: stored; nothing was asked for it, or a fact is missing
 * - `held`: people must release it
 * - `approved`: the gate voted yes
 * - `denied`: the gate voted no, or a person did
 */
type ManifestState = 'pending' | 'held' | 'approved' | 'denied';

type StateOfManifest = {
  readonly state: ManifestState;
  readonly reason?: string;
  readonly message?: string;
};

/** Reasons that people end. */
export const heldReasons: ReadonlySet<string> = new Set([
  'hold-amount',
  'hold-new-payee',
  'hold-duplicate-roster',
  'hold-unknown-roster',
  'hold-denied-roster',
]);

/** Votes and waits about the payment itself; a withdrawal, a permit or an approval says nothing about it. */
const paymentKinds: ReadonlySet<string> = new Set(['fund-authorization', 'spend']);

/** @param waiting - for a caller that asks about many manifests */
export function findManifestState(
  ledger: Pick<Ledger, 'listVotes' | 'listWaiting'>,
  manifestDigest: Hex32,
  waiting = ledger.listWaiting(),
): StateOfManifest {
  const votes = ledger.listVotes(manifestDigest).filter(({ kind }) => paymentKinds.has(kind));
  if (votes.some(({ value }) => value === 'approve')) {
    return { state: 'approved' };
  }
  const denied = votes.at(-1);
  if (denied !== undefined) {
    const { reason = 'denied' } = denied;
    return { state: 'denied', reason, message: decisionReasons[reason] };
  }
  const wait = waiting.find(
    (one) => one.manifestDigest === manifestDigest && paymentKinds.has(one.kind),
  );
  if (wait === undefined) {
    return { state: 'pending' };
  }
  const { reason } = wait;
  return {
    state: heldReasons.has(reason) ? 'held' : 'pending',
    reason,
    message: decisionReasons[reason],
  };
}

/** What the agent reads. */
export type ManifestReceipt = {
  readonly manifestDigest: Hex32;
  readonly state: ManifestState;
  /** Why it waits or was denied: a code, and a sentence. */
  readonly reason?: string;
  readonly message?: string;
};

export type Intake = ReturnType<typeof createIntake>;

/** Posts that wait for their turn: a minute of rebuilding, and at most 2 MiB each. */
const maxQueued = 64;

export function createIntake(deps: {
  readonly ledger: Ledger;
  readonly policy: () => Policy;
  readonly rebuilds: Rebuilds;
  readonly facts: FactSource;
  readonly nowMs: () => number;
  /** Called when a manifest is new, so that its request is looked for at once. */
  readonly onStored?: (manifest: StoredManifest) => void;
}) {
  const { ledger, nowMs } = deps;
  let last: Promise<unknown> = Promise.resolve();
  let queued = 0;

  function report(manifestDigest: Hex32): ManifestReceipt {
    return { manifestDigest, ...findManifestState(ledger, manifestDigest) };
  }

  /** One policy for all of it: evidence, what is asked, and the decision. */
  async function store(file: ManifestFile): Promise<ManifestReceipt> {
    const policy = deps.policy();
    const rebuilt = await deps.rebuilds.rebuild(file);
    const questions = ledger.read((view) => listFactQuestions(rebuilt, view));
    const places = listClockPlaces(policy, rebuilt.chainId);
    const clock = await deps.facts.readClock(places);
    const now = nowMs();
    const facts = { ...(await deps.facts.read(questions, now)), clock };
    if (deps.policy() !== policy) {
      // It was read again meanwhile.
      return await store(file);
    }
    const result = ledger.storeManifest(rebuilt, now, (view) =>
      decideIntake({ manifest: rebuilt, policy, ledger: view, facts, nowMs: now }),
    );
    switch (result.kind) {
      case 'stored':
        deps.rebuilds.keep(rebuilt);
        deps.onStored?.(result.manifest);
        return report(rebuilt.manifestDigest);
      case 'known':
        deps.rebuilds.keep(rebuilt);
        return report(rebuilt.manifestDigest);
      case 'refused':
        throw new PoolError(refusalCodes[result.reason] ?? 'manifest_refused', describe(result));
      case 'later':
        throw new PoolError('manifest_not_ready', describe(result));
    }
  }

  return {
    /**
     * @param body - JSON of the request
     * @param signal - of the connection: who went away is not waited for
     * @throws PoolError `invalid_request`, `manifest_conflict`, `manifest_refused`, `manifest_not_ready`
     */
    async post(body: unknown, signal?: AbortSignal): Promise<ManifestReceipt> {
      const file = parseWire(manifestFileSchema, body, 'manifest file');
      if (queued >= maxQueued) {
        throw new PoolError(
          'manifest_not_ready',
          `${maxQueued} manifests wait to be rebuilt; send this one again later`,
        );
      }
      // One rebuild at a time: a second of computing per manifest of 256 recipients.
      queued += 1;
      const turn = last.then(async () => {
        queued -= 1;
        if (signal?.aborted === true) {
          throw new PoolError('manifest_not_ready', 'the client went away before its turn');
        }
        return await store(file);
      });
      last = turn.catch(() => undefined);
      return await turn;
    },
    /** @throws PoolError `manifest_unknown` */
    read(manifestDigest: string): ManifestReceipt {
      const stored = ledger
        .listManifests()
        .find((candidate) => candidate.manifestDigest === manifestDigest);
      if (stored === undefined) {
        throw new PoolError('manifest_unknown', 'no manifest with this digest is stored');
      }
      return report(stored.manifestDigest);
    },
  };
}

/** Refusals with a code of their own. */
const refusalCodes: Readonly<Partial<Record<DecisionReason, ErrorCode>>> = {
  'job-has-other-manifest': 'manifest_conflict',
};

function describe(refusal: { readonly reason: DecisionReason; readonly message: string }): string {
  return `${refusal.message} (${refusal.reason})`;
}
