/** The platform's session routes: sign in with a wallet, mint a key, revoke it. */
import { Wallet } from 'ethers';
import { call, expectStatus } from './http.ts';

/** `apiKey` is returned only once; `keyPrefix` is its public part. */
export type MintedKey = {
  readonly id: number;
  readonly apiKey: string;
  readonly keyPrefix: string;
};

/** Signs in with an EIP-4361 text and opens the wallet's employer account, if it has none. */
export async function openSession(platformUrl: string, chainId: number, privateKey: string) {
  const wallet = new Wallet(privateKey);
  const nonce = await call(`${platformUrl}/api/auth/nonce`);
  const { nonce: text } = expectStatus('a nonce', nonce, 200);
  const message = writeSignIn(platformUrl, chainId, wallet.address, String(text));
  const signature = await wallet.signMessage(message);
  const signIn = { message, signature };
  const verified = await call(`${platformUrl}/api/auth/verify`, { method: 'POST', body: signIn });
  expectStatus('the sign-in', verified, 200);
  const cookie = verified.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0] ?? '')
    .find((pair) => pair.startsWith('sessionId='));
  if (cookie === undefined) {
    throw new Error('the sign-in set no cookie sessionId');
  }

  const headers = { cookie };
  const employers = `${platformUrl}/api/employers`;
  const account = { method: 'POST', headers, body: {}, isRepeatable: true } as const;
  expectStatus('the employer account', await call(`${employers}/register`, account), 200);

  return {
    address: wallet.address,
    async mintKey(capability: string, name: string): Promise<MintedKey> {
      // Not repeatable: each call mints another key.
      const body = { capability, name };
      const minted = await call(`${employers}/keys`, { method: 'POST', headers, body });
      return expectStatus('a key', minted, 201) as MintedKey;
    },
    async revokeKey(id: number): Promise<void> {
      const revoked = await call(`${employers}/keys/${id}`, { method: 'DELETE', headers });
      expectStatus('the revocation', revoked, 200);
    },
  };
}

/** The text to sign. Domain and URI are the platform's own, so the signature is good nowhere else. */
function writeSignIn(platformUrl: string, chainId: number, address: string, nonce: string): string {
  const now = Date.now();
  return [
    `${new URL(platformUrl).host} wants you to sign in with your Ethereum account:`,
    address,
    '',
    'Sign in to pay a roster.',
    '',
    `URI: ${platformUrl}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${new Date(now).toISOString()}`,
    `Expiration Time: ${new Date(now + 300_000).toISOString()}`,
  ].join('\n');
}
