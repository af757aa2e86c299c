/**
 * The batch behind vectors/fund-proofs.json: who pays, the addresses of the contracts, what is proved. Every input is
 * fixed, so that contracts deployed in the order named here accept the proof on any development chain 31337.
 */

import {
  type BatchSize,
  computeFundAuthorizationData,
  type Field,
  type FundManifest,
  parseEvmAddress,
  parseHex,
} from '@pool/core';
import {
  buildFundBatch,
  computeEncryptionPublicKey,
  computeFundPublicInputs,
  computeFundWitnessInput,
  createEligibilityTree,
  type FundBatchPlan,
  verifyEligibilityPaths,
} from '@pool/notes';
import { computeAddress, getCreateAddress, HDNodeWallet, id, SigningKey, Wallet } from 'ethers';

/** Anvil's public mnemonic: its accounts are empty on every other chain. */
const mnemonic = 'test test test test test test test test test test test junk';

/** Deploys, owns the token, administrates. */
export const deployer = HDNodeWallet.fromPhrase(mnemonic, undefined, "m/44'/60'/0'/0/0");
/** The token is the deployer's first contract; `deployPool` follows with eight, the pool last. */
export const token = getCreateAddress({ from: deployer.address, nonce: 0 });
export const pool = getCreateAddress({ from: deployer.address, nonce: 8 });
export const funder = new Wallet(id('pool/vectors/funder'));
/** 2100-01-01, so that the fixture settles at any time of the test. */
const deadline = 4_102_444_800;

export type ProvableBatch = {
  readonly size: BatchSize;
  readonly plan: FundBatchPlan;
  readonly eligibilityRoot: Field;
  readonly digest: Field;
  readonly z: Field;
  readonly y: Field;
  /** Circuit input. Holds amounts and owners; these are test people. */
  readonly input: ReturnType<typeof computeFundWitnessInput>;
  readonly funderSignature: string;
  readonly deadline: number;
};

/** A batch that pays `size` test people, with everything the prover and the contract need. */
export async function makeProvableBatch(size: BatchSize): Promise<ProvableBatch> {
  const people = Array.from({ length: size }, (_, i) => {
    const key = new SigningKey(id(`pool/vectors/person ${String(i)}`));
    return {
      address: computeAddress(key.publicKey),
      walletPub: parseHex(key.compressedPublicKey),
      encryptionPublicKey: computeEncryptionPublicKey(BigInt(i + 1)),
      // The contract never sees evidence, but a manifest must contain some.
      evidence: { message: 'test', signature: `0x${'11'.repeat(65)}` as const },
      amount: String(1_000_000 + i),
    };
  });
  const manifest: FundManifest = {
    version: 1,
    kind: 'fund',
    employerId: '00000000-0000-4000-8000-000000000000',
    jobKey: `contract vectors ${String(size)}`,
    attempt: 1,
    chain: 'anvil',
    chainId: 31337,
    pool: parseEvmAddress(pool),
    token: parseEvmAddress(token),
    funder: parseEvmAddress(funder.address),
    size,
    recipients: people,
  };
  const plan = buildFundBatch(manifest, new Uint8Array(32).fill(size));
  const tree = createEligibilityTree();
  const recipients = plan.slots.filter((slot) => slot.recipientIndex !== undefined);
  for (const { walletId } of recipients) tree.insert(walletId);
  const eligibilityRoot = tree.root;
  const paths = verifyEligibilityPaths(
    eligibilityRoot,
    recipients.map(({ walletId }) => tree.path(walletId)),
  );
  const { digest, z, y } = computeFundPublicInputs({ ...plan, eligibilityRoot });
  const { domain, types, message } = computeFundAuthorizationData(31337, parseEvmAddress(pool), {
    funder: parseEvmAddress(funder.address),
    token: parseEvmAddress(token),
    total: plan.total,
    batchRoot: plan.batchRoot,
    batchNonce: plan.batchNonce,
    sealedNotesHash: plan.sealedNotesHash,
    deadline: BigInt(deadline),
  });
  return {
    size,
    plan,
    eligibilityRoot,
    digest,
    z,
    y,
    input: computeFundWitnessInput(plan, eligibilityRoot, paths),
    funderSignature: await funder.signTypedData(domain, types, message),
    deadline,
  };
}
