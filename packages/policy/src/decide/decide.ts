/**
 * Whether a request may be signed: one pure function of the request, its stored manifest, the policy, the ledger and what the chain
 * says. Everything that no rule allows is refused.
 *
 * @module
 */
import { isPoolError, parseSignInMessage, type SignInMessage } from '@pool/core';
import type { HolderRule } from '../policy/holder-rule.ts';
import type {
  SignInRequest,
  SignKind,
  SignRequest,
  ViewingKeyRequest,
} from '../requests/requests.ts';
import { checkClock } from '../rules/check-clock.ts';
import { checkGuard, createRecord } from '../rules/check-guard.ts';
import { checkHolder, findHolder } from '../rules/check-request.ts';
import {
  check,
  conclude,
  type DecideInput,
  type Decision,
  type Finding,
  fail,
} from '../rules/findings.ts';
import { decideFund, decidePermit, decideTokenApproval, decideVoid } from './decide-funder.ts';
import { decideSpend } from './decide-spend.ts';

// Decisions about a holder's texts: sign-in, viewing key, disclosure. They move no money, but a sign-in decides who opens future
// notes, and the viewing key reads past ones.

/** A sign-in text of the policy's platform, valid for minutes, that lists no P or one that the policy pins. */
function decideSignIn(input: DecideInput, request: SignInRequest): Decision {
  const message = tryParse(request.payload.message);
  const holder = findHolder(input);
  const listed = message?.encryptionPublicKey;
  const pinned = holder?.encryptionPublicKeys.find((key) => key === listed);
  const common = checkHolder(input, pinned);
  if (message === undefined || holder === undefined) {
    return conclude([...common, fail('sign-in', 'malformed-payload')], undefined);
  }
  const guarded = checkGuard(input, {});
  return conclude(
    [...common, ...checkSignIn(message, holder, input.nowMs), guarded.finding],
    createRecord(guarded, undefined),
  );
}

function checkSignIn(
  message: SignInMessage,
  holder: HolderRule,
  nowMs: number,
): readonly Finding[] {
  const terms = holder.signIn;
  if (terms === undefined) {
    return [fail('sign-in', 'sign-in-not-allowed')];
  }
  const { domain, uri, chainId, issuedAtMs, expirationTimeMs, encryptionPublicKey } = message;
  const isOfPlatform = domain === terms.domain && uri === terms.uri && chainId === terms.chainId;
  const isOwnKey =
    encryptionPublicKey === undefined || holder.encryptionPublicKeys.includes(encryptionPublicKey);
  // A text without an end would be a session for ever.
  const isShort =
    expirationTimeMs !== undefined &&
    expirationTimeMs > nowMs &&
    expirationTimeMs - issuedAtMs <= 60_000 * terms.maxValidityMinutes;
  return [
    check('sign-in-platform', isOfPlatform, 'foreign-sign-in'),
    check('sign-in-key', isOwnKey, 'foreign-encryption-key'),
    check('sign-in-validity', isShort, 'sign-in-validity'),
  ];
}

function tryParse(text: string): SignInMessage | undefined {
  try {
    return parseSignInMessage(text);
  } catch (error) {
    if (isPoolError(error)) {
      return undefined;
    }
    throw error;
  }
}

/** The viewing key is derived from the signature, so a signer that gives another one next time must not sign. Never voted. */
function decideViewingKey(input: DecideInput, request: ViewingKeyRequest): Decision {
  const { signer, origin } = input;
  const terms = findHolder(input)?.viewingKey;
  const guarded = checkGuard(input, {});
  return conclude(
    [
      ...checkHolder(input),
      check('deterministic', signer.deterministic && origin.kind === 'local', 'not-deterministic'),
      check(
        'viewing-key',
        terms !== undefined && terms.domain === request.payload.domain,
        'viewing-key-not-allowed',
      ),
      guarded.finding,
    ],
    createRecord(guarded, undefined),
  );
}

function decideDisclosure(input: DecideInput): Decision {
  const isAllowed = findHolder(input)?.disclosures === true;
  const guarded = checkGuard(input, {});
  return conclude(
    [
      ...checkHolder(input),
      check('disclosure', isAllowed, 'disclosure-not-allowed'),
      guarded.finding,
    ],
    createRecord(guarded, undefined),
  );
}

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
