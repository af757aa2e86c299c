// From notes to the manifest of a withdrawal: which notes pay it, and what returns as change.
import { randomBytes } from 'node:crypto';
import { bytesToHex32, type EvmAddress, fieldToHex, type WalletPub } from '@pool/core';
import { planSpend } from '@pool/notes';
import type { ExitFile, Withdrawal } from './files.ts';
import type { Keys, SpendableNote } from './find-notes.ts';

/** Rounded up, so that it does not tell when the withdrawal was planned. */
const quarterHourSeconds = 900;

/** @throws Error if the notes do not cover the amount, or one proof cannot take so many of them */
export function planWithdrawal(input: {
  readonly chain: ExitFile['chain'];
  readonly token: EvmAddress;
  readonly walletPub: WalletPub;
  readonly keys: Keys;
  readonly notes: readonly SpendableNote[];
  /** Base units. */
  readonly amount: bigint;
  readonly recipient: EvmAddress;
  readonly nowSeconds: number;
}): Withdrawal {
  const { chain, keys, notes, amount } = input;
  const coins = planSpend(notes, amount, 0);
  switch (coins.kind) {
    case 'selected':
      break;
    case 'insufficient':
      throw new Error(`the notes hold ${coins.spendable} base units, less than the amount`);
    case 'consolidation-required':
      throw new Error(`withdraw at most ${coins.largestSpend} base units at once`);
    case 'too-many-recipients':
      throw new Error('a withdrawal pays nobody inside the pool');
  }
  return {
    manifest: {
      version: 1,
      kind: 'spend',
      chain: 'exit',
      chainId: chain.chainId,
      pool: chain.pool,
      token: input.token,
      circuit: coins.circuit,
      walletPub: input.walletPub,
      encryptionPublicKey: keys.encryptionPublicKey,
      inputNullifiers: coins.notes.map(({ nullifier }) => fieldToHex(nullifier)),
      changeEncryptionPublicKey: keys.encryptionPublicKey,
      changeAmount: coins.changeAmount.toString(),
      outputs: [],
      withdrawAmount: amount.toString(),
      recipient: input.recipient,
      deadline: Math.ceil(input.nowSeconds / quarterHourSeconds + 1) * quarterHourSeconds,
    },
    seed: bytesToHex32(randomBytes(32)),
  };
}
