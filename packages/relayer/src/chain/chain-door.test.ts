/** When a chain is closed, and when it opens again. */
import { PoolError } from '@pool/core';
import { expect, it } from 'vitest';
import { createChainDoor } from './chain-door.ts';

it('closes for another pool, stays closed while the node is silent, and opens once the pool is the expected one', async () => {
  let problem: PoolError | undefined = new PoolError('chain_unreachable', 'silent');
  const levels: string[] = [];
  const door = createChainDoor(
    {
      key: 'base',
      assertChain: () => (problem === undefined ? Promise.resolve() : Promise.reject(problem)),
    },
    { info: () => levels.push('info'), error: () => levels.push('error') },
  );
  const look = () =>
    door.look().then(
      () => 'ok',
      () => 'refused',
    );
  expect([await look(), door.check()]).toEqual(['refused', undefined]);
  problem = new PoolError('pool_code_differs', 'there is no contract');
  expect(await look()).toBe('refused');
  expect(door.check()).toMatchObject({
    code: 'pool_code_differs',
    message: 'chain base is closed: there is no contract',
  });
  await look();
  problem = new PoolError('chain_unreachable', 'silent');
  await look();
  expect(door.check()?.code).toBe('pool_code_differs');
  problem = undefined;
  expect([await look(), door.check()]).toEqual(['ok', undefined]);
  expect(levels).toEqual(['error', 'info']);
});
