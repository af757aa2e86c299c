/**
 * `approve check`: explains, rule by rule, what the gate would answer for a manifest now. It votes nothing.
 *
 * @module
 */
import { computeWalletAddress } from '@pool/core';
import {
  createSignRequest,
  type Decision,
  decisionReasons,
  type Origin,
  type Policy,
  type RebuiltManifest,
  type SignRequest,
  type StoredManifest,
  type Vote,
} from '@pool/policy';
import { readChains, readPolicyFile } from '../config/settings-files.ts';
import { createFactSource, openPoolReader } from '../judge/facts.ts';
import { createJudge } from '../judge/judge.ts';
import { createRebuilds } from '../judge/rebuilds.ts';
import {
  describePayment,
  describePeople,
  line,
  type Payment,
  type PeopleOfBatch,
  renderPayment,
  renderPeople,
} from './describe-payment.ts';
import { readManifestArgument } from './manifest-argument.ts';
import { exitCodes, type LedgerCall, type Outcome } from './output.ts';

/** Rules that wait for people. */
const peopleRules: ReadonlySet<string> = new Set([
  'not-denied',
  'hold-amount',
  'hold-new-payee',
  'duplicate-roster',
  'unknown-roster',
]);

/** Everything that the command knows about a manifest. */
type Checked = {
  readonly manifestDigest: string;
  /** Undefined: the agent did not post it. */
  readonly receivedAtMs: number | undefined;
  readonly payment: Payment;
  readonly people: PeopleOfBatch | undefined;
  readonly votes: readonly Vote[];
  readonly decision: Decision;
};

/** The argument is the digest of a stored manifest, the path of a manifest file, or `-`. */
export async function runCheck(call: LedgerCall): Promise<Outcome> {
  const { ledger, policyFile, chainsFile, keys, nowMs } = call;
  const { policy } = readPolicyFile(policyFile);
  const chains = readChains(chainsFile);
  const rebuilds = createRebuilds({
    readFile: (digest) => ledger.readFile(digest),
    evidence: () => policy.evidence,
  });
  const rebuilt = await rebuilds.rebuild(readManifestArgument(call));
  const judge = createJudge({
    ledger,
    policy: () => policy,
    rebuilds,
    facts: createFactSource(chains, (settings) => openPoolReader(settings, keys)),
    mayVote: () => false,
    nowMs,
    isDryRun: true,
  });
  const { request, origin } = createExpectedRequest(rebuilt, policy);
  const decision = await judge.explain(request, origin, rebuilt);
  const checked = {
    manifestDigest: rebuilt.manifestDigest,
    votes: ledger.listVotes(rebuilt.manifestDigest),
    decision,
    ...ledger.read((view) => ({
      receivedAtMs: view.findManifest(rebuilt.manifestDigest)?.receivedAtMs,
      payment: describePayment(rebuilt, { policy, chains, view }),
      people: findPeople(view.findManifest(rebuilt.manifestDigest), decision, (stored) =>
        describePeople(stored, view, policy, nowMs()),
      ),
    })),
  };
  return {
    code: exitCodeOf[decision.kind],
    document: describe(checked),
    text: render(checked),
  };
}

/** Undefined: nobody was asked. */
function findPeople(
  stored: StoredManifest | undefined,
  { rules }: Decision,
  describePeopleOf: (stored: StoredManifest) => PeopleOfBatch | undefined,
): PeopleOfBatch | undefined {
  const people = stored === undefined ? undefined : describePeopleOf(stored);
  const isHeld = rules.some(({ rule, verdict }) => verdict === 'wait' && peopleRules.has(rule));
  const hasSpoken = people?.deniedAt !== null || people.releasedBy.length > 0;
  return isHeld || hasSpoken ? people : undefined;
}

/** What the agent would ask for, from the wallet and by the user that the policy lists first. */
function createExpectedRequest(
  rebuilt: RebuiltManifest,
  policy: Policy,
): { readonly request: SignRequest; readonly origin: Origin } {
  if (rebuilt.kind === 'fund') {
    const { chainId, pool, authorization, funder } = rebuilt;
    const rule = policy.funders.find(({ address }) => address === funder);
    return {
      request: createSignRequest({
        kind: 'fund-authorization',
        payload: { chainId, pool, authorization },
        expectedSigner: funder,
      }),
      origin: originOf(rule),
    };
  }
  const { operation, salt, walletPub } = rebuilt;
  const rule = policy.holders.find((holder) => holder.walletPub === walletPub);
  return {
    request: createSignRequest({
      kind: 'spend',
      payload: { operation, salt },
      expectedSigner: computeWalletAddress(walletPub),
    }),
    origin: originOf(rule),
  };
}

function originOf(
  rule: { readonly wallets: readonly string[]; readonly initiators: readonly string[] } | undefined,
): Origin {
  return {
    kind: 'custodian',
    wallet: rule?.wallets[0] ?? '',
    initiator: rule?.initiators[0] ?? '',
  };
}

function describe({ manifestDigest, receivedAtMs, payment, people, votes, decision }: Checked) {
  const { kind, rules } = decision;
  const why = kind === 'approve' ? {} : { reason: decision.reason, message: decision.message };
  return {
    manifestDigest,
    answer: kind,
    ...why,
    receivedAt: receivedAtMs === undefined ? null : toIsoTime(receivedAtMs),
    payment,
    people: people ?? null,
    votes: votes.map(({ requestId, kind: asked, value, reason, decidedAtMs }) => ({
      requestId,
      kind: asked,
      value,
      decidedAt: toIsoTime(decidedAtMs),
      ...(reason === undefined ? {} : { reason, message: decisionReasons[reason] }),
    })),
    rules,
  };
}

const marks = { pass: 'ok  ', fail: 'NO  ', wait: 'WAIT' } as const;

function render({ manifestDigest, receivedAtMs, payment, people, votes, decision }: Checked) {
  const stored =
    receivedAtMs === undefined
      ? 'no: the agent did not post it. This is the answer if it were posted now'
      : `since ${toIsoTime(receivedAtMs)}`;
  const rules = decision.rules.map(
    ({ rule, verdict, message }) => `${marks[verdict]}  ${rule}: ${message}`,
  );
  return [
    line('manifest', manifestDigest),
    line('stored', stored),
    ...renderPayment(payment),
    ...(people === undefined ? [] : [line('people', renderPeople(people))]),
    ...votes.map((vote) => line('voted', renderVote(vote))),
    ...rules,
    renderAnswer(decision),
  ].join('\n');
}

function renderVote({ kind, value, reason, requestId, decidedAtMs }: Vote): string {
  const why = reason === undefined ? '' : ` (${reason}). ${decisionReasons[reason]}`;
  return `${toIsoTime(decidedAtMs)}  ${kind} ${requestId}: ${value}${why}`;
}

function toIsoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function renderAnswer(decision: Decision): string {
  if (decision.kind === 'approve') {
    return 'The gate would approve it.';
  }
  const start = decision.kind === 'deny' ? 'The gate would deny it' : 'It would wait';
  return `${start} (${decision.reason}). ${decisionReasons[decision.reason]}`;
}

const exitCodeOf = {
  approve: exitCodes.ok,
  deny: exitCodes.refused,
  later: exitCodes.notNow,
} as const satisfies Record<Decision['kind'], number>;
