/**
 * Client of the platform's session routes (docs/decisions/0010): sign-in by EIP-4361 or its form for ed25519 wallets, register, enrol,
 * invitations, API keys, and edge tokens. One client has one session: in its own memory, or in the browser's cookie.
 *
 * @module
 */
import { type Capability, platformRoutes, type Route } from '@pool/api';
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
import { callJson, fillPath, type JsonAnswer, type RouteValue } from './json-call.ts';

export type SessionClientOptions = {
  /** The platform's base URL. */
  readonly url: string;
  readonly fetch?: Fetch;
  /** Current time. Default: the system clock. */
  readonly nowMs?: () => number;
  /**
   * `browser`: the session is the browser's own cookie, which scripts cannot read. It outlives this client, and the page must be of the
   * platform's origin. Default: the client keeps the session in memory, which works outside of browsers only.
   */
  readonly cookie?: 'memory' | 'browser';
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

export type Session = RouteValue<typeof platformRoutes.verifySession>;
export type Registration = RouteValue<typeof platformRoutes.register>;
export type Onboarding = RouteValue<typeof platformRoutes.onboard>;
export type Rotation = RouteValue<typeof platformRoutes.rotateEncryptionKey>;
export type Enrollment = RouteValue<typeof platformRoutes.getEnrollment>;
/** A new key. Its plaintext is available only here. */
export type MintedKey = Omit<RouteValue<typeof platformRoutes.mintKey>, 'apiKey'> & {
  readonly apiKey: Secret;
};
export type KeyList = RouteValue<typeof platformRoutes.listKeys>['keys'];

/** A new edge token. Its plaintext is available only here. */
export type MintedEdgeToken = Omit<RouteValue<typeof platformRoutes.mintEdgeToken>, 'token'> & {
  readonly token: Secret;
};
export type EdgeTokenList = RouteValue<typeof platformRoutes.listEdgeTokens>['edgeTokens'];

export type InvitationQuota = RouteValue<typeof platformRoutes.invite>;
export type InvitationList = RouteValue<typeof platformRoutes.listInvitations>;

/** New links. The plaintext of each code is available only here. */
export type CreatedInvitationLinks = Omit<
  RouteValue<typeof platformRoutes.createInvitationLinks>,
  'links'
> & {
  readonly links: readonly {
    readonly reference: string;
    readonly code: Secret;
    readonly expiresAt: string;
  }[];
};
export type InvitationLinkList = RouteValue<typeof platformRoutes.listInvitationLinks>;
/** What the holder of a code is told. The employer's name is its own claim. */
export type OpenedInvitation = RouteValue<typeof platformRoutes.openInvitation>;

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
  /**
   * Makes a link for each reference, at most 500 per call. The unused link of a reference is replaced.
   * @param days - until they expire. Default: as long as the platform lets an invitation last
   */
  createInvitationLinks(
    references: readonly string[],
    days?: number,
  ): Promise<CreatedInvitationLinks>;
  listInvitationLinks(): Promise<InvitationLinkList>;
  /** Revokes a link whose wallet has not enrolled. */
  revokeInvitationLink(reference: string): Promise<void>;
  /** What the code of a link stands for. Needs no session; the employer sees that it was opened. */
  openInvitation(code: Secret): Promise<OpenedInvitation>;
  /** Binds a link to the wallet of the session, once. That wallet is invited from then on. */
  acceptInvitation(code: Secret): Promise<OpenedInvitation>;
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
  const { fetch: plain = fetch, cookie = 'memory', nowMs = Date.now } = options;
  const send: Fetch =
    cookie === 'browser'
      ? (input, init) => plain(input, { ...init, credentials: 'same-origin' })
      : plain;
  let session: Secret | undefined;

  type Rest = { params?: Record<string, string>; body?: unknown; timeoutMs?: number };

  async function exchange<R extends Route>(
    route: R,
    { params, ...rest }: Rest = {},
  ): Promise<JsonAnswer<RouteValue<R>>> {
    const headers = session === undefined ? undefined : { cookie: `sessionId=${session.reveal()}` };
    const url = joinUrl(base, fillPath(route.path, params));
    return await callJson({ fetch: send, service: 'platform', route, url, headers, ...rest });
  }

  async function call<R extends Route>(route: R, rest?: Rest): Promise<RouteValue<R>> {
    return (await exchange(route, rest)).value;
  }

  return {
    async signIn(signIn) {
      const message =
        signIn.message ?? writeSignIn(signIn, await call(platformRoutes.createNonce), nowMs());
      const signature = await signIn.signMessage(message);
      session = undefined;
      const body = { message, signature };
      const { value, headers } = await exchange(platformRoutes.verifySession, { body });
      session = cookie === 'memory' ? readSessionCookie(headers) : undefined;
      if (value.address !== signIn.address) {
        if (cookie === 'browser') {
          await call(platformRoutes.logout);
        }
        session = undefined;
        throw new PoolError(
          'platform_invalid_response',
          'the platform opened a session for another address than the signer of the text',
        );
      }
      return value;
    },
    async signOut() {
      await call(platformRoutes.logout);
      session = undefined;
    },
    register: (name) => call(platformRoutes.register, { body: name === undefined ? {} : { name } }),
    onboard: (walletPub, encryptionPublicKey) =>
      call(platformRoutes.onboard, {
        body: { walletPub, encryptionPublicKey },
        timeoutMs: onboardTimeoutMs,
      }),
    rotateEncryptionKey: (walletPub, current, next) =>
      call(platformRoutes.rotateEncryptionKey, {
        body: { walletPub, currentEncryptionPublicKey: current, encryptionPublicKey: next },
      }),
    getEnrollment: () => call(platformRoutes.getEnrollment),
    invite: (addresses) => call(platformRoutes.invite, { body: { addresses } }),
    listInvitations: () => call(platformRoutes.listInvitations),
    async cancelInvitation(address) {
      await call(platformRoutes.cancelInvitation, { params: { address } });
    },
    async createInvitationLinks(references, days) {
      const body = { references, ...(days === undefined ? {} : { days }) };
      const { links, ...rest } = await call(platformRoutes.createInvitationLinks, { body });
      return { ...rest, links: links.map((link) => ({ ...link, code: new Secret(link.code) })) };
    },
    listInvitationLinks: () => call(platformRoutes.listInvitationLinks),
    async revokeInvitationLink(reference) {
      await call(platformRoutes.revokeInvitationLink, { params: { reference } });
    },
    openInvitation: (code) =>
      call(platformRoutes.openInvitation, { body: { code: code.reveal() } }),
    acceptInvitation: (code) =>
      call(platformRoutes.acceptInvitation, { body: { code: code.reveal() } }),
    async mintKey(capability, name) {
      const minted = await call(platformRoutes.mintKey, { body: { capability, name } });
      return { ...minted, apiKey: new Secret(minted.apiKey) };
    },
    listKeys: async () => (await call(platformRoutes.listKeys)).keys,
    async revokeKey(id) {
      await call(platformRoutes.revokeKey, { params: { id: `${id}` } });
    },
    async mintEdgeToken(name) {
      const minted = await call(platformRoutes.mintEdgeToken, { body: { name } });
      return { ...minted, token: new Secret(minted.token) };
    },
    listEdgeTokens: async () => (await call(platformRoutes.listEdgeTokens)).edgeTokens,
    async revokeEdgeToken(id) {
      await call(platformRoutes.revokeEdgeToken, { params: { id: `${id}` } });
    },
  };
}

function writeSignIn(
  signIn: SignInOptions,
  { nonce, expiresAt, chainIds }: RouteValue<typeof platformRoutes.createNonce>,
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
