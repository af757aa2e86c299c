// A wallet in a page: it reads a real chain and a real platform, proves with the browser's prover, and keeps everything in IndexedDB.
import {
  bytesToHex,
  type EvidenceDomain,
  type EvmChainSettings,
  parseEvmAddress,
  Secret,
} from '@pool/core';
import { createProver, type VerificationKey } from '@pool/prover';
import { createEdgeClient } from '../../../platform-client/src/browser.ts';
import {
  type BrowserWallet,
  deriveWalletKey,
  type EdgeKeyKind,
  openAccount,
  openBrowserWallet,
  type Withdrawal,
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
  /** The platform is gone. Wei for the gas of one transaction, which the account pays. */
  readonly gasCapWei?: string;
};

export type WithdrawalInput = {
  readonly key: string;
  readonly token: string;
  readonly amount: string;
  /** Undefined: the account itself. */
  readonly to?: string;
};

let wallet: BrowserWallet | undefined;

function opened(): BrowserWallet {
  if (wallet === undefined) throw new Error('the wallet is not open');
  return wallet;
}

function readWithdrawal({ token, amount, to }: Omit<WithdrawalInput, 'key'>): Withdrawal {
  const recipient = to === undefined ? {} : { to: parseEvmAddress(to) };
  return { token, amount: BigInt(amount), ...recipient };
}

const actions = {
  /** @returns how often a key was made */
  async open(input: PageInput): Promise<void> {
    const { chain, settings, edgeUrl, keys, evidence, verificationKey, gasCapWei } = input;
    const seed = new Secret(Uint8Array.from(input.seed));
    const account = await openAccount(seed, evidence.domain);
    const artifact = { wasm: '/circuit.wasm', zkey: '/circuit.zkey', verificationKey };
    const prover = createProver({
      artifacts: { ensureArtifacts: async () => artifact },
      keyCacheDir: 'proving-keys',
    });
    wallet = await openBrowserWallet({
      ...{ account, evidence },
      ...(gasCapWei === undefined
        ? {}
        : {
            exit: {
              gasKey: new Secret(bytesToHex(deriveWalletKey(seed).reveal())),
              gasCapWei: BigInt(gasCapWei),
            },
          }),
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
  plan: (input: WithdrawalInput) => opened().planWithdrawal(readWithdrawal(input)),
  async planExit(input: WithdrawalInput) {
    const { gas, revealed } = await opened().planExit(readWithdrawal(input));
    return { isPaid: gas.balanceWei >= (gas.expectedWei ?? gas.capWei), revealed };
  },
  async withdraw({ key, ...input }: WithdrawalInput) {
    const stages: string[] = [];
    const receipt = await opened().withdraw(readWithdrawal(input), {
      key,
      onEvent: (event) => void (event.kind === 'stage' && stages.push(event.stage)),
    });
    return { receipt, stages };
  },
  close: () => opened().close(),
};

export type PageActions = typeof actions;

Object.assign(globalThis, { walletPage: actions });
