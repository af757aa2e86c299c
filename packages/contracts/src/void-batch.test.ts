/** The deployed contract accepts the typed data that @pool/core lets a funder sign. */
import {
  assertField,
  bigintToHex32,
  computeFundAuthorizationData,
  computeVoidBatchData,
  fieldToHex,
  parseEvmAddress,
} from '@pool/core';
import { type Anvil, startAnvil } from '@pool/testkit';
import { JsonRpcProvider, type JsonRpcSigner, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeRevert } from './calls/decode-revert.ts';
import { connectShieldedPool, type ShieldedPool } from './calls/shielded-pool.ts';
import { deployPool } from './deployment/deploy.ts';

describe('voidBatch, signed through @pool/core', () => {
  const funder = new Wallet(`0x${'42'.repeat(32)}`);
  const nonce = assertField(123_456_789n);
  const other = assertField(nonce + 1n);
  let anvil: Anvil;
  let provider: JsonRpcProvider;
  let anybody: JsonRpcSigner;
  let pool: ShieldedPool;

  beforeAll(async () => {
    anvil = await startAnvil();
    provider = new JsonRpcProvider(anvil.rpcUrl, undefined, { cacheTimeout: -1 });
    const signer = await provider.getSigner(0);
    const { address } = signer;
    const addresses = await deployPool({
      signer,
      guardian: address,
      relayer: address,
      gate: address,
    });
    anybody = await provider.getSigner(7);
    pool = connectShieldedPool(addresses.pool, anybody);
  });

  afterAll(async () => {
    provider.destroy();
    await anvil.stop();
  });

  const poolAddress = async () => parseEvmAddress(await pool.getAddress());

  it('voids the nonce of the funder who signed', async () => {
    const { domain, types, message } = computeVoidBatchData(
      31337,
      await poolAddress(),
      parseEvmAddress(funder.address),
      nonce,
    );
    const signature = await funder.signTypedData(domain, types, message);
    expect(await pool.isVoided(funder.address, fieldToHex(nonce))).toBe(false);
    await (await pool.voidBatch(funder.address, fieldToHex(nonce), signature)).wait();
    expect(await pool.isVoided(funder.address, fieldToHex(nonce))).toBe(true);
    expect(await pool.isVoided(anybody.address, fieldToHex(nonce))).toBe(false);
  });

  it('refuses an authorisation as a withdrawal', async () => {
    const { domain, types, message } = computeFundAuthorizationData(31337, await poolAddress(), {
      funder: parseEvmAddress(funder.address),
      token: parseEvmAddress(anybody.address),
      total: 1n,
      batchRoot: assertField(2n),
      batchNonce: other,
      sealedNotesHash: bigintToHex32(3n),
      deadline: 1n,
    });
    const signature = await funder.signTypedData(domain, types, message);
    const refusal = await pool.voidBatch
      .staticCall(funder.address, fieldToHex(other), signature)
      .catch(decodeRevert);
    expect(refusal).toMatchObject({ code: 'invalid-funder-signature' });
  });
});
