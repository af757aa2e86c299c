/**
 * The calls of `onboard` to the platform: sign in, register, enrol, mint. If a later call fails, or the operator interrupts the command,
 * what was minted is revoked, because nobody would have its plaintext.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import type { Bootstrap, Capability } from '@pool/api';
import {
  type AccountAddress,
  type EncryptionPublicKey,
  type EvidenceDomain,
  type Hex,
  isPoolError,
  maxEvidenceSkewMs,
  PoolError,
  parseSignInMessage,
  type Secret,
} from '@pool/core';
import { type HolderSigner, OwnRefusalError } from '@pool/signers';
import { createEdgeClient } from '../edge-client.ts';
import { enrolWallet } from '../enrol-wallet.ts';
import {
  createSessionClient,
  type Onboarding,
  type SessionClient,
  type SignInOptions,
} from '../session-client.ts';
import {
  endsSignIn,
  type PendingSignIn,
  type SignInWait,
  signInByVote,
  type VoteOptions,
} from './pending-sign-in.ts';
import { revokePass } from './revoke-pass.ts';

/** Where and by whom a session is opened. */
export type LoginPass = {
  /** The platform's base URL, without a trailing slash. */
  readonly platformUrl: string;
  /** Domain and URI of the sign-in text. */
  readonly place: EvidenceDomain;
  /** Signs the session. */
  readonly login: { readonly signer: HolderSigner; readonly address: AccountAddress };
  /** Where the text waits for a vote. Undefined: the signer signs at once. */
  readonly pending: PendingSignIn | undefined;
};

/** What a pass does, decided before the platform is asked for anything. */
export type OnboardPass = LoginPass & {
  readonly capabilities: readonly Capability[];
  /** Present if it is enrolled or gets a key. */
  readonly holder:
    | { readonly walletPub: Hex; readonly encryptionPublicKey: EncryptionPublicKey }
    | undefined;
  readonly isEnrolment: boolean;
};

export type Onboarded = {
  readonly employerId: string;
  readonly isNewAccount: boolean;
  /** Absent: not asked for. */
  readonly enrolment: Onboarding | undefined;
  readonly edgeToken: Secret;
  readonly keys: ReadonlyMap<Capability, Secret>;
  readonly bootstrap: Bootstrap;
};

export type LoginOptions = {
  /** Aborted by SIGINT or SIGTERM: the pass ends, and what it minted is revoked. */
  readonly signal: AbortSignal;
  /** Called while the sign-in waits for a vote. */
  readonly onWait?: (wait: SignInWait) => void;
  /** Pause before a revocation, or a question to a custodian, is tried again, in milliseconds. */
  readonly retryMs?: number;
};

export type OnboardingOptions = LoginOptions & {
  /** Keeps the credentials. If it throws, they are revoked and its error is passed on. */
  readonly store: (result: Onboarded) => void;
};

/**
 * Signs in. The caller ends the session.
 * @param listed - P that the text lists, for an enrolment: its signature is the evidence that payers keep
 * @throws PoolError of the platform; `interrupted`
 */
export async function openLoginSession(
  pass: LoginPass,
  { signal, onWait = () => undefined, retryMs = 1_000 }: LoginOptions,
  listed?: EncryptionPublicKey,
): Promise<SessionClient> {
  const session = createSessionClient({ url: pass.platformUrl });
  await untilAborted(
    signal,
    () => signIn(session, pass, listed, { signal, onWait, retryMs }),
    pass.pending === undefined ? createInterrupted : createInterruptedVote,
  );
  return session;
}

/**
 * @throws PoolError of the platform; `interrupted`; `credentials_not_revoked` if the pass failed and something that it minted may be
 *   live, with the reason of the failure in the message
 */
export async function runOnboarding(
  plan: OnboardPass,
  { store, ...options }: OnboardingOptions,
): Promise<Onboarded> {
  const { signal, retryMs = 1_000 } = options;
  // Names the credentials of this pass, so that one whose answer was lost can be found.
  const name = `disburse-agent onboard ${randomBytes(6).toString('hex')}`;
  const listed = plan.isEnrolment ? plan.holder?.encryptionPublicKey : undefined;
  const session = await openLoginSession(plan, options, listed);
  let hasMinted = false;
  const mint = async <T>(call: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    hasMinted = true;
    return await call();
  };
  try {
    const result = await untilAborted(signal, () => runPass(plan, session, name, mint));
    store(result);
    return result;
  } catch (error) {
    const reason = signal.aborted ? createInterrupted() : error;
    if (hasMinted) {
      const left = await revokePass(session, name, retryMs);
      throw left.length === 0 ? reason : createNotRevoked(reason, left);
    }
    throw reason;
  } finally {
    await session.signOut().catch(() => undefined);
  }
}

async function runPass(
  plan: OnboardPass,
  session: SessionClient,
  name: string,
  mint: <T>(call: () => Promise<T>) => Promise<T>,
): Promise<Onboarded> {
  const { employerId, created } = await session.register();
  const { holder, isEnrolment } = plan;
  const enrolment =
    holder === undefined || !isEnrolment ? undefined : await enrolWallet(session, holder);
  const { token: edgeToken } = await mint(() => session.mintEdgeToken(name));
  const keys = new Map<Capability, Secret>();
  for (const capability of plan.capabilities) {
    keys.set(capability, (await mint(() => session.mintKey(capability, name))).apiKey);
  }
  const url = `${plan.platformUrl}/agent-edge`;
  const bootstrap = await createEdgeClient({ url, token: edgeToken }).bootstrap();
  return { employerId, isNewAccount: created, enrolment, edgeToken, keys, bootstrap };
}

/** Ends the wait, not the call: the platform may still carry it out. */
async function untilAborted<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
  createError: () => PoolError = createInterrupted,
): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(createError());
  signal.addEventListener('abort', abort, { once: true });
  const running = work();
  running.catch(() => undefined);
  try {
    return await Promise.race([running, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function createInterrupted(): PoolError {
  return new PoolError(
    'interrupted',
    'a signal ended the command: no file was written, and every credential that it made is revoked',
  );
}

function createInterruptedVote(): PoolError {
  return new PoolError(
    'interrupted',
    'a signal ended the command: no file was written, and no credential was made. The request for the sign-in stays at the custodian: run the same command again to go on with it',
  );
}

function createNotRevoked(reason: unknown, left: readonly string[]): PoolError {
  const why = isPoolError(reason) ? `${reason.code}: ${reason.message}` : 'an unexpected error';
  return new PoolError(
    'credentials_not_revoked',
    `${why}. These credentials of this pass could not be revoked, and nobody has their plaintext: ${left.join(', ')}. Sign in to the platform and revoke them, or ask its operator`,
    { cause: reason },
  );
}

/** Only a text that waits for a vote is kept: another one is signed at once, and a new one costs nothing. */
async function signIn(
  session: SessionClient,
  pass: LoginPass,
  encryptionPublicKey: EncryptionPublicKey | undefined,
  vote: VoteOptions,
): Promise<void> {
  const { login, place, pending } = pass;
  const listed = encryptionPublicKey === undefined ? {} : { encryptionPublicKey };
  const stored = pending?.read(Date.now());
  let asked: string | undefined;
  let isSigned = false;
  const options: SignInOptions = {
    address: login.address,
    ...place,
    ...listed,
    ...(stored === undefined ? {} : { message: stored }),
    signMessage: async (message) => {
      asked = message;
      // Of the text of an ed25519 wallet, the signer checks the network itself.
      const chain =
        login.signer.curve === 'secp256k1' ? { chainId: parseSignInMessage(message).chainId } : {};
      const request = { message, expected: { ...place, ...chain }, ...listed };
      if (login.signer.needsVote !== true) {
        return await login.signer.signIn(request);
      }
      pending?.keep(message);
      const signature = await signInByVote(login.signer, request, vote);
      isSigned = true;
      return signature;
    },
  };
  try {
    await session.signIn(options);
    pending?.forget();
  } catch (error) {
    if (endsSignIn(error, isSigned)) {
      pending?.forget();
    }
    // The custodian does not have this text, and it would not pass the check of its date any more. A new one has lost nobody's vote.
    if (error instanceof OwnRefusalError && asked !== undefined && isOld(asked)) {
      return signIn(session, pass, encryptionPublicKey, vote);
    }
    throw error;
  }
}

function isOld(message: string): boolean {
  return parseSignInMessage(message).issuedAtMs < Date.now() - maxEvidenceSkewMs;
}
