/**
 * Who released a batch, and who may.
 *
 * @module
 */
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
  const { releasedBy, deniedBy } = countReleases(
    view.listReleases(manifestDigest),
    { manifestDigest, token, total: batch.total },
    policy,
    nowMs,
  );
  const done = new Set(releasedBy.map(({ publicKey }) => publicKey));
  return {
    required: humanRelease.required,
    releasedBy: releasedBy.map(({ name }) => name),
    deniedBy: deniedBy ?? null,
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
  const { required, releasedBy, deniedBy, mayRelease } = people;
  if (deniedBy !== null) {
    return `denied by ${deniedBy}`;
  }
  const done =
    releasedBy.length === 0 ? 'nobody released it' : `released by ${releasedBy.join(', ')}`;
  const open = releasedBy.length < required ? `; may release: ${mayRelease.join(', ')}` : '';
  return `${done}, ${required} needed${open}`;
}
