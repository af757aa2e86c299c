/**
 * The last check of a disbursement, and the only one that asks the platform: each recipient must be enrolled and
 * eligible, and its sign-in evidence must be valid (docs/decisions/0007).
 *
 * @module
 */
import type { RecipientRecord } from '@pool/api';
import {
  type Amount,
  assertNoFieldLeft,
  type EvmAddress,
  explainPlatformFailure,
  type ReadRecipient,
  type ReadRequest,
  type SkippedRecipient,
} from '@pool/core';
import type { EvidenceVerdict, VerifiedRecipient } from '@pool/wallet';
import type { ChainContext } from '../ports.ts';
import type { CheckDeps, CheckedRecipient, Issue, KeyRotation } from './checks.ts';
import { findRotations } from './key-rotations.ts';

/** A recipient of the request whose address is valid and not a duplicate. */
export type AddressedEntry = Omit<ReadRecipient, 'recipientAddress' | 'amount'> & {
  readonly requestIndex: number;
  readonly address: EvmAddress;
  /** Undefined: it was refused. The recipient is still looked up, so that one pass finds every issue. */
  readonly amount: Amount | undefined;
};

export type Registered = {
  readonly recipients: readonly CheckedRecipient[];
  readonly skipped: readonly SkippedRecipient[];
  /** Sum of the valid amounts of `skipped`, base units. */
  readonly skippedTotal: bigint;
  readonly rotations: readonly KeyRotation[];
};

/** Addresses in one look-up: the maximum that the platform accepts. */
const addressesPerLookup = 256;

/** Recipients that one request may look up. More than any chain pays in one batch. */
const maxJudgedRecipients = 10_000;

/**
 * Yields issues after each look-up, so that they are reported even if a later look-up gets no answer.
 * @throws PoolError 503 `platform_unreachable` when a look-up got no answer, `edge_token_refused`,
 * `platform_invalid_response`
 */
export async function* walkRegistration(
  request: Pick<ReadRequest, 'unregistered'>,
  entries: readonly AddressedEntry[],
  context: ChainContext,
  deps: CheckDeps,
): AsyncGenerator<Issue, Registered, undefined> {
  const recipients: CheckedRecipient[] = [];
  const skipped: SkippedRecipient[] = [];
  let skippedTotal = 0n;
  let verified = 0;
  for await (const [entry, verdict] of judgeInTurns(
    entries.slice(0, maxJudgedRecipients),
    context,
    deps,
  )) {
    const { requestIndex, address, amount } = entry;
    if (verdict.kind === 'verified') {
      verified += 1;
      if (amount !== undefined) {
        recipients.push(createRecipient({ ...entry, amount }, verdict.recipient));
      }
      continue;
    }
    const message = `recipients[${requestIndex}]: ${verdict.reason}`;
    const code = 'unregistered-recipient' as const;
    if (request.unregistered === 'skip') {
      skipped.push({ requestIndex, recipientAddress: address, code, message });
      skippedTotal += amount ?? 0n;
    } else {
      yield { requestIndex, code, message };
    }
  }
  if (entries.length > maxJudgedRecipients) {
    yield {
      requestIndex: -1,
      code: 'batch-too-large',
      message: `only the first ${maxJudgedRecipients} recipients were looked up; split the roster to have all of them checked`,
    };
  }
  if (verified === 0 && skipped.length > 0) {
    yield {
      requestIndex: -1,
      code: 'unregistered-recipient',
      message: 'none of the recipients is registered: nothing would be paid',
    };
  }
  const rotations = await findRotations(recipients, deps.paidKeys);
  return { recipients, skipped, skippedTotal, rotations };
}

/** A recipient of the request, with the keys that its sign-in evidence proves. */
function createRecipient(
  entry: AddressedEntry & { readonly amount: Amount },
  verified: VerifiedRecipient,
): CheckedRecipient {
  const { requestIndex, address: _address, amount, memo, ...rest } = entry;
  assertNoFieldLeft(rest);
  return {
    ...verified,
    requestIndex,
    amount: amount.toString(),
    ...(memo === undefined ? {} : { memo }),
  };
}

const notEnrolled: EvidenceVerdict = {
  kind: 'refused',
  reason: 'the recipient has not signed in and enrolled',
};

const noGate: EvidenceVerdict = {
  kind: 'refused',
  reason: 'this deployment has no pool-gate, so no recipient can be paid',
};

/**
 * The verdict on each entry, and the platform's record of it, look-up by look-up.
 * @throws PoolError as {@link walkRegistration}
 */
export async function* judgeInTurns<Entry extends { readonly address: EvmAddress }>(
  entries: readonly Entry[],
  context: ChainContext,
  deps: Pick<CheckDeps, 'platform' | 'evidence' | 'hasGate'>,
): AsyncGenerator<readonly [Entry, EvidenceVerdict, RecipientRecord | undefined], void, undefined> {
  for (let start = 0; start < entries.length; start += addressesPerLookup) {
    const asked = entries.slice(start, start + addressesPerLookup);
    const records: ReadonlyMap<string, RecipientRecord> = deps.hasGate
      ? await lookup(asked, context, deps.platform)
      : new Map();
    const ready = asked.flatMap(({ address }) => {
      const record = records.get(address.toLowerCase());
      return record?.readiness === 'ready' ? [{ address, record }] : [];
    });
    const judged = await deps.evidence.verifyAll(ready);
    const verdicts = new Map(ready.map(({ address }, index) => [address, judged[index]]));
    for (const entry of asked) {
      const record = records.get(entry.address.toLowerCase());
      const verdict = deps.hasGate ? judge(record, verdicts.get(entry.address)) : noGate;
      yield [entry, verdict, record];
    }
  }
}

/** @param verdict - on the evidence of a recipient that the platform calls ready */
function judge(
  record: RecipientRecord | undefined,
  verdict: EvidenceVerdict = notEnrolled,
): EvidenceVerdict {
  const { readiness = 'not_enrolled' } = record ?? {};
  if (readiness === 'not_enrolled') {
    return notEnrolled;
  }
  if (readiness !== 'ready') {
    const reason = `the recipient is enrolled but not eligible (${readiness})`;
    return { kind: 'refused', reason };
  }
  return verdict.kind === 'verified'
    ? verdict
    : { kind: 'refused', reason: `sign-in evidence does not hold: ${verdict.reason}` };
}

/** @returns by address in small letters */
async function lookup(
  entries: readonly { readonly address: EvmAddress }[],
  context: ChainContext,
  platform: CheckDeps['platform'],
): Promise<ReadonlyMap<string, RecipientRecord>> {
  try {
    const addresses = entries.map(({ address }) => address);
    const records = await platform.lookupRecipients(context.key, addresses);
    return new Map(records.map((record) => [record.address.toLowerCase(), record]));
  } catch (cause) {
    throw explainPlatformFailure(
      cause,
      'the recipient look-up',
      'the platform did not answer the recipient look-up; nothing was accepted, send the same request again',
    );
  }
}
