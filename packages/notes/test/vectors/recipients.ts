/** Wallets that are paid in the examples, and what a manifest says about them (protocol §2, §3). */
import { computeAddress, hashMessage, SigningKey } from 'ethers';
import {
  hex,
  pack,
  samplePrivateKey,
  sampleScalar,
  sha256,
  timesBase,
  walletIdOf,
  walletOf,
  word,
} from './reference.ts';

/** A recipient with the sign-in text that binds its encryption key to its wallet. */
export function exampleRecipient(i: number, amount: string) {
  const privateKey = samplePrivateKey(`recipient ${i}`);
  const viewingKey = sampleScalar(`recipient ${i}`);
  const address = computeAddress(privateKey);
  const encryptionPublicKey = pack(timesBase(viewingKey));
  const message =
    `pool.example wants you to sign in with your Ethereum account:\n${address}\n\nEnrol this wallet.\n\n` +
    `URI: https://pool.example\nVersion: 1\nChain ID: 31337\nNonce: ${hex(sha256(`nonce ${i}`)).slice(2, 26)}\n` +
    'Issued At: 2026-11-01T09:00:00.000Z\nExpiration Time: 2026-11-01T09:10:00.000Z\n' +
    `Resources:\n- urn:pool:encryption-key:${encryptionPublicKey}`;
  const signature = new SigningKey(privateKey).sign(hashMessage(message)).serialized;
  return {
    keys: { privateKey, viewingKey: word(viewingKey) },
    recipient: {
      address,
      walletPub: walletOf(privateKey).walletPub,
      encryptionPublicKey,
      evidence: { message, signature },
      amount,
      ...(i % 3 === 0 ? { memo: `pay run, person ${i}` } : {}),
    },
    walletId: walletIdOf(walletOf(privateKey)),
    point: timesBase(viewingKey),
  };
}
