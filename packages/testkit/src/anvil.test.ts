import { JsonRpcProvider } from 'ethers';
import { afterEach, describe, expect, it } from 'vitest';
import { type Anvil, startAnvil } from './anvil.ts';

describe('startAnvil', () => {
  let running: Anvil[] = [];
  afterEach(async () => {
    await Promise.all(running.map((anvil) => anvil.stop()));
    running = [];
  });

  it('starts two separate chains at once, each with its chain id', async () => {
    running = await Promise.all([startAnvil(), startAnvil({ chainId: 1337 })]);
    const ids = await Promise.all(
      running.map(async (anvil) => {
        const provider = new JsonRpcProvider(anvil.rpcUrl);
        const { chainId } = await provider.getNetwork();
        provider.destroy();
        return chainId;
      }),
    );
    expect(ids).toEqual([31337n, 1337n]);
  });

  it('ends after stop', async () => {
    const anvil = await startAnvil();
    await anvil.stop();
    await anvil.stop();
    expect(() => process.kill(anvil.pid, 0)).toThrow('ESRCH');
  });

  it('finalises blocks when asked for short epochs', async () => {
    const anvil = await startAnvil({ blockTimeSeconds: 1, slotsInAnEpoch: 1 });
    running = [anvil];
    const provider = new JsonRpcProvider(anvil.rpcUrl);
    await expect
      .poll(async () => (await provider.getBlock('finalized'))?.number ?? 0)
      .toBeGreaterThan(0);
    provider.destroy();
  });
});
