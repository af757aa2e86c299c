// A wallet in a page: it reads a real chain and a real platform, proves with the browser's prover, and keeps everything in IndexedDB.
import { type EvidenceDomain, type EvmChainSettings, parseEvmAddress, Secret } from '@pool/core';
import { createProver, type VerificationKey } from '@pool/prover';
import { createEdgeClient } from '../../../platform-client/src/browser.ts';
import {
  type BrowserWallet,
  type EdgeKeyKind,
  openAccount,
  openBrowserWallet,
} from '../../src/browser/index.ts';
import { createCircuitProver } from '../../src/index.ts';

export type PageInput = {
  readonly chain: string;
  readonly settings: EvmChainSettings;
  /** 32 bytes. */
  readonly seed: readonly number[];
  readonly edgeUrl: string;
  /** API keys by their kind. */
  readonly keys: Readonly<Record<string, string>>;
  readonly evidence: EvidenceDomain;
  readonly verificationKey: VerificationKey;
};

export type WithdrawalInput = {
  readonly key: string;
  readonly token: string;
  readonly amount: string;
  readonly to: string;
};

let wallet: BrowserWallet | undefined;

function opened(): BrowserWallet {
  if (wallet === undefined) throw new Error('the wallet is not open');
  return wallet;
}

const actions = {
  /** @returns how often a key was made */
  async open(input: PageInput): Promise<void> {
    const { chain, settings, seed, edgeUrl, keys, evidence, verificationKey } = input;
    const account = await openAccount(new Secret(Uint8Array.from(seed)), evidence.domain);
    const artifact = { wasm: '/circuit.wasm', zkey: '/circuit.zkey', verificationKey };
    const prover = createProver({
      artifacts: { ensureArtifacts: async () => artifact },
      keyCacheDir: 'proving-keys',
    });
    wallet = await openBrowserWallet({
      ...{ account, evidence },
      createEdge: (token) => createEdgeClient({ url: edgeUrl, token }),
      chain: { key: chain, settings },
      mintKey: async (kind: EdgeKeyKind) => {
        const key = keys[kind];
        if (key === undefined) throw new Error(`no key of the kind ${kind} may be made`);
        return new Secret(key);
      },
      prover: createCircuitProver(prover, 'real', async () => verificationKey),
    });
  },
  async balance(token: string) {
    const { total, spendable, notes } = await opened().readBalance(token);
    return { total: `${total}`, spendable: `${spendable}`, notes };
  },
  history: async (token: string) => (await opened().readHistory({ token })).entries,
  plan: ({ token, amount, to }: WithdrawalInput) =>
    opened().planWithdrawal({ token, amount: BigInt(amount), to: parseEvmAddress(to) }),
  async withdraw({ key, token, amount, to }: WithdrawalInput) {
    const stages: string[] = [];
    const receipt = await opened().withdraw(
      { token, amount: BigInt(amount), to: parseEvmAddress(to) },
      { key, onEvent: (event) => void (event.kind === 'stage' && stages.push(event.stage)) },
    );
    return { receipt, stages };
  },
  close: () => opened().close(),
};

export type PageActions = typeof actions;

Object.assign(globalThis, { walletPage: actions });
