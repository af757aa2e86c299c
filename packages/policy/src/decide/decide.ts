/**
 * Whether a request may be signed: one pure function of the request, its stored manifest, the policy, the ledger and what the chain
 * says. Everything that no rule allows is refused.
 *
 * @module
 */
import { isPoolError } from '@pool/core';
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

function decideKind(input: DecideInput): Decision {
  const { request } = input;
  switch (request.kind) {
    case 'fund-authorization':
      return decideFund(input, request);
    case 'void':
      return decideVoid(input, request);
    case 'permit':
      return decidePermit(input, request);
    case 'token-approval':
      return decideTokenApproval(input, request);
    case 'sign-in':
      return decideSignIn(input, request);
    case 'spend':
      return decideSpend(input, request);
    case 'viewing-key':
      return decideViewingKey(input, request);
    case 'disclosure':
      return decideDisclosure(input, request);
    default:
      // Only untyped callers can reach this line.
      return conclude([fail('kind', 'kind-not-allowed')], undefined);
  }
}
