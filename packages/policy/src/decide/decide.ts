/**
 * Whether a request may be signed: one pure function of the request, its stored manifest, the policy, the ledger and what the chain
 * says. Everything that no rule allows is refused.
 *
 * @module
 */
import { isPoolError } from '@pool/core';
import type { SignKind, SignRequest } from '../requests/requests.ts';
import { checkClock } from '../rules/check-clock.ts';
import type { DecideInput, Decision } from '../rules/decision.ts';
import { conclude, fail } from '../rules/findings.ts';
import { decideFund, decidePermit, decideTokenApproval, decideVoid } from './decide-funder.ts';
import { decideDisclosure, decideSignIn, decideViewingKey } from './decide-identity.ts';
import { decideSpend } from './decide-spend.ts';

/**
 * Decides, and lists every rule with its verdict. An approval is worth nothing before the ledger stored its record
 * ({@link Ledger.decide}).
 *
 * @example
 * const voted = ledger.decide({ requestId, request, nowMs }, (view) =>
 *   decide({ request, origin, manifest, policy, ledger: view, facts, signer: { deterministic: false }, nowMs }),
 * );
 */
export function decide(input: DecideInput): Decision {
  const { verdict, rule, message, ...clock } = checkClock(input);
  const decision = decideSafely(input);
  const rules = [{ rule, verdict, message }, ...decision.rules];
  // What a wrong clock refuses, it would refuse for good.
  return 'reason' in clock
    ? { kind: 'later', reason: clock.reason, message, rules }
    : { ...decision, rules };
}

function decideSafely(input: DecideInput): Decision {
  try {
    return decideKind(input);
  } catch (error) {
    // A payload that cannot be read has no digest, and nothing without a digest is approved.
    if (isPoolError(error) || error instanceof TypeError) {
      return conclude([fail('request', 'malformed-payload')], undefined);
    }
    throw error;
  }
}

const deciders: {
  readonly [TKind in SignKind]: (
    input: DecideInput,
    request: Extract<SignRequest, { readonly kind: TKind }>,
  ) => Decision;
} = {
  'fund-authorization': decideFund,
  void: decideVoid,
  permit: decidePermit,
  'token-approval': decideTokenApproval,
  'sign-in': decideSignIn,
  spend: decideSpend,
  'viewing-key': decideViewingKey,
  disclosure: decideDisclosure,
};

function decideKind(input: DecideInput): Decision {
  const { request } = input;
  // Only untyped callers can ask for another kind.
  return Object.hasOwn(deciders, request.kind)
    ? deciders[request.kind](input, request as never)
    : conclude([fail('kind', 'kind-not-allowed')], undefined);
}
