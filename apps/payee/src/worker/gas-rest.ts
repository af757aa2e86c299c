/**
 * Coin that is left in the account that paid for withdrawals without the platform.
 *
 * @module
 */
import {
  type EvmAddress,
  type EvmChainSettings,
  type Hex32,
  PoolError,
  parseEvmAddress,
  parseHex32,
  type Secret,
} from '@pool/core';
import { createEvmGasChain, type GasChain } from '@pool/wallet/evm';
import { computeAddress, Wallet } from 'ethers';
import { computeSendable } from '../model/gas.ts';
import type { GasRest } from '../wallet-port.ts';

/** The least gas of a transaction (Ethereum yellow paper, G_transaction). */
const leastGas = 21_000n;

/** @param gasKey - `0x` hex, secret */
export function createGasRest(gasKey: Secret, settings: EvmChainSettings) {
  const from = parseEvmAddress(computeAddress(gasKey.reveal()));

  async function plan(chain: GasChain, to: EvmAddress) {
    const balanceWei = await chain.call((provider) => provider.getBalance(from));
    const { maxFeePerGas, maxPriorityFeePerGas } = await chain.fetchFees();
    const fees = { maxFeePerGas, maxPriorityFeePerGas };
    // A node estimates nothing for an account that cannot pay it.
    const gasLimit =
      computeSendable(balanceWei, leastGas * maxFeePerGas) === 0n
        ? leastGas
        : await chain.call((provider) => provider.estimateGas({ from, to, value: 1n }));
    const sendableWei = computeSendable(balanceWei, gasLimit * maxFeePerGas);
    return { balanceWei, sendableWei, gasLimit, fees };
  }

  async function asking<T>(work: (chain: GasChain) => Promise<T>): Promise<T> {
    const chain = createEvmGasChain(settings);
    try {
      return await work(chain);
    } finally {
      chain.close();
    }
  }

  return {
    plan: (to: EvmAddress): Promise<GasRest> =>
      asking(async (chain) => {
        const { balanceWei, sendableWei } = await plan(chain, to);
        return { from, balanceWei, sendableWei };
      }),
    /**
     * Sends what can be sent. Repeated, it sends what is left then.
     * @throws PoolError `gas_key_unfunded`; `spend_unfinished` while another transaction of the account is not mined
     */
    send: (to: EvmAddress): Promise<Hex32> =>
      asking(async (chain) => {
        const { sendableWei: value, gasLimit, fees } = await plan(chain, to);
        if (value === 0n) {
          throw new PoolError('gas_key_unfunded', `${from} has less than sending it on costs`);
        }
        return await chain.call(async (provider) => {
          const [nonce, next] = await Promise.all([
            provider.getTransactionCount(from, 'latest'),
            provider.getTransactionCount(from, 'pending'),
          ]);
          if (next !== nonce) {
            throw new PoolError('spend_unfinished', `a transaction of ${from} is not mined yet`);
          }
          const wallet = new Wallet(gasKey.reveal(), provider);
          const { chainId } = settings;
          const sent = await wallet.sendTransaction({
            ...{ type: 2, chainId, nonce, to, value, gasLimit },
            ...fees,
          });
          return parseHex32(sent.hash);
        });
      }),
  };
}
