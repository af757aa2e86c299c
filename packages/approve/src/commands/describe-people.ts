/**
 * Who released a batch, and who may.
 *
 * @module
 */
import type { Hex32 } from '@pool/core';
import {
  countReleases,
  type LedgerView,
  type Policy,
  type PolicyPerson,
  type StoredManifest,
} from '@pool/policy';

export type PeopleOfBatch = {
  /** How many different keys the policy asks for. */
  readonly required: number;
  readonly releasedBy: readonly string[];
  readonly deniedBy: string | null;
  /** A batch with the same roster was denied. Only the person, or two people, release this one. */
  readonly rosterDeniedBy: string | null;
  /** ISO 8601 UTC, and the batch. Null: neither this batch nor its roster is denied. */
  readonly deniedAt: string | null;
  readonly deniedManifest: Hex32 | null;
  /** Names of those who did not release it yet. */
  readonly mayRelease: readonly string[];
};

/** Undefined: a spend, or a policy without people. Every word is verified again under the policy of now. */
export function describePeople(
  { manifestDigest, token, batch }: Pick<StoredManifest, 'manifestDigest' | 'token' | 'batch'>,
  view: Pick<LedgerView, 'listReleases'>,
  policy: Policy,
  nowMs: number,
): PeopleOfBatch | undefined {
  const { humanRelease } = policy;
  if (batch === undefined || humanRelease === undefined) {
    return undefined;
  }
  const { releasedBy, denial } = countReleases(
    view.listReleases(batch.rosterDigest),
    { manifestDigest, token, total: batch.total },
    policy,
    nowMs,
  );
  const isOwn = denial?.manifestDigest === manifestDigest;
  const done = new Set(releasedBy.map(({ publicKey }) => publicKey));
  return {
    required: humanRelease.required,
    releasedBy: releasedBy.map(({ name }) => name),
    deniedBy: denial !== undefined && isOwn ? denial.by : null,
    rosterDeniedBy: denial === undefined || isOwn ? null : denial.by,
    deniedAt: denial?.issuedAt ?? null,
    deniedManifest: denial?.manifestDigest ?? null,
    mayRelease: firstOfEachKey(humanRelease.people)
      .filter(({ publicKey }) => !done.has(publicKey))
      .map(({ name }) => name),
  };
}

/** A key counts under the name that the policy lists first. */
function firstOfEachKey(people: readonly PolicyPerson[]): readonly PolicyPerson[] {
  return people.filter(
    ({ publicKey }, index) => people.findIndex((one) => one.publicKey === publicKey) === index,
  );
}

export function renderPeople(people: PeopleOfBatch): string {
  const { required, releasedBy, deniedBy, rosterDeniedBy, mayRelease } = people;
  if (deniedBy !== null) {
    return `denied by ${deniedBy}`;
  }
  if (rosterDeniedBy !== null) {
    const done = releasedBy.length === 0 ? 'nobody' : releasedBy.join(', ');
    return `DENIED BEFORE: ${rosterDeniedBy} denied the same people and amounts at ${people.deniedAt} (manifest ${people.deniedManifest}). ${rosterDeniedBy}, or two people, must release this one; released by ${done}`;
  }
  const done =
    releasedBy.length === 0 ? 'nobody released it' : `released by ${releasedBy.join(', ')}`;
  const open = releasedBy.length < required ? `; may release: ${mayRelease.join(', ')}` : '';
  return `${done}, ${required} needed${open}`;
}
