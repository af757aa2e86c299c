/**
 * Seeded faults of the model. Each is found by a short simulation.
 *
 * @module
 */

export type Mutant = {
  /** What is wrong with the protocol. */
  readonly what: string;
  readonly find: string;
  readonly replace: string;
  /** The invariant that a run breaks. */
  readonly breaks: string;
};

export const mutants: readonly Mutant[] = [
  {
    what: 'a write without its fence',
    find: 'val may = job.fence == work.fence\n',
    replace: 'val may = true\n',
    breaks: 'newestFenceWrites',
  },
  {
    what: 'an authorisation that leaves before its release is stored',
    find: `.phase == "released",\n    s' = { ...s, posted`,
    replace: `.phase.in(Set("proved", "released")),\n    s' = { ...s, posted`,
    breaks: 'storedBeforeReleased',
  },
  {
    what: 'a nonce from the count of the chain, which a new payload uses again',
    find: 'nonce: openNonces.fold(s.head.nonce, (highest, nonce) => max(highest, nonce + 1))',
    replace: 'nonce: s.head.nonce',
    breaks: 'onePayloadPerNonce',
  },
  {
    what: 'a turn that ends before a block has the batch',
    find: 's.turn == a, s.head.paid.get(s.turnFor) > 0 or isOver(s.turnFor),\n',
    replace: 's.turn == a,\n',
    breaks: 'isCovered',
  },
  {
    what: 'a turn that two batches have',
    find: `s.turn == "", s.work.get((a, k)).phase.in(Set("proved", "released"))`,
    replace: `s.work.get((a, k)).phase.in(Set("proved", "released"))`,
    breaks: 'isCovered',
  },
  {
    what: 'an approval of more than the batch',
    find: 'grant(s.head, TOTALS.get(k)) else',
    replace: 'grant(s.head, 3) else',
    breaks: 'isBounded',
  },
  {
    what: 'an unpaid job that leaves its approval',
    find: 'isOver(k), isPaid(k) or allowance == 0',
    replace: 'isOver(k)',
    breaks: 'nothingLeft',
  },
  {
    what: 'a lease by the clock of the agent',
    find: 'job.until <= s.now\n    val until',
    replace: 'job.until <= s.now + s.skew.get(a)\n    val until',
    breaks: 'oneHolder',
  },
  {
    what: 'a lease that does not look at the one before',
    find: ' and job.until <= s.now\n    val until',
    replace: '\n    val until',
    breaks: 'oneHolder',
  },
  {
    what: 'a claim that begins a failed job again',
    find: 'val isNew = s.jobs.get(k).phase == "none"',
    replace: 'val isNew = s.jobs.get(k).phase.in(Set("none", "failed"))',
    breaks: 'endIsKept',
  },
  {
    what: 'a content that is drawn again for each proof',
    find: 'if (stored == 0) drawn else stored',
    replace: 'drawn',
    breaks: 'oneDigest',
  },
  {
    what: 'a transaction that is sent before it is stored',
    find: "s' = { ...s, ids: s.ids + 1,",
    replace:
      "s' = { ...s, mempool: s.mempool.union(Set({ ...tx, id: s.ids + 1 })), ids: s.ids + 1,",
    breaks: 'storedBeforeSent',
  },
  {
    what: 'a relayer that stores without asking whether another one leads',
    find: 'val isLeader = s.leads.get(r) == s.epoch',
    replace: 'val isLeader = true',
    breaks: 'onePayloadPerNonce',
  },
  {
    what: 'a submission that stays accepted when it is sent',
    find: 'one => { ...one, state: "submitted" }',
    replace: 'one => one',
    breaks: 'oneNoncePerPayload',
  },
];
