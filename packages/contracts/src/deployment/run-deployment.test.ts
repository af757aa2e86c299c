/** Creation on a real chain whose fees change: more than one transaction is signed for a nonce, and any of them may be mined. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Anvil, anvilMnemonic, startAnvil } from '@pool/testkit';
import { getCreateAddress, HDNodeWallet, JsonRpcProvider, Transaction, Wallet } from 'ethers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DeploymentState, openState } from './deployment-state.ts';
import { runDeployment } from './run-deployment.ts';

/** Stores the one byte `fe` as the code of the contract. */
const initCode = '0x60fe60005360016000f3';
const account = `0x${'11'.repeat(20)}`;
const terms = {
  ...{ chainId: 31337, firstNonce: 0, deployer: account },
  ...{ admin: account, guardian: account, relayer: account, gate: account },
  ...{ graceSeconds: 3_600, keysDigest: '0x' },
};

describe('a creation that was signed twice because fees rose', () => {
  let anvil: Anvil;
  let provider: JsonRpcProvider;
  let wallet: Wallet;
  let state: DeploymentState;
  let directory: string;
  let steps: string[];

  beforeEach(async () => {
    anvil = await startAnvil();
    provider = new JsonRpcProvider(anvil.rpcUrl, anvil.chainId, {
      staticNetwork: true,
      cacheTimeout: -1,
    });
    wallet = new Wallet(HDNodeWallet.fromPhrase(anvilMnemonic).privateKey, provider);
    directory = await mkdtemp(join(tmpdir(), 'pool-deployment-'));
    state = openState(join(directory, 'deployment.json'), terms);
    steps = [];
    await provider.send('evm_setAutomine', [false]);
  });
  afterEach(async () => {
    provider.destroy();
    await anvil.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const contract = () => ({
    name: 'pool',
    address: getCreateAddress({ from: wallet.address, nonce: 0 }),
    nonce: 0,
    initCode,
    constructorArguments: '0x',
    runtimeCode: '0xfe',
    source: '',
  });
  /** @param onFirstWait - what the chain does meanwhile */
  const run = (onFirstWait: () => Promise<void> = () => Promise.resolve()) => {
    let waits = 0;
    return runDeployment({
      provider,
      wallet,
      plan: [contract()],
      state,
      onStep: (text) => steps.push(text),
      async sleep() {
        waits += 1;
        if (waits === 1) await onFirstWait();
      },
      waitMs: 2_000,
    });
  };
  async function mineAt(baseFee: bigint): Promise<void> {
    await provider.send('anvil_setNextBlockBaseFeePerGas', [`0x${baseFee.toString(16)}`]);
    await provider.send('anvil_mine', ['0x1']);
  }
  /** The node forgets the newest transaction, and mines the first one. */
  async function mineTheFirst(): Promise<void> {
    const [newest = '', first = ''] = state.read('pool');
    await provider.send('anvil_dropTransaction', [Transaction.from(newest).hash]);
    await provider.send('anvil_setNextBlockBaseFeePerGas', ['0x1']);
    await provider.broadcastTransaction(first);
    await provider.send('anvil_mine', ['0x1']);
  }
  async function signTwice(): Promise<void> {
    await expect(run()).rejects.toMatchObject({ code: 'deployment_failed' });
    await mineAt(10n ** 12n);
    await expect(run()).rejects.toMatchObject({ code: 'deployment_failed' });
    expect(state.read('pool')).toHaveLength(2);
  }

  it('ends while it waits when the earlier transaction is mined', async () => {
    await expect(run()).rejects.toMatchObject({ code: 'deployment_failed' });
    await mineAt(10n ** 12n);
    const block = await run(mineTheFirst);
    expect(block).toBe(await provider.getBlockNumber());
    expect(steps.at(-1)).toContain('the chain has the planned code');
  });

  it('ends in a later run when the earlier transaction was mined meanwhile', async () => {
    await signTwice();
    await mineTheFirst();
    const block = await provider.getBlockNumber();
    expect(await run()).toBe(block);
    const again = openState(join(directory, 'deployment.json'), terms);
    expect(again.read('pool')).toEqual(state.read('pool'));
  });
});
