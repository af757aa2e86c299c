/**
 * Requests to the owners of a contract wallet, in a release log in memory. The contract is fake here; a real one is in apps/sandbox. Tests
 * only.
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  bigintToHex32,
  computeFundAuthorizationData,
  computeTypedDataDigest,
  computeVoidBatchData,
  type Hex,
  type PoolError,
  parseEvmAddress,
  parseField,
  parseHex32,
} from '@pool/core';
import { createOwnersDesk, type OwnersPlace, openReleaseLog } from '@pool/operations';
import { computeSafeMessageHash } from '@pool/signers';
import { onTestFinished } from 'vitest';

export const contractWallet = parseEvmAddress('0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0');
/** What the contract accepts. */
export const ownersSignature: Hex = `0x${'11'.repeat(130)}`;
const pool = parseEvmAddress('0xe7f1725e7734ce288f8367e1bb143e90bb3f0512');
const token = parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3');
const chainId = 31337;

export async function createFakeOwners() {
  const home = mkdtempSync(join(tmpdir(), 'owners-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const log = await openReleaseLog({ home, jobs: { url: 'memory:' } });
  onTestFinished(() => log.close());
  /** Why the fake contract does not answer. */
  const contract = { outage: undefined as PoolError | undefined };
  const chain = {
    async checkContractSignature({ signature: given }: { readonly signature: Hex }) {
      if (contract.outage !== undefined) {
        throw contract.outage;
      }
      return given === ownersSignature ? ('valid' as const) : ('invalid' as const);
    },
    fetchOwners: async () => undefined,
  };
  const settings = { chainId, tokens: { USDC: { address: token, decimals: 6 } } };
  const owners = {
    openLog: async () => log,
    chains: new Map([['anvil', { settings, chain }]]),
    nowMs: Date.now,
  } as unknown as OwnersPlace;
  const desk = createOwnersDesk(owners);
  const deadline = Math.floor(Date.now() / 1_000) + 3_600;
  async function ask(key: string, kind: 'fund-authorization' | 'void' = 'fund-authorization') {
    const batchNonce = parseField(bigintToHex32(BigInt(key.length) + 7n));
    const authorization = {
      ...{
        funder: contractWallet,
        token,
        total: 2_500_000n,
        batchRoot: parseField(bigintToHex32(1n)),
        batchNonce,
      },
      sealedNotesHash: parseHex32(`0x${'22'.repeat(32)}`),
      deadline: BigInt(deadline),
    };
    const data =
      kind === 'void'
        ? computeVoidBatchData(chainId, pool, contractWallet, batchNonce)
        : computeFundAuthorizationData(chainId, pool, authorization);
    const digest = computeTypedDataDigest(data);
    const batch = { key, chain: 'anvil', token };
    await desk.ask({
      ...{ id: `${key} ${kind}`, kind, wallet: contractWallet, chainId, batch, digest, data },
      ...{ total: '2500000', count: 2, deadline },
    });
    return { digest, hash: computeSafeMessageHash(chainId, contractWallet, digest) };
  }
  const signed = async () =>
    (await log.listSince()).filter(({ event }) => event === 'owners-signed');
  return { home, contract, owners, ask, log, signed, deadline };
}
