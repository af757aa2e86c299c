/** The platform's session routes: sign in with a wallet, mint a key, revoke it. */
import { Wallet } from 'ethers';
import { call, expectAnswer, expectSuccess } from './http.ts';

export type Session = {
  readonly address: string;
  mintKey(capability: string, name: string): Promise<{ id: number; apiKey: string }>;
  revokeKey(id: number): Promise<void>;
};

/** Signs in with an EIP-4361 text and makes the wallet's employer account, if it has none. */
export async function openSession(
  platformUrl: string,
  chainId: number,
  privateKey: string,
): Promise<Session> {
  const wallet = new Wallet(privateKey);
  const nonce = await call(`${platformUrl}/api/auth/nonce`);
  const { body } = expectAnswer('a nonce', nonce, 200);
  const now = Date.now();
  const message = [
    `${new URL(platformUrl).host} wants you to sign in with your Ethereum account:`,
    wallet.address,
    '',
    'Sign in to pay a roster.',
    '',
    `URI: ${platformUrl}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${String(body['nonce'])}`,
    `Issued At: ${new Date(now).toISOString()}`,
    `Expiration Time: ${new Date(now + 300_000).toISOString()}`,
  ].join('\n');
  const signature = await wallet.signMessage(message);
  const verified = await call(`${platformUrl}/api/auth/verify`, {
    method: 'POST',
    body: { message, signature },
  });
  expectSuccess('the sign-in', verified);
  const cookie = verified.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0] ?? '')
    .find((pair) => pair.startsWith('sessionId='));
  if (cookie === undefined) {
    throw new Error('the sign-in set no cookie sessionId');
  }

  const headers = { cookie };
  const employers = `${platformUrl}/api/employers`;
  const registered = await call(`${employers}/register`, { method: 'POST', headers, body: {} });
  expectSuccess('the employer account', registered);

  return {
    address: wallet.address,
    mintKey: async (capability, name) => {
      const body = { capability, name };
      const minted = await call(`${employers}/keys`, { method: 'POST', headers, body });
      const { id, apiKey } = expectSuccess('a key', minted);
      return { id: Number(id), apiKey: String(apiKey) };
    },
    revokeKey: async (id) => {
      const revoked = await call(`${employers}/keys/${id}`, { method: 'DELETE', headers });
      expectSuccess('the revocation', revoked);
    },
  };
}
