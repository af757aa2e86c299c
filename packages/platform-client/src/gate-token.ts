/**
 * Access tokens of the pool-gate: OAuth 2.0 client credentials (RFC 6749 §4.4). A token is kept until shortly before it expires,
 * and waiting calls share one request for it.
 *
 * @module
 */
import { PoolError, parseServiceUrl, Secret } from '@pool/core';
import { type Fetch, fetchBounded, readText } from '@pool/http-client';
import {
  allowInsecureRequests,
  ClientSecretBasic,
  clientCredentialsGrantRequest,
  customFetch,
  processClientCredentialsResponse,
} from 'oauth4webapi';

export type GateCredentials = {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** Space-separated scopes, for example `gate.read`. */
  readonly scope: string;
};

export type GateTokenSource = {
  /** A token that does not expire soon. @throws PoolError `gate_unauthorized`, `gate_unreachable` */
  get(): Promise<Secret>;
  /** Drops the token after the gate refused it. */
  forget(): void;
};

// A token is renewed this long before it expires, so that it does not expire during a call.
const renewBeforeMs = 30_000;
const assumedLifeSeconds = 60;

export function createGateTokenSource(
  credentials: GateCredentials,
  send: Fetch,
  nowMs: () => number,
): GateTokenSource {
  const tokenUrl = parseServiceUrl(credentials.tokenUrl, 'the gate token url');
  let kept: { readonly token: Secret; readonly goodUntilMs: number } | undefined;
  let asking: Promise<Secret> | undefined;

  async function ask(): Promise<Secret> {
    const server = { issuer: tokenUrl.origin, token_endpoint: tokenUrl.href };
    const client = { client_id: credentials.clientId };
    try {
      const response = await clientCredentialsGrantRequest(
        server,
        client,
        ClientSecretBasic(credentials.clientSecret.reveal()),
        { scope: credentials.scope },
        {
          // parseServiceUrl has already refused plain http except on loopback.
          [allowInsecureRequests]: true,
          [customFetch]: async (url, init) => {
            const answer = await fetchBounded(
              {
                fetch: send,
                url: new URL(url),
                service: 'gate',
                init: { method: init.method, headers: init.headers, body: init.body },
                maxBytes: 64 * 1024,
              },
              readText,
            );
            // A failing token server is not a refusal: the job waits for it instead of failing.
            if (answer.status >= 500 || answer.status === 429) {
              throw new PoolError(
                'gate_unreachable',
                `the pool-gate's token server answered with status ${answer.status}`,
              );
            }
            return new Response(answer.body, { status: answer.status, headers: answer.headers });
          },
        },
      );
      const granted = await processClientCredentialsResponse(server, client, response);
      const lifeMs = 1000 * (granted.expires_in ?? assumedLifeSeconds);
      const token = new Secret(granted.access_token);
      kept = { token, goodUntilMs: nowMs() + lifeMs - Math.min(renewBeforeMs, lifeMs / 2) };
      return token;
    } catch (cause) {
      if (cause instanceof PoolError) {
        throw cause;
      }
      throw new PoolError(
        'gate_unauthorized',
        'the pool-gate refused the client credentials or the scope; check POOL_GATE_OAUTH_*',
        { cause },
      );
    }
  }

  return {
    async get() {
      if (kept !== undefined && nowMs() < kept.goodUntilMs) {
        return kept.token;
      }
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return await asking;
    },
    forget() {
      kept = undefined;
    },
  };
}
