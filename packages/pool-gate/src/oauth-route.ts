/**
 * `POST /oauth/token` (RFC 6749 §4.4): client credentials as HTTP Basic or in the form.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { Shell, ShellContext } from '@pool/http-server';
import type { TokenService } from './oauth.ts';

export function addTokenRoute(app: Shell, tokens: TokenService): void {
  app.post('/oauth/token', async (c) => {
    const form = new URLSearchParams(await c.req.text());
    try {
      const granted = tokens.grant({
        ...readClientCredentials(c, form),
        grantType: form.get('grant_type') ?? undefined,
        scope: form.get('scope') ?? undefined,
        address: c.get('callerAddress'),
      });
      return c.json({
        access_token: granted.accessToken.reveal(),
        token_type: 'Bearer',
        expires_in: granted.expiresInSeconds,
        scope: granted.scope,
      });
    } catch (error) {
      if (!(error instanceof PoolError) || error.status === 429) {
        throw error;
      }
      // RFC 6749 §5.2 asks for `error`; every other answer has `{code, message}`. This one has both.
      const { code, message } = error;
      if (error.status === 401) {
        c.header('www-authenticate', 'Basic realm="pool-gate"');
      }
      const body = { error: code, error_description: message, code, message };
      return c.json(body, error.status === 401 ? 401 : 400);
    }
  });
}

/** Client id and secret from HTTP Basic (form-encoded per RFC 6749 §2.3.1) or from the form. */
function readClientCredentials(
  c: ShellContext,
  form: URLSearchParams,
): { clientId: string; clientSecret: string } {
  const basic = /^Basic ([A-Za-z0-9+/=]{1,1024})$/i.exec(c.req.header('authorization') ?? '')?.[1];
  if (basic !== undefined) {
    const text = Buffer.from(basic, 'base64').toString('utf8');
    const colon = text.indexOf(':');
    return {
      clientId: decodeForm(text.slice(0, Math.max(0, colon))),
      clientSecret: decodeForm(text.slice(colon + 1)),
    };
  }
  return {
    clientId: form.get('client_id') ?? '',
    clientSecret: form.get('client_secret') ?? '',
  };
}

function decodeForm(value: string): string {
  return new URLSearchParams(`v=${value}`).get('v') ?? '';
}
