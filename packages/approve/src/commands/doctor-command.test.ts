// `approve doctor` and `approve config check` on the files of a gate, beside it or without it.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runApproveCli } from '../cli.ts';
import { fundBody } from '../fixtures/bodies.ts';
import { createWorldA, funderWallet, type WorldA } from '../fixtures/custodian-a.ts';
import { serveTestGate } from '../fixtures/gate-home.ts';
import { chainsJson, fundFile, otherAddress, token } from '../fixtures/payroll.ts';

async function start(): Promise<WorldA> {
  const world = await createWorldA();
  onTestFinished(() => world.close());
  return world;
}

async function run(world: WorldA, ...argv: readonly string[]) {
  const lines: string[] = [];
  const keep = (text: string): void => void lines.push(text);
  const code = await runApproveCli(argv, {
    name: 'pool-approve',
    version: '0.0.0',
    nowMs: Date.now,
    source: {
      env: world.variables(),
      readFile: (path) => readFileSync(path, 'utf8'),
      homeDir: '/nowhere',
    },
    streams: { out: keep, err: keep },
  });
  return { code, text: lines.join('\n') };
}

it('compares the history of the custodian with the ledger of the running gate', async () => {
  const world = await start();
  const served = await serveTestGate(world.home);
  onTestFinished(() => served.close());
  await served.gate.examine();
  const file = fundFile();
  await served.post(file);
  await world.ask(funderWallet, fundBody(file));
  await served.gate.poll();
  const { code, text } = await run(world, 'doctor');
  expect(text).toMatch(/^ok {4}history: .* was compared with the ledger$/m);
  expect(text).toMatch(/^ok {4}restored: /m);
  expect(code).toBe(0);
});

it('fails when the ledger lacks an approval, which then counts as restored', async () => {
  const world = await start();
  const first = await serveTestGate(world.home);
  await first.gate.examine();
  const file = fundFile();
  await first.post(file);
  await world.ask(funderWallet, fundBody(file));
  await first.gate.poll();
  await first.close();
  for (const end of ['', '-wal', '-shm', '.generation']) {
    rmSync(join(world.home.path, `ledger.sqlite${end}`), { force: true });
  }
  const served = await serveTestGate(world.home);
  onTestFinished(() => served.close());
  const { code, text } = await run(world, 'doctor');
  expect(text).toMatch(
    /^FAIL {2}restored: the ledger counts as restored .*pool-approve ledger rebaseline --by NAME"$/m,
  );
  expect(code).toBe(1);
  expect(served.gate.ledger.status()).toMatchObject({ isRestored: true });
});

it('fails when the history cannot be read', async () => {
  const world = await start();
  await (await serveTestGate(world.home)).close();
  world.custodian.control.addFault({ path: '/v2/policy-approvals', kind: 'error-before' });
  const { code, text } = await run(world, 'doctor');
  expect(text).toMatch(/^FAIL {2}history: /m);
  expect(text).toMatch(/could not be read: .*custodian_unreachable/);
  expect(code).toBe(1);
});

it('examines the custodian where there is no ledger yet', async () => {
  const { code, text } = await run(await start(), 'doctor');
  expect(text).toMatch(/^ok {4}history: there is no ledger yet/m);
  expect(code).toBe(0);
});

it.each([
  ['another pool', { pool: otherAddress }],
  ['another chain id', { chainId: 1 }],
])('refuses a policy whose chain has %s in the chain settings', async (_what, change) => {
  const world = await start();
  expect(await run(world, 'config', 'check')).toMatchObject({ code: 0 });
  const served = await serveTestGate(world.home);
  onTestFinished(() => served.close());
  const anvil = { ...chainsJson.chains.anvil, ...change };
  const chains = JSON.stringify({ ...chainsJson, chains: { anvil } });
  writeFileSync(join(world.home.path, 'chains.json'), chains);
  const message =
    /invalid_policy: .*policy\.json has pools or tokens that .*chains\.json does not have/;
  for (const command of [['config', 'check'], ['doctor'], []]) {
    const { code, text } = await run(world, ...command);
    expect(text).toMatch(message);
    expect(text).toMatch(/- pools\.0: anvil, chain id 31337, pool 0x/);
    expect(text).toMatch(/- holders\.0\.spend\.assets\.0: /);
    expect(code).toBe(1);
  }
});

it.each([
  ['lacks a token', {}, /- pools\.0\.tokens\.0: anvil, token 0xe7f1/, true],
  [
    'has a token under another address',
    { USDC: { address: otherAddress, decimals: 6 } },
    /- pools\.0\.tokens\.0: anvil, token 0xe7f1/,
    true,
  ],
  [
    'has a token with other decimals',
    { USDC: { address: token, decimals: 18 } },
    /- pools\.0\.tokens\.0\.decimals: 6, but anvil has 18 for token 0xe7f1/,
    false,
  ],
])(
  'refuses a policy whose chain %s in the chain settings',
  async (_what, tokens, line, isHolders) => {
    const world = await start();
    const anvil = { ...chainsJson.chains.anvil, tokens };
    const chains = JSON.stringify({ ...chainsJson, chains: { anvil } });
    expect(await run(world, 'policy', 'lint')).toMatchObject({ code: 0 });
    writeFileSync(join(world.home.path, 'chains.json'), chains);
    for (const command of [['config', 'check'], ['doctor'], []]) {
      const { code, text } = await run(world, ...command);
      expect(text).toMatch(
        /invalid_policy: .*policy\.json has pools or tokens that .*chains\.json/,
      );
      expect(text).toMatch(line);
      expect(text.includes('\n- holders.0.spend.assets.0: anvil, token 0xe7f1')).toBe(isHolders);
      expect(code).toBe(1);
    }
    const { code, text } = await run(world, 'policy', 'lint');
    expect(text).toMatch(/^error: pools\.0\.tokens\.0.*chains\.json differs: /m);
    expect(code).toBe(2);
  },
);

it('says when a policy could not be compared with the chain settings', async () => {
  const world = await start();
  rmSync(join(world.home.path, 'chains.json'));
  const { code, text } = await run(world, 'policy', 'lint');
  expect(text).toMatch(
    /^warning: .*not compared with the chain settings: .*chains\.json does not/m,
  );
  expect(code).toBe(0);
});

it('keeps the earlier policy when a new one names a pool that the chain settings lack', async () => {
  const world = await start();
  const served = await serveTestGate(world.home);
  onTestFinished(() => served.close());
  const path = join(world.home.path, 'policy.json');
  const policy = JSON.parse(readFileSync(path, 'utf8')) as { readonly pools: readonly object[] };
  const pools = policy.pools.map((pool) => ({ ...pool, pool: otherAddress }));
  world.home.writePolicy({ ...policy, pools });
  expect(served.gate.reloadPolicy()).toBe(false);
  world.home.writePolicy(policy);
  expect(served.gate.reloadPolicy()).toBe(true);
});
