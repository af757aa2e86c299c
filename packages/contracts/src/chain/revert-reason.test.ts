// Asks a real chain afterwards why a mined transaction failed.
import { type Anvil, startAnvil } from '@pool/testkit';
import { JsonRpcProvider } from 'ethers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fetchRevertReason } from './revert-reason.ts';

const contract = '0x00000000000000000000000000000000000c0de0';
let anvil: Anvil;
let provider: JsonRpcProvider;

beforeAll(async () => {
  anvil = await startAnvil();
  provider = new JsonRpcProvider(anvil.rpcUrl, anvil.chainId, {
    staticNetwork: true,
    pollingInterval: 50,
  });
});

afterAll(async () => {
  provider.destroy();
  await anvil.stop();
});

it.each([
  // INVALID consumes all gas of the call.
  ['out_of_gas', '0xfe'],
  // REVERT with no data.
  ['reverted', '0x60006000fd'],
])('is %s for the runtime code %s', async (code, runtime) => {
  await provider.send('anvil_setCode', [contract, runtime]);
  const signer = await provider.getSigner(0);
  const { hash } = await signer.sendTransaction({ to: contract, gasLimit: 100_000n });
  await provider.waitForTransaction(hash).catch(() => undefined);
  expect((await fetchRevertReason(provider, hash)).code).toBe(code);
});
