// The hands of a person, and the devices that answer for passkeys.
import type { Page } from './served-page.ts';

export async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
}

/** A device for passkeys of Chromium, which the tab of `client` has. @returns its id */
export async function addAuthenticator(
  client: Awaited<ReturnType<ReturnType<Page['context']>['newCDPSession']>>,
  { transport = 'internal', hasPrf = true }: AuthenticatorKind = {},
): Promise<string> {
  await client.send('WebAuthn.enable');
  const options = {
    ...({ protocol: 'ctap2', ctap2Version: 'ctap2_1' } as const),
    ...{ transport, hasPrf, automaticPresenceSimulation: true },
    ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
  };
  return (await client.send('WebAuthn.addVirtualAuthenticator', { options })).authenticatorId;
}
type AuthenticatorKind = {
  readonly transport?: 'internal' | 'usb';
  readonly hasPrf?: boolean;
};

/**
 * Passkeys that open in every tab of a browser: a virtual authenticator of Chromium belongs to one tab. Each passkey is another device.
 * Before the page is opened.
 */
export async function shareDevices(context: ReturnType<Page['context']>): Promise<void> {
  await context.addInitScript(`{
    const answer = (id, prf) => ({ rawId: id.slice().buffer, getClientExtensionResults: () => ({ prf }) });
    navigator.credentials.create = async () => answer(crypto.getRandomValues(new Uint8Array(32)), { enabled: true });
    navigator.credentials.get = async ({ publicKey }) => {
      const { id } = publicKey.allowCredentials[0];
      const [{ first: salt }] = Object.values(publicKey.extensions.prf.evalByCredential);
      const first = await crypto.subtle.digest('SHA-256', await new Blob(['secret of a device', id, salt]).arrayBuffer());
      return answer(id, { results: { first } });
    };
  }`);
}
