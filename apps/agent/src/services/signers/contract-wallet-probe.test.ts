// What readiness, config check and doctor say of a contract wallet. The node is fake; a real one is in apps/sandbox.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type ChainsFile, parseEvmAddress } from '@pool/core';
import { expect, it, onTestFinished } from 'vitest';
import { probeContractWallet } from './contract-wallet-probe.ts';

const wallet = parseEvmAddress('0x70997970C51812dc3A010C7d01b50e0d17dc79C8');
/** In the encoding of contracts: 32 bytes each. */
function encode(...words: readonly number[]): string {
  return `0x${words.map((word) => word.toString(16).padStart(64, '0')).join('')}`;
}

/** Three addresses. */
const owners = encode(32, 3, 1, 2, 3);
const getThreshold = '0xe75235b8';
const getOwners = '0xa0e67e2b';

type Call = { id: number; method: string; params: [{ data?: string }?] };

/** @param code - at every address. @param shows - getOwners and getThreshold */
async function startNode(code: string, shows = true): Promise<string> {
  const answer = ({ id, method, params: [call] }: Call): object => {
    const results: Record<string, string | undefined> = {
      eth_chainId: '0x7a69',
      eth_getCode: code,
      eth_call: !shows
        ? undefined
        : call?.data === getThreshold
          ? encode(2)
          : call?.data === getOwners
            ? owners
            : `0xffffffff${'0'.repeat(56)}`,
    };
    const error = { code: 3, message: 'execution reverted', data: '0x' };
    const result = results[method];
    return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) };
  };
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const asked = body as Call | Call[];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function probe(...urls: readonly string[]) {
  const address = parseEvmAddress(`0x${'9'.repeat(40)}`);
  const chains: ChainsFile['chains'] = Object.fromEntries(
    urls.map((rpcUrl, index) => [
      `chain-${index}`,
      {
        ...{ family: 'evm', chainId: 31337, rpcUrl, pool: address, registry: address },
        ...{ deployedAtBlock: 0, finality: { kind: 'depth', blocks: 1 }, maxRecipients: 64 },
        tokens: {},
      } as const,
    ]),
  );
  return probeContractWallet(wallet, { chains });
}

it('says how many owners sign, on the chain that has the wallet', async () => {
  const [withWallet, without] = [await startNode('0x6001'), await startNode('0x')];
  expect(await probe(without, withWallet)).toEqual({
    ok: true,
    detail: {
      kind: 'contract_wallet',
      message: `${wallet} pays (chain-1: 2 of 3 owners sign)`,
    },
  });
});

it('accepts a contract that does not show its owners', async () => {
  expect((await probe(await startNode('0x6001', false))).detail.message).toContain(
    'a contract that does not show its owners',
  );
});

it('finds the wallet while the node of another chain does not answer', async () => {
  const found = await probe('http://127.0.0.1:9', await startNode('0x6001'));
  expect(found.detail.message).toContain('chain-1: 2 of 3 owners sign');
});

it('fails for an address without a contract, and tells an outage from that', async () => {
  const without = await startNode('0x');
  await expect(probe(without)).rejects.toMatchObject({
    code: 'signature_rejected',
    message: expect.stringContaining('DISBURSE_CONTRACT_WALLET_ADDRESS'),
  });
  await expect(probe(without, 'http://127.0.0.1:9')).rejects.toMatchObject({
    code: 'chain_unreachable',
  });
});
