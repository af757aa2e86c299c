/**
 * Decisions about a holder's texts: sign-in, viewing key, disclosure. They move no money, but a sign-in decides who opens future
 * notes, and the viewing key reads past ones.
 *
 * @module
 */
import { isPoolError, parseSignInMessage, type SignInMessage } from '@pool/core';
import type { HolderRule } from '../policy/holder-rule.ts';
import type { SignInRequest, ViewingKeyRequest } from '../requests/requests.ts';
import { checkGuard, createRecord } from '../rules/check-guard.ts';
import { checkHolder, findHolder } from '../rules/check-holder.ts';
import type { DecideInput, Decision } from '../rules/decision.ts';
import { check, conclude, type Finding, fail } from '../rules/findings.ts';

/** A sign-in text of the policy's platform, valid for minutes, that lists no P or one that the policy pins. */
export function decideSignIn(input: DecideInput, request: SignInRequest): Decision {
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
export function decideViewingKey(input: DecideInput, request: ViewingKeyRequest): Decision {
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

export function decideDisclosure(input: DecideInput): Decision {
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
