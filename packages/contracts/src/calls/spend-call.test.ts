/** A spend through TypeScript: the call that is sent, the event and the reads afterwards. The chain's verifier accepts any proof. */
import { readFileSync } from 'node:fs';
import { parseEvmAddress, parseHex32, zeroWord } from '@pool/core';
import { type Anvil, startAnvil } from '@pool/testkit';
import {
  AbiCoder,
  concat,
  dataSlice,
  id,
  JsonRpcProvider,
  keccak256,
  Log,
  toBeHex,
  ZeroAddress,
} from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parsePoolEvent, parsePoolLeaf } from '../chain/pool-leaves.ts';
import { createPoolReader, type PoolReader } from '../chain/pool-reader.ts';
import { deployPool, type PoolAddresses } from '../deployment/deploy.ts';
import { decodeRevert } from './decode-revert.ts';
import {
  connectShieldedPool,
  type ShieldedPool,
  type SpendCall,
  shieldedPoolInterface,
} from './shielded-pool.ts';
import { decodeSpend, encodeSpend, type SpendArguments } from './spend-call.ts';
import { deployPoolTestToken, mintTestToken } from './test-tokens.ts';

type Vector = {
  readonly operation: Pick<SpendCall, 'outRoot' | 'nullifiers' | 'commitments'> & {
    readonly withdrawAmount: string;
    readonly recipient: string;
  };
  readonly noteRoot: string;
  readonly publicInputs: { readonly digest: string };
  readonly masked: Readonly<Record<'x' | 'y' | 'digest' | 'slope', string>>;
  readonly signature: { readonly rSig: string; readonly s: string; readonly parity: number };
  readonly sealedNotes: readonly { readonly sealed: string }[];
};

const { spends } = JSON.parse(
  readFileSync(new URL('../../../../vectors/spend.json', import.meta.url), 'utf8'),
) as { readonly spends: readonly (Vector & { readonly name: string })[] };

/** Returns true for any call: push 1, store it, return 32 bytes. */
const acceptingVerifier = '0x600160005260206000f3';

function makeArguments(name: string, token: string): SpendArguments {
  const vector = spends.find((spend) => spend.name === name);
  if (vector === undefined) throw new Error(`vectors/spend.json has no spend "${name}"`);
  const { operation, noteRoot, publicInputs, masked, signature, sealedNotes } = vector;
  const withdrawAmount = BigInt(operation.withdrawAmount);
  return {
    operation: {
      token,
      withdrawAmount,
      recipient: withdrawAmount === 0n ? ZeroAddress : operation.recipient,
      deadline: 2n ** 40n,
      nullifiers: operation.nullifiers,
      commitments: operation.commitments,
      outRoot: operation.outRoot,
      noteRoot,
      eligibilityRoot: zeroWord,
      D: publicInputs.digest,
      maskedX: masked.x,
      maskedY: masked.y,
      slope: masked.slope,
      maskedDigest: masked.digest,
      rSig: signature.rSig,
      s: signature.s,
      parity: signature.parity === 0 ? 0 : 1,
    },
    proof: {
      a: [1n, 2n],
      b: [
        [3n, 4n],
        [5n, 6n],
      ],
      c: [7n, 8n],
    },
    sealedNotes: concat(sealedNotes.map(({ sealed }) => sealed)),
  };
}

describe('the calldata of spend', () => {
  const token = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512';

  it.each(spends.map(({ name }) => name))('decodes what was encoded: "%s"', (name) => {
    const made = makeArguments(name, token);
    const data = encodeSpend(made);
    expect(decodeSpend(data)).toEqual(made);
    expect(encodeSpend(decodeSpend(data))).toBe(data);
  });

  it('refuses the calldata of another function, and cut calldata', () => {
    const refusal = expect.objectContaining({ code: 'invalid_request' }) as Error;
    const data = encodeSpend(makeArguments('send with change', token));
    const other = shieldedPoolInterface.encodeFunctionData('pauseFunding');
    for (const wrong of ['0x', other, data.slice(0, -64), data.slice(0, 10)]) {
      expect(() => decodeSpend(wrong), wrong.slice(0, 20)).toThrow(refusal);
    }
  });
});

describe('spend on a chain', () => {
  let anvil: Anvil;
  let provider: JsonRpcProvider;
  let addresses: PoolAddresses;
  let reader: PoolReader;
  let pool: ShieldedPool;
  let send: SpendArguments;

  beforeAll(async () => {
    anvil = await startAnvil();
    provider = new JsonRpcProvider(anvil.rpcUrl, undefined, { cacheTimeout: -1 });
    const signer = await provider.getSigner(0);
    const { address } = signer;
    const token = await deployPoolTestToken({ signer, name: 'Test Dollar', symbol: 'TUSD' });
    const roles = { guardian: address, relayer: address, gate: address };
    addresses = await deployPool({ signer, ...roles, tokens: [token] });
    for (const verifier of [addresses.spend2x4Verifier, addresses.spend16x8Verifier]) {
      await provider.send('anvil_setCode', [verifier, acceptingVerifier]);
    }
    send = makeArguments('send with change', token);
    await mintTestToken(token, signer, addresses.pool, 2n * send.operation.withdrawAmount);
    await makeRootKnown(send.operation.noteRoot);
    pool = connectShieldedPool(addresses.pool, await provider.getSigner(7));
    reader = createPoolReader(provider, {
      pool: parseEvmAddress(addresses.pool),
      finality: { kind: 'depth', blocks: 1 },
    });
  });

  afterAll(async () => {
    provider.destroy();
    await anvil.stop();
  });

  /** Writes `madeBy[root]` of the note tree (`forge inspect ShieldedPool storage-layout`). */
  async function makeRootKnown(root: string): Promise<void> {
    const place = AbiCoder.defaultAbiCoder().encode(['uint256', 'uint256'], [root, 29]);
    const one = toBeHex(1n, 32);
    await provider.send('anvil_setStorageAt', [addresses.pool, keccak256(place), one]);
  }

  it('settles, is found by its event with its sealed notes, by its nullifiers and its calldata, and cannot settle twice', async () => {
    const { operation, proof, sealedNotes } = send;
    const [nullifier = ''] = operation.nullifiers;
    expect(await reader.fetchOutRootOf(nullifier, 'latest')).toBeUndefined();

    const sent = await pool.spend(operation, proof, sealedNotes);
    const receipt = await sent.wait();
    const [event] = (receipt?.logs ?? []).flatMap((log) => parsePoolEvent(log) ?? []);
    const { outRoot } = operation;
    const facts = {
      newRoot: operation.outRoot,
      nullifiers: operation.nullifiers,
      commitments: operation.commitments,
      sealedNotesHash: keccak256(sealedNotes),
      sealedNotes: Array.from({ length: operation.commitments.length }, (_, slot) =>
        dataSlice(sealedNotes, 209 * slot, 209 * (slot + 1)),
      ),
    };
    expect(event).toEqual({ kind: 'spend', leafIndex: 0, batchRoot: outRoot, ...facts });

    const block = receipt?.blockNumber ?? 0;
    const found = await reader.fetchSpends(0, block);
    const place = { leafIndex: 0, txHash: sent.hash, blockNumber: block };
    expect(found).toEqual([{ kind: 'spend', batchRoot: outRoot, ...facts, ...place }]);
    expect(await reader.fetchPoolLeaves(0, block)).toEqual(found);
    expect(await reader.fetchSpends(0, block, operation.outRoot)).toEqual(found);
    expect(await reader.fetchSpends(0, block, id('another root'))).toEqual([]);
    expect(await reader.fetchFundedBatches(0, block)).toEqual([]);
    for (const used of operation.nullifiers) {
      expect(await reader.fetchOutRootOf(used, block)).toBe(parseHex32(operation.outRoot));
      expect(await reader.fetchOutRootOf(used, block - 1)).toBeUndefined();
    }
    expect(decodeSpend((await provider.getTransaction(sent.hash))?.data ?? '')).toEqual(send);

    const [log] = await provider.getLogs({ address: addresses.pool, fromBlock: block });
    if (log === undefined) throw new Error('the spend has no log');
    const data = log.data.replace(sealedNotes.slice(2, 66), '11'.repeat(32));
    const lie = new Log({ ...log, data }, provider);
    expect(lie.data).not.toBe(log.data);
    expect(() => parsePoolLeaf(lie)).toThrow(
      expect.objectContaining({ code: 'chain_unreachable' }) as Error,
    );

    const refusal: unknown = await pool.spend
      .staticCall(operation, proof, sealedNotes)
      .catch((error: unknown) => error);
    expect(decodeRevert(refusal)).toMatchObject({ code: 'nullifier-used' });
  });

  it('decodes why a spend is refused', async () => {
    const { operation, proof, sealedNotes } = makeArguments(
      'transfer to two',
      send.operation.token,
    );
    const codeOf = async (change: Partial<SpendCall>, notes = sealedNotes): Promise<string> =>
      pool.spend.staticCall({ ...operation, ...change }, proof, notes).then(
        () => 'no revert',
        (error: unknown) => decodeRevert(error).code,
      );
    expect(await codeOf({})).toBe('note-root-not-known');
    await makeRootKnown(operation.noteRoot);
    expect(await codeOf({})).toBe('no revert');
    expect(await codeOf({ deadline: 1n })).toBe('authorization-expired');
    expect(await codeOf({ token: addresses.registry })).toBe('token-not-known');
    expect(await codeOf({ recipient: addresses.registry })).toBe('invalid-recipient');
    expect(await codeOf({ eligibilityRoot: id('unknown') })).toBe('eligibility-root-not-accepted');
    expect(await codeOf({}, '0x')).toBe('wrong-sealed-notes-length');
    expect(await codeOf({ slope: operation.maskedX })).toBe('wrong-slope');
    expect(await codeOf({ parity: operation.parity === 0 ? 1 : 0 })).toBe(
      'invalid-spend-signature',
    );
    expect(await codeOf({ commitments: operation.nullifiers }, `0x${'00'.repeat(418)}`)).toBe(
      'unsupported-spend-size',
    );
  });
});
