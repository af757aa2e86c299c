/**
 * Client of the platform's session routes (docs/decisions/0010): sign-in by EIP-4361 or its form for ed25519 wallets, register, enrol, API keys, and edge tokens. One
 * client has one session, in memory only.
 *
 * @module
 */
import {
  type Capability,
  enrollmentResponseSchema,
  inviteResponseSchema,
  listEdgeTokensResponseSchema,
  listInvitationsResponseSchema,
  listKeysResponseSchema,
  mintEdgeTokenResponseSchema,
  mintKeyResponseSchema,
  nonceResponseSchema,
  onboardResponseSchema,
  registerResponseSchema,
  rotateResponseSchema,
  successResponseSchema,
  verifySessionResponseSchema,
} from '@pool/api';
import {
  type AccountAddress,
  chainFamilies,
  createEd25519SignInMessage,
  createSignInMessage,
  type EncryptionPublicKey,
  findAccountFamily,
  joinUrl,
  PoolError,
  parseEd25519Address,
  parseEvmAddress,
  parseServiceUrl,
  Secret,
  signInStatement,
} from '@pool/core';
import type { Fetch } from '@pool/http-client';
import type * as v from 'valibot';
import { callJson, type JsonAnswer, type JsonCall } from './json-call.ts';

export type SessionClientOptions = {
  /** The platform's base URL. */
  readonly url: string;
  readonly fetch?: Fetch;
  /** Current time. Default: the system clock. */
  readonly nowMs?: () => number;
};

export type SignInOptions = {
  /** Address of the wallet that signs. EVM: checksummed. */
  readonly address: AccountAddress;
  /**
   * EIP-191 signature of the text in lower-case hex: 65 bytes, low s, v 27 or 28. For a contract wallet, any signature that its
   * contract accepts (ERC-1271). A session of a contract wallet can pay but not enrol. For an ed25519 wallet: 64 bytes, of Solana over
   * the text, of Stellar over its SEP-53 hash.
   */
  readonly signMessage: (message: string) => Promise<string>;
  /** The platform's sign-in domain and URI, from the caller's own configuration. */
  readonly domain: string;
  readonly uri: string;
  /** EVM wallets only. Default: the first chain that the platform accepts. */
  readonly chainId?: number;
  /** P to enrol or rotate to. It becomes the text's `urn:pool:encryption-key` resource. */
  readonly encryptionPublicKey?: EncryptionPublicKey;
  /** A text that an earlier call passed to `signMessage`. Its nonce must be unused and alive. Default: a new text. */
  readonly message?: string;
};

export type Session = v.InferOutput<typeof verifySessionResponseSchema>;
export type Registration = v.InferOutput<typeof registerResponseSchema>;
export type Onboarding = v.InferOutput<typeof onboardResponseSchema>;
export type Rotation = v.InferOutput<typeof rotateResponseSchema>;
export type Enrollment = v.InferOutput<typeof enrollmentResponseSchema>;
/** A new key. Its plaintext is available only here. */
export type MintedKey = Omit<v.InferOutput<typeof mintKeyResponseSchema>, 'apiKey'> & {
  readonly apiKey: Secret;
};
export type KeyList = v.InferOutput<typeof listKeysResponseSchema>['keys'];

/** A new edge token. Its plaintext is available only here. */
export type MintedEdgeToken = Omit<v.InferOutput<typeof mintEdgeTokenResponseSchema>, 'token'> & {
  readonly token: Secret;
};
export type EdgeTokenList = v.InferOutput<typeof listEdgeTokensResponseSchema>['edgeTokens'];

export type InvitationQuota = v.InferOutput<typeof inviteResponseSchema>;
export type InvitationList = v.InferOutput<typeof listInvitationsResponseSchema>;

/** Every call throws `PoolError`: the platform's code, `platform_unreachable`, `platform_invalid_response`. */
export type SessionClient = {
  signIn(options: SignInOptions): Promise<Session>;
  /** Ends the session, in this client and on the platform. */
  signOut(): Promise<void>;
  register(name?: string): Promise<Registration>;
  onboard(walletPub: string, encryptionPublicKey: string): Promise<Onboarding>;
  /** Changes the P that new notes are sealed to. Sign in first with a text that lists `next`. */
  rotateEncryptionKey(walletPub: string, current: string, next: string): Promise<Rotation>;
  getEnrollment(): Promise<Enrollment>;
  /** Invites wallets to enrol, at most 500 per call. Has an effect only if the deployment requires invitations. */
  invite(addresses: readonly string[]): Promise<InvitationQuota>;
  listInvitations(): Promise<InvitationList>;
  /** Revokes an unused invitation. */
  cancelInvitation(address: string): Promise<void>;
  mintKey(capability: Capability, name: string): Promise<MintedKey>;
  listKeys(): Promise<KeyList>;
  revokeKey(id: number): Promise<void>;
  /** Makes an edge token for an agent of this employer. */
  mintEdgeToken(name: string): Promise<MintedEdgeToken>;
  listEdgeTokens(): Promise<EdgeTokenList>;
  revokeEdgeToken(id: number): Promise<void>;
};

// Onboarding waits for the gate, and the gate waits for finality.
const onboardTimeoutMs = 180_000;

const edgeTokensPath = '/api/employers/edge-tokens';
const keysPath = '/api/employers/keys';
const holderPath = '/api/employers/holder';
const invitationsPath = '/api/employers/invitations';

/**
 * A client with its own session, like a browser.
 *
 * @example
 * const session = createSessionClient({ url: 'https://platform.example' });
 * await session.signIn({ address, signMessage, domain, uri, chainId, encryptionPublicKey });
 * await session.onboard(walletPub, encryptionPublicKey);
 *
 * @throws PoolError `invalid_configuration`
 */
export function createSessionClient(options: SessionClientOptions): SessionClient {
  const base = parseServiceUrl(options.url, 'the platform url');
  const send = options.fetch ?? fetch;
  const nowMs = options.nowMs ?? Date.now;
  let session: Secret | undefined;

  async function exchange<TSchema extends v.GenericSchema>(
    method: JsonCall<TSchema>['method'],
    path: string,
    response: TSchema,
    rest: { body?: unknown; timeoutMs?: number | undefined } = {},
  ): Promise<JsonAnswer<v.InferOutput<TSchema>>> {
    const headers = session === undefined ? undefined : { cookie: `sessionId=${session.reveal()}` };
    const url = joinUrl(base, path);
    return await callJson({
      fetch: send,
      service: 'platform',
      method,
      url,
      response,
      headers,
      ...rest,
    });
  }

  async function call<TSchema extends v.GenericSchema>(
    method: JsonCall<TSchema>['method'],
    path: string,
    response: TSchema,
    body?: unknown,
    timeoutMs?: number,
  ): Promise<v.InferOutput<TSchema>> {
    return (await exchange(method, path, response, { body, timeoutMs })).value;
  }

  const revoke = async (path: string): Promise<void> => {
    await call('DELETE', path, successResponseSchema);
  };

  return {
    async signIn(signIn) {
      const message =
        signIn.message ??
        writeSignIn(signIn, await call('GET', '/api/auth/nonce', nonceResponseSchema), nowMs());
      const signature = await signIn.signMessage(message);
      session = undefined;
      const { value, headers } = await exchange(
        'POST',
        '/api/auth/verify',
        verifySessionResponseSchema,
        { body: { message, signature } },
      );
      session = readSessionCookie(headers);
      if (value.address !== signIn.address) {
        session = undefined;
        throw new PoolError(
          'platform_invalid_response',
          'the platform opened a session for another address than the signer of the text',
        );
      }
      return value;
    },
    async signOut() {
      await call('POST', '/api/auth/logout', successResponseSchema);
      session = undefined;
    },
    register: (name) =>
      call(
        'POST',
        '/api/employers/register',
        registerResponseSchema,
        name === undefined ? {} : { name },
      ),
    onboard: (walletPub, encryptionPublicKey) =>
      call(
        'POST',
        `${holderPath}/onboard`,
        onboardResponseSchema,
        { walletPub, encryptionPublicKey },
        onboardTimeoutMs,
      ),
    rotateEncryptionKey: (walletPub, current, next) =>
      call('POST', `${holderPath}/rotate-encryption-key`, rotateResponseSchema, {
        walletPub,
        currentEncryptionPublicKey: current,
        encryptionPublicKey: next,
      }),
    getEnrollment: () => call('GET', `${holderPath}/enrollment`, enrollmentResponseSchema),
    invite: (addresses) => call('POST', invitationsPath, inviteResponseSchema, { addresses }),
    listInvitations: () => call('GET', invitationsPath, listInvitationsResponseSchema),
    cancelInvitation: (address) => revoke(`${invitationsPath}/${encodeURIComponent(address)}`),
    async mintKey(capability, name) {
      const minted = await call('POST', keysPath, mintKeyResponseSchema, { capability, name });
      return { ...minted, apiKey: new Secret(minted.apiKey) };
    },
    listKeys: async () => (await call('GET', keysPath, listKeysResponseSchema)).keys,
    revokeKey: (id) => revoke(`${keysPath}/${id}`),
    async mintEdgeToken(name) {
      const minted = await call('POST', edgeTokensPath, mintEdgeTokenResponseSchema, { name });
      return { ...minted, token: new Secret(minted.token) };
    },
    listEdgeTokens: async () =>
      (await call('GET', edgeTokensPath, listEdgeTokensResponseSchema)).edgeTokens,
    revokeEdgeToken: (id) => revoke(`${edgeTokensPath}/${id}`),
  };
}

function writeSignIn(
  signIn: SignInOptions,
  { nonce, expiresAt, chainIds }: v.InferOutput<typeof nonceResponseSchema>,
  issuedAtMs: number,
): string {
  const { address, domain, uri, encryptionPublicKey } = signIn;
  const expirationTimeMs = Date.parse(expiresAt);
  const common = { domain, uri, nonce, issuedAtMs, expirationTimeMs };
  const family = findAccountFamily(address);
  if (family === 'evm') {
    return createSignInMessage({
      ...common,
      address: parseEvmAddress(address),
      chainId: signIn.chainId ?? chainIds[0] ?? 1,
      ...(encryptionPublicKey === undefined ? {} : { encryptionPublicKey }),
    });
  }
  return createEd25519SignInMessage({
    ...common,
    statement: signInStatement,
    family,
    address: parseEd25519Address(family, address),
    network: chainFamilies[family].signIn.networks[0],
    encryptionPublicKey,
  });
}

function readSessionCookie(headers: Headers): Secret {
  for (const cookie of headers.getSetCookie()) {
    const value = /^sessionId=([A-Za-z0-9_-]{16,256})(?:;|$)/.exec(cookie)?.[1];
    if (value !== undefined) {
      return new Secret(value);
    }
  }
  throw new PoolError('platform_invalid_response', 'the platform set no sessionId cookie');
}
