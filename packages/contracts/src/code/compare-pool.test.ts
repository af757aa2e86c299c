/**
 * Code on a real chain compared with code rendered from keys: every contract of a pool, changed in every way that matters. Keys in
 * files: tooling/src/pinned-keys.test.ts.
 */
import { bigintToHex32, parseEvmAddress } from '@pool/core';
import { createEvmProvider } from '@pool/evm-sender';
import { type Anvil, startAnvil } from '@pool/testkit';
import { ContractFactory, JsonRpcProvider } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deployPool, type PoolAddresses } from '../deployment/deploy.ts';
import { keyVerifierArtifact } from '../generated/key-verifier.ts';
import {
  createPoolComparison,
  findPoolDifference,
  type PoolPlace,
  requirePoolCode,
} from './compare-pool.ts';
import { renderPoolCode, renderVerifierCode } from './contract-code.ts';
import { type CircuitKeys, readPinnedKeys } from './pinned-keys.ts';

const developmentKeys = await readPinnedKeys(undefined);
const [, , ...wordsAfterAlpha] = developmentKeys['fund-16'] ?? [];
/** Another key of the same shape, with words that begin with many zeros. */
const ceremonyWords = [bigintToHex32(1n), bigintToHex32(2n), ...wordsAfterAlpha];
const ceremonyKeys: CircuitKeys = { ...developmentKeys, 'fund-16': ceremonyWords };

describe('findPoolDifference', () => {
  let anvil: Anvil;
  let provider: JsonRpcProvider;
  let addresses: PoolAddresses;
  let place: PoolPlace;

  beforeAll(async () => {
    anvil = await startAnvil();
    provider = new JsonRpcProvider(anvil.rpcUrl, undefined, { cacheTimeout: -1 });
    const signer = await provider.getSigner(0);
    const { address } = signer;
    addresses = await deployPool({ signer, guardian: address, relayer: address, gate: address });
    place = {
      chainId: 31337,
      pool: parseEvmAddress(addresses.pool),
      registry: parseEvmAddress(addresses.registry),
    };
  });

  afterAll(async () => {
    provider.destroy();
    await anvil.stop();
  });

  const compare = (keys: CircuitKeys = developmentKeys, at: PoolPlace = place) =>
    findPoolDifference(provider, at, keys);

  /** The comparison while an address has other code. */
  async function compareWith(address: string, code: string, keys?: CircuitKeys) {
    const honest = await provider.getCode(address);
    await provider.send('anvil_setCode', [address, code]);
    try {
      return await compare(keys);
    } finally {
      await provider.send('anvil_setCode', [address, honest]);
    }
  }

  it('finds none in a pool with the development keys', async () => {
    expect(await compare()).toBeUndefined();
  });

  it.each([
    'pool',
    'registry',
    'noteTree',
    'fund16Verifier',
    'fund64Verifier',
    'fund256Verifier',
    'spend2x4Verifier',
    'spend16x8Verifier',
  ] as const)('finds one changed byte, and missing code, of %s', async (name) => {
    const address = addresses[name];
    const code = await provider.getCode(address);
    const changed = `${code.slice(0, -2)}${code.endsWith('00') ? '01' : '00'}`;
    expect(await compareWith(address, changed)).toContain(address);
    expect(await compareWith(address, '0x')).toContain(address);
    expect(await compare()).toBeUndefined();
  });

  it('finds a verifier at the place of another circuit', async () => {
    const code = await provider.getCode(addresses.spend2x4Verifier);
    expect(await compareWith(addresses.spend16x8Verifier, code)).toMatch(/spend-16x8.*pinned/);
  });

  it('renders the code of a deployed verifier from its key alone', async () => {
    const signer = await provider.getSigner(0);
    const { abi, bytecode } = keyVerifierArtifact;
    const contract = await new ContractFactory(abi, bytecode, signer).deploy(ceremonyWords);
    const code = await provider.getCode(await contract.getAddress());
    expect(renderVerifierCode(ceremonyWords)).toBe(code);
    expect(await compareWith(addresses.fund16Verifier, code, ceremonyKeys)).toBeUndefined();
  });

  it('finds a development verifier where the manifest pins another key, and the other way round', async () => {
    expect(await compare(ceremonyKeys)).toMatch(/fund-16 at .* does not hold the pinned/);
    const code = renderVerifierCode(ceremonyWords);
    expect(await compareWith(addresses.fund16Verifier, code)).toMatch(/does not hold the pinned/);
  });

  it('finds a circuit that no pinned key covers: its verifier could be anything', async () => {
    const { 'spend-16x8': _, ...keys } = developmentKeys;
    expect(await compare(keys)).toMatch(/spend-16x8 .* cannot be compared/);
  });

  it('finds a development key on a public chain, whatever holds it', async () => {
    const mainnet = await startAnvil({ chainId: 8453 });
    const other = new JsonRpcProvider(mainnet.rpcUrl, undefined, { cacheTimeout: -1 });
    try {
      for (const address of Object.values(addresses).filter((value) => typeof value === 'string')) {
        await other.send('anvil_setCode', [address, await provider.getCode(address)]);
      }
      const parts = {
        registry: addresses.registry,
        noteTree: addresses.noteTree,
        verifiers: {
          'fund-16': addresses.fund16Verifier,
          'fund-64': addresses.fund64Verifier,
          'fund-256': addresses.fund256Verifier,
          'spend-2x4': addresses.spend2x4Verifier,
          'spend-16x8': addresses.spend16x8Verifier,
        },
      };
      const there = { ...place, chainId: 8453 };
      await other.send('anvil_setCode', [place.pool, renderPoolCode(there, parts)]);
      expect(await findPoolDifference(other, there, developmentKeys)).toMatch(/development key/);
    } finally {
      other.destroy();
      await mainnet.stop();
    }
  });

  it('finds another pool, another registry, and a registry with a grace that its constructor refuses', async () => {
    const { pool, registry } = place;
    expect(await compare(undefined, { ...place, pool: registry })).toContain(registry);
    expect(await compare(undefined, { ...place, registry: pool })).toContain('registry');
    const code = await provider.getCode(registry);
    const hour = (3_600).toString(16).padStart(64, '0');
    expect(code).toContain(hour);
    const long = code.replaceAll(hour, (86_401).toString(16).padStart(64, '0'));
    expect(await compareWith(registry, long)).toContain("registry's code");
  });

  it('says that a chain does not answer, or is another one, and does not call it a difference', async () => {
    const deaf = createEvmProvider({ rpcUrl: 'http://127.0.0.1:1', chainId: 31337 }, 500);
    await expect(findPoolDifference(deaf, place, developmentKeys)).rejects.toMatchObject({
      code: 'chain_unreachable',
    });
    deaf.destroy();
    await expect(compare(undefined, { ...place, chainId: 1337 })).rejects.toMatchObject({
      code: 'wrong_chain',
    });
  });

  it('asks once per process, and again after a difference or a failure', async () => {
    let asked = 0;
    let keys: CircuitKeys = {};
    const comparison = createPoolComparison(provider, place, async () => {
      asked += 1;
      if (asked === 1) throw new Error('the folder cannot be read');
      return keys;
    });
    await expect(comparison()).rejects.toThrow('folder');
    await expect(requirePoolCode(comparison)).rejects.toMatchObject({ code: 'pool_code_differs' });
    keys = developmentKeys;
    await Promise.all([requirePoolCode(comparison), requirePoolCode(comparison)]);
    await requirePoolCode(comparison);
    expect(asked).toBe(3);
  });
});
