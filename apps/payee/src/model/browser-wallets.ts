/**
 * Wallets of the browser's extensions (EIP-6963), as places where a withdrawal may go. A wallet signs that it has the key of its address.
 * What it says of itself is a stranger's text.
 *
 * @module
 */
import { type EvmAddress, tryParseEvmAddress } from '@pool/core';

type Provider = {
  request(call: {
    readonly method: string;
    readonly params?: readonly unknown[];
  }): Promise<unknown>;
};

export type BrowserWallet = {
  readonly id: string;
  /** At most 40 characters. */
  readonly name: string;
  readonly provider: Provider;
};

const maxWallets = 20;
const maxNameLength = 40;

/** @param waitMs - extensions answer within this time */
export async function findBrowserWallets(waitMs = 300): Promise<readonly BrowserWallet[]> {
  const found = new Map<string, BrowserWallet>();
  const onAnnounced = (event: Event): void => {
    const wallet = readAnnouncement((event as CustomEvent<unknown>).detail);
    if (wallet !== undefined && found.size < maxWallets) found.set(wallet.id, wallet);
  };
  addEventListener('eip6963:announceProvider', onAnnounced);
  try {
    dispatchEvent(new Event('eip6963:requestProvider'));
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  } finally {
    removeEventListener('eip6963:announceProvider', onAnnounced);
  }
  return [...found.values()];
}

function readAnnouncement(detail: unknown): BrowserWallet | undefined {
  if (typeof detail !== 'object' || detail === null) return undefined;
  const { info, provider } = detail as { info?: Record<string, unknown>; provider?: Provider };
  const id = info?.['uuid'];
  const name = info?.['name'];
  if (
    typeof id !== 'string' ||
    typeof name !== 'string' ||
    typeof provider?.request !== 'function'
  ) {
    return undefined;
  }
  return { id, name: name.slice(0, maxNameLength), provider };
}

const types = {
  WithdrawalAddress: [
    { name: 'statement', type: 'string' },
    { name: 'site', type: 'string' },
    { name: 'nonce', type: 'bytes32' },
  ],
};
/** Without a chain: wallets refuse typed data of a chain that is not the one they show. */
const domain = { name: 'Pool withdrawal address', version: '1' };
const domainTypes = Object.keys(domain).map((name) => ({ name, type: 'string' }));
const statement = 'I want to receive withdrawals at this address. This signature moves no money.';

export type WalletAnswer =
  | { readonly kind: 'address'; readonly address: EvmAddress }
  /** It did not answer, or was told not to. */
  | { readonly kind: 'refused' }
  /** The signature is not by the key of the address, as that of a contract is not. */
  | { readonly kind: 'not-signed' };

/** Asks a wallet for its address and for a signature by its key. The wallet does not learn whose account this is. */
export async function readWalletAddress({ provider }: BrowserWallet): Promise<WalletAnswer> {
  const { hexlify, verifyTypedData } = await import('./typed-data.ts');
  try {
    const accounts = await provider.request({ method: 'eth_requestAccounts' });
    const address = tryParseEvmAddress(Array.isArray(accounts) ? String(accounts[0]) : '');
    if (address === undefined) return { kind: 'refused' };
    const nonce = hexlify(crypto.getRandomValues(new Uint8Array(32)));
    const message = { statement, site: location.host, nonce };
    const document = {
      types: { EIP712Domain: domainTypes, ...types },
      primaryType: 'WithdrawalAddress',
      ...{ domain, message },
    };
    const params = [address, JSON.stringify(document)];
    const signature = String(await provider.request({ method: 'eth_signTypedData_v4', params }));
    const isOwn =
      /^0x[0-9a-f]{130}$/i.test(signature) &&
      verifyTypedData(domain, types, message, signature) === address;
    return isOwn ? { kind: 'address', address } : { kind: 'not-signed' };
  } catch {
    return { kind: 'refused' };
  }
}
