/**
 * A passkey as the key of a slot, by the PRF extension of WebAuthn Level 3: the authenticator answers a salt with 32 bytes that only it
 * can compute, and only for pages of its relying party. Runs in the window: workers have no WebAuthn.
 *
 * Nobody checks a signature here. A passkey proves itself by the PRF output, which opens the slot or does not.
 *
 * @module
 */
import { bytesToHex, type Hex, type Hex32, hexToBytes, PoolError } from '@pool/core';
import { base64urlnopad } from '@scure/base';

type Bytes = Uint8Array<ArrayBuffer>;
type CredentialName = { type: 'public-key'; id: Bytes };

/** What is used of `navigator.credentials`. */
export type PasskeyContainer = {
  create(options: { publicKey: CreationOptions; signal?: AbortSignal }): Promise<unknown>;
  get(options: { publicKey: RequestOptions; signal?: AbortSignal }): Promise<unknown>;
};

type CreationOptions = {
  rp: { id: string; name: string };
  user: { id: Bytes; name: string; displayName: string };
  challenge: Bytes;
  pubKeyCredParams: { type: 'public-key'; alg: number }[];
  excludeCredentials: CredentialName[];
  authenticatorSelection: {
    residentKey: 'required';
    requireResidentKey: true;
    userVerification: 'required';
  };
  attestation: 'none';
  extensions: { prf: Record<string, never> };
};

type RequestOptions = {
  rpId: string;
  challenge: Bytes;
  allowCredentials: CredentialName[];
  userVerification: 'required';
  extensions: { prf: { evalByCredential: Record<string, { first: Bytes }> } };
};

/** What the container answers, as far as it is read. */
type Credential = {
  readonly rawId: ArrayBuffer;
  getClientExtensionResults(): {
    readonly prf?: {
      readonly enabled?: boolean;
      readonly results?: { readonly first?: ArrayBuffer | ArrayBufferView<ArrayBuffer> };
    };
  };
};

/**
 * - `no-prf`: browser or authenticator cannot compute the PRF. A passkey was made, opens nothing, and may be deleted
 * - `cancelled`: the person said no, or the time was over. Browsers do not tell which
 * - `already-registered`: the authenticator has one of the excluded passkeys
 */
export type CreatedPasskey =
  | { readonly state: 'created'; readonly credentialId: Hex }
  | { readonly state: 'no-prf' | 'cancelled' | 'already-registered' };

/**
 * - `read`: `prf` is 32 bytes, secret, for the salt of `credentialId`. The caller wipes it
 * - `no-prf`: browser or authenticator answered without the PRF
 * - `cancelled`: as in {@link CreatedPasskey}, or the device has none of the passkeys
 * - `other-credential`: a passkey that was not asked for answered
 */
export type PasskeyRead =
  | { readonly state: 'read'; readonly credentialId: Hex; readonly prf: Uint8Array }
  | { readonly state: 'no-prf' | 'cancelled' | 'other-credential' };

/**
 * Asks the person to make a passkey, bound to `rp.id`. Its PRF output is read with {@link readPasskey} afterwards: some authenticators give
 * none while they make one, and the second touch shows that the passkey can be found again.
 *
 * @param options.rp - `id` is the page's domain, or a parent of it; the authenticator shows `name`
 * @param options.accountName - what the authenticator lists. Its maker may store and synchronise it
 * @param options.exclude - passkeys of the account: an authenticator has at most one of them
 * @throws PoolError `passkey_failed`, with the browser's reason
 */
export async function createPasskey(options: {
  readonly credentials: PasskeyContainer;
  readonly rp: { readonly id: string; readonly name: string };
  readonly accountName: string;
  readonly exclude?: readonly Hex[];
  readonly signal?: AbortSignal;
}): Promise<CreatedPasskey> {
  const { credentials, rp, accountName, exclude = [], signal } = options;
  const publicKey: CreationOptions = {
    rp: { id: rp.id, name: rp.name },
    // A new id for each passkey: an authenticator replaces the passkey of an id that it has.
    user: { id: createRandom(), name: accountName, displayName: accountName },
    challenge: createRandom(),
    // ES256, EdDSA, RS256: every authenticator has one of them.
    pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: exclude.map(nameCredential),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    attestation: 'none',
    extensions: { prf: {} },
  };
  const answer = await ask(
    () => credentials.create({ publicKey, ...(signal === undefined ? {} : { signal }) }),
    { ...endings, InvalidStateError: 'already-registered' },
  );
  if ('state' in answer) {
    return answer;
  }
  const { credential } = answer;
  return credential.getClientExtensionResults().prf?.enabled === true
    ? { state: 'created', credentialId: readId(credential) }
    : { state: 'no-prf' };
}

/**
 * Asks the person for one of some passkeys, and the passkey for its PRF output.
 *
 * @param options.rpId - as when the passkeys were made
 * @param options.slots - the account's slots, or the credential and the salt of one that is to be made
 * @throws PoolError `passkey_failed`, with the browser's reason; `invalid_value` without slots
 */
export async function readPasskey(options: {
  readonly credentials: PasskeyContainer;
  readonly rpId: string;
  readonly slots: readonly { readonly credentialId: Hex; readonly salt: Hex32 }[];
  readonly signal?: AbortSignal;
}): Promise<PasskeyRead> {
  const { credentials, rpId, slots, signal } = options;
  if (slots.length === 0) {
    // Without a list the browser would offer every passkey of the domain.
    throw new PoolError('invalid_value', 'the account has no passkey; use the recovery words');
  }
  const evalByCredential: Record<string, { first: Bytes }> = {};
  for (const { credentialId, salt } of slots) {
    evalByCredential[base64urlnopad.encode(hexToBytes(credentialId))] = { first: toBytes(salt) };
  }
  const publicKey: RequestOptions = {
    rpId,
    challenge: createRandom(),
    allowCredentials: slots.map(({ credentialId }) => nameCredential(credentialId)),
    userVerification: 'required',
    extensions: { prf: { evalByCredential } },
  };
  const answer = await ask(
    () => credentials.get({ publicKey, ...(signal === undefined ? {} : { signal }) }),
    endings,
  );
  if ('state' in answer) {
    return answer;
  }
  const { credential } = answer;
  const credentialId = readId(credential);
  const prf = readPrf(credential);
  if (!slots.some((slot) => slot.credentialId === credentialId)) {
    prf?.fill(0);
    return { state: 'other-credential' };
  }
  return prf === undefined ? { state: 'no-prf' } : { state: 'read', credentialId, prf };
}

/** A person's no, or the caller's, by the name of the browser's error. */
const endings = { NotAllowedError: 'cancelled', AbortError: 'cancelled' } as const;

/** @param states - by the names of the errors that are answers. Any other error is thrown */
async function ask<State extends string>(
  call: () => Promise<unknown>,
  states: Readonly<Record<string, State>>,
): Promise<{ readonly state: State } | { readonly credential: Credential }> {
  let answer: unknown;
  try {
    answer = await call();
  } catch (cause) {
    const name = cause instanceof Error ? cause.name : 'unknown error';
    const state = Object.hasOwn(states, name) ? states[name] : undefined;
    if (state !== undefined) {
      return { state };
    }
    throw createFailure(`the browser refused (${name})`, cause);
  }
  if (typeof answer !== 'object' || answer === null || !('rawId' in answer)) {
    throw createFailure('the browser answered with something else');
  }
  return { credential: answer as Credential };
}

function readId({ rawId }: Credential): Hex {
  return bytesToHex(new Uint8Array(rawId));
}

/** A view of the browser's own array: whoever wipes it leaves no copy of ours. */
function readPrf(credential: Credential): Uint8Array | undefined {
  const first = credential.getClientExtensionResults().prf?.results?.first;
  if (first === undefined || first instanceof ArrayBuffer) {
    return first && new Uint8Array(first);
  }
  return new Uint8Array(first.buffer, first.byteOffset, first.byteLength);
}

function nameCredential(credentialId: Hex): CredentialName {
  return { type: 'public-key', id: toBytes(credentialId) };
}

function toBytes(hex: Hex): Bytes {
  return Uint8Array.from(hexToBytes(hex));
}

function createRandom(): Bytes {
  return crypto.getRandomValues(new Uint8Array(32));
}

function createFailure(problem: string, cause?: unknown): PoolError {
  return new PoolError(
    'passkey_failed',
    `the passkey could not be used: ${problem}; try another passkey or browser`,
    { cause },
  );
}
