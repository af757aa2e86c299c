/** Deployment against a real chain: addresses, roles, refusals, and what a revert decodes to. */
import { bigintToHex32, computeAssetId, parseEvmAddress } from '@pool/core';
import { type Anvil, startAnvil } from '@pool/testkit';
import { id, JsonRpcProvider, type JsonRpcSigner, ZeroHash } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeRevert } from '../calls/decode-revert.ts';
import { connectEligibilityRegistry } from '../calls/eligibility-registry.ts';
import { connectErc20 } from '../calls/erc20.ts';
import { connectShieldedPool, noPermit } from '../calls/shielded-pool.ts';
import {
  deployPoolTestToken,
  deployZeroFirstTestToken,
  mintTestToken,
} from '../calls/test-tokens.ts';
import { deployPool, type PoolAddresses } from './deploy.ts';

function word(value: number): string {
  return bigintToHex32(BigInt(value));
}

/** The code of the error a call ends with. */
async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'no revert',
    (error: unknown) => decodeRevert(error).code,
  );
}

describe('deployPool', () => {
  let anvil: Anvil;
  let provider: JsonRpcProvider;
  let signers: JsonRpcSigner[];
  let token: string;
  let addresses: PoolAddresses;

  const signer = (index: number): JsonRpcSigner => {
    const found = signers[index];
    if (found === undefined) throw new Error('anvil has fewer accounts');
    return found;
  };

  beforeAll(async () => {
    anvil = await startAnvil();
    provider = new JsonRpcProvider(anvil.rpcUrl, undefined, { cacheTimeout: -1 });
    signers = await provider.listAccounts();
    token = await deployPoolTestToken({ signer: signer(0), name: 'Test Dollar', symbol: 'TUSD' });
    addresses = await deployPool({
      signer: signer(0),
      guardian: signer(1).address,
      relayer: signer(2).address,
      gate: signer(3).address,
      eligibilityGraceSeconds: 3_000,
      tokens: [token],
    });
  });

  afterAll(async () => {
    provider.destroy();
    await anvil.stop();
  });

  it('deploys code at every address that it returns, in the block that it names', async () => {
    const { deploymentBlock, ...contracts } = addresses;
    for (const address of Object.values(contracts)) {
      const codeBytes = ((await provider.getCode(address)).length - 2) / 2;
      expect(codeBytes).toBeGreaterThan(50);
      // EIP-170; the development chain can be less strict than a public one.
      expect(codeBytes).toBeLessThanOrEqual(24_576);
    }
    expect(await provider.getCode(addresses.pool, deploymentBlock - 1)).toBe('0x');
    expect(await provider.getCode(addresses.pool, deploymentBlock)).not.toBe('0x');
  });

  it('wires the pool to its registry and verifiers', async () => {
    const pool = connectShieldedPool(addresses.pool, provider);
    expect(await pool.eligibilityRegistry()).toBe(addresses.registry);
    expect(await pool.verifierFor(0n, 16n)).toBe(addresses.fund16Verifier);
    expect(await pool.verifierFor(0n, 64n)).toBe(addresses.fund64Verifier);
    expect(await pool.verifierFor(0n, 256n)).toBe(addresses.fund256Verifier);
    expect(await pool.verifierFor(2n, 4n)).toBe(addresses.spend2x4Verifier);
    expect(await pool.verifierFor(16n, 8n)).toBe(addresses.spend16x8Verifier);
    expect(await pool.batchCount()).toBe(0n);
    expect(await pool.currentRoot()).toBe(ZeroHash);
  });

  it('gives each role to its address and to no other [service.dual-signature]', async () => {
    const pool = connectShieldedPool(addresses.pool, provider);
    const registry = connectEligibilityRegistry(addresses.registry, provider);
    const holders = async (has: (account: string) => Promise<boolean>): Promise<number[]> => {
      const answers = await Promise.all(signers.map((account) => has(account.address)));
      return answers.flatMap((answer, index) => (answer ? [index] : []));
    };
    expect(await holders((a) => pool.hasRole(ZeroHash, a))).toEqual([0]);
    expect(await holders((a) => pool.hasRole(id('GUARDIAN_ROLE'), a))).toEqual([1]);
    expect(await holders((a) => pool.hasRole(id('RELAYER_ROLE'), a))).toEqual([2]);
    expect(await holders((a) => registry.hasRole(ZeroHash, a))).toEqual([0]);
    expect(await holders((a) => registry.hasRole(id('PUBLISHER_ROLE'), a))).toEqual([3]);
  });

  it('caches the asset id that @pool/core computes', async () => {
    const pool = connectShieldedPool(addresses.pool, provider);
    const expected = computeAssetId(31337, parseEvmAddress(addresses.pool), parseEvmAddress(token));
    expect(BigInt(await pool.assetIdOf(token))).toBe(expected);
    expect(await pool.isTokenEnabled(token)).toBe(true);
    expect(await pool.assetIdOf(addresses.registry)).toBe(ZeroHash);
  });

  it('lets only the administrator of the deployment enable tokens', async () => {
    const failure = deployPool({
      signer: signer(0),
      admin: signer(5).address,
      guardian: signer(1).address,
      relayer: signer(2).address,
      gate: signer(3).address,
      tokens: [token],
    });
    await expect(failure).rejects.toMatchObject({ code: 'invalid_deployment' });
  });

  it('sends nothing on a public chain, where development keys protect nothing', async () => {
    const mainnet = await startAnvil({ chainId: 1 });
    const other = new JsonRpcProvider(mainnet.rpcUrl);
    try {
      const deployment = deployPool({
        signer: await other.getSigner(0),
        guardian: signer(1).address,
        relayer: signer(2).address,
        gate: signer(3).address,
      });
      await expect(deployment).rejects.toMatchObject({ code: 'development_key_on_public_chain' });
      expect(await (await other.getSigner(0)).getNonce()).toBe(0);
    } finally {
      other.destroy();
      await mainnet.stop();
    }
  });

  it('decodes why a batch is refused', async () => {
    const batch = {
      funder: signer(4).address,
      token: addresses.registry,
      total: 1n,
      batchNonce: word(1),
      eligibilityRoot: word(2),
      batchRoot: word(3),
      commitments: Array.from({ length: 16 }, (_, i) => word(100 + i)),
      sealedNotesHash: word(4),
      digest: word(5),
      deadline: 2n ** 40n,
    };
    const proof = {
      a: [1n, 2n],
      b: [
        [0n, 0n],
        [0n, 0n],
      ],
      c: [1n, 2n],
    } as const;
    const byRelayer = connectShieldedPool(addresses.pool, signer(2));
    const byStranger = connectShieldedPool(addresses.pool, signer(4));
    const call = (change: Partial<typeof batch>, pool = byRelayer) =>
      codeOf(pool.fund.staticCall({ ...batch, ...change }, proof, '0x', noPermit));
    expect(await call({}, byStranger)).toBe('access-control-unauthorized-account');
    expect(await call({})).toBe('token-not-enabled');
    expect(await call({ token, deadline: 1n })).toBe('authorization-expired');
    expect(await call({ token })).toBe('eligibility-root-not-accepted');
    await (await connectEligibilityRegistry(addresses.registry, signer(3)).publish(word(2))).wait();
    expect(await call({ token })).toBe('invalid-funder-signature');
  });

  it('makes the zero-first token require a zero allowance first', async () => {
    const stubborn = await deployZeroFirstTestToken({
      signer: signer(0),
      name: 'Zero First',
      symbol: 'ZFT',
    });
    await mintTestToken(stubborn, signer(0), signer(4).address, 500n);
    const contract = connectErc20(stubborn, signer(4));
    await (await contract.approve(addresses.pool, 5n)).wait();
    expect(await codeOf(contract.approve.staticCall(addresses.pool, 6n))).toBe(
      'allowance-must-be-zero-first',
    );
    await (await contract.approve(addresses.pool, 0n)).wait();
    await (await contract.approve(addresses.pool, 6n)).wait();
    expect(await contract.allowance(signer(4).address, addresses.pool)).toBe(6n);
    expect(await contract.decimals()).toBe(6n);
  });
});
