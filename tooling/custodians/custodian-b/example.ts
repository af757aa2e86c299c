/**
 * A configuration for tests and demonstrations, with the public test keys of `vectors/custodian-b.json`.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import type { CustodianBConfig, Role } from './config.ts';

type KeyPair = { readonly privateKey: string; readonly publicKey: string };

/** The part of the vectors that a configuration needs. */
type ExampleFile = {
  readonly keys: Readonly<Record<'agent' | 'gate' | 'signer' | 'cosigner' | 'handler', KeyPair>>;
  readonly apiUsers: Readonly<
    Record<'agent' | 'gate' | 'signer', { readonly id: string; readonly role: Role }>
  >;
  readonly vaultAccount: {
    readonly id: string;
    readonly name: string;
    readonly privateKey: string;
    readonly address: string;
    readonly assets: string[];
  };
  readonly cosigners: { readonly list: { readonly data: readonly { readonly id: string }[] } };
};

export type Example = {
  readonly config: CustodianBConfig;
  /** The agent's and the gate's credentials. A third user is paired with the co-signer: `config.cosigner.signerId`. */
  readonly users: Readonly<
    Record<'agent' | 'gate', { readonly apiKey: string; readonly privateKey: string }>
  >;
  /** Of the vault account. */
  readonly address: string;
  /** SPKI PEM. The handler verifies callbacks with it. */
  readonly cosignerPublicKey: string;
  /** PKCS#8 PEM and SPKI PEM. The handler signs its answers with the first. */
  readonly handlerKeys: KeyPair;
};

/**
 * @param overrides replace whole fields of the configuration
 * @param callbackUrl of the handler, which signs with `handlerKeys`. Without it the co-signer signs by itself
 */
export function createExample(
  overrides: Partial<CustodianBConfig> = {},
  callbackUrl?: string,
): Example {
  const file = new URL('../../../vectors/custodian-b.json', import.meta.url);
  const example = JSON.parse(readFileSync(file, 'utf8')) as ExampleFile;
  const { keys, apiUsers, cosigners } = example;
  const { address, ...account } = example.vaultAccount;
  const { agent, gate, signer } = apiUsers;
  return {
    config: {
      apiUsers: [
        { ...agent, publicKey: keys.agent.publicKey },
        { ...gate, publicKey: keys.gate.publicKey },
        { ...signer, publicKey: keys.signer.publicKey },
      ],
      vaultAccounts: [account],
      cosigner: {
        id: cosigners.list.data[0]?.id ?? 'cosigner',
        privateKey: keys.cosigner.privateKey,
        signerId: signer.id,
        ...(callbackUrl === undefined
          ? {}
          : { callback: { url: callbackUrl, publicKey: keys.handler.publicKey } }),
      },
      ...overrides,
    },
    users: {
      agent: { apiKey: agent.id, privateKey: keys.agent.privateKey },
      gate: { apiKey: gate.id, privateKey: keys.gate.privateKey },
    },
    address,
    cosignerPublicKey: keys.cosigner.publicKey,
    handlerKeys: keys.handler,
  };
}
