/** A production deployment on a chain with a public chain id: refusals, the plan, kills at every step, and what is verified. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verificationKeys } from '@pool/circuits';
import { findPoolDifference } from '@pool/contracts';
import { readPinnedKeys } from '@pool/contracts/pinned-keys';
import { parseEvmAddress } from '@pool/core';
import { type Anvil, startAnvil } from '@pool/testkit';
import { JsonRpcProvider, Wallet } from 'ethers';
import solc from 'solc';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runDeploy } from '../../packages/contracts/src/deployment/deploy-command.ts';

const chainId = 8453;
function account(digit: string): string {
  return new Wallet(`0x${digit.repeat(64)}`).address;
}

const roles = {
  admin: account('a'),
  guardian: account('b'),
  relayer: account('c'),
  gate: account('d'),
};

function other(first: string): [string, string, string] {
  return [first, '2', '1'];
}

function otherG2(first: string): readonly (readonly string[])[] {
  return [
    [first, '2'],
    ['3', '4'],
    ['1', '0'],
  ];
}

type Answer = {
  readonly deployedAtBlock?: number;
  readonly contracts: readonly { readonly name: string; readonly address: string }[];
};

describe('pool-contracts deploy', () => {
  let anvil: Anvil;
  let provider: JsonRpcProvider;
  let root: string;
  let deployer: Wallet;
  let run = 0;

  beforeAll(async () => {
    anvil = await startAnvil({ chainId });
    provider = new JsonRpcProvider(anvil.rpcUrl, undefined, { cacheTimeout: -1 });
    root = await mkdtemp(join(tmpdir(), 'pool-deploy-'));
    await publish('ceremony', {
      vk_alpha_1: other('1'),
      vk_beta_2: otherG2('5'),
      vk_delta_2: otherG2('7'),
    });
    await publish('development', {});
    await publish('later', { vk_delta_2: otherG2('7') });
    const gamma = verificationKeys['fund-16'].vk_gamma_2;
    await publish('untouched', {
      vk_alpha_1: other('1'),
      vk_beta_2: otherG2('5'),
      vk_gamma_2: gamma,
      vk_delta_2: gamma,
    });
  });

  afterAll(async () => {
    provider.destroy();
    await anvil.stop();
    await rm(root, { recursive: true, force: true });
  });

  beforeEach(async () => {
    run += 1;
    deployer = new Wallet(`0x${run.toString(16).padStart(64, '1')}`);
    await provider.send('anvil_setBalance', [deployer.address, '0x56bc75e2d63100000']);
  });

  /** A folder of keys as `pool-circuits fetch` makes it, and its manifest. */
  async function publish(name: string, change: object): Promise<void> {
    const circuits: Record<string, unknown> = {};
    for (const [circuit, key] of Object.entries(verificationKeys)) {
      const json = JSON.stringify({ ...key, ...change });
      await mkdir(join(root, name, circuit), { recursive: true });
      await writeFile(join(root, name, circuit, 'verification-key.json'), json);
      const verificationKey = createHash('sha256').update(json).digest('hex');
      circuits[circuit] = { sha256: { verificationKey } };
    }
    await writeFile(join(root, `${name}.json`), JSON.stringify({ circuits }));
  }

  const outOf = (name: string): string => join(root, `out-${run}-${name}`);

  /** @param onProgress - throws to kill the command there */
  async function deploy(
    options: readonly string[] = [],
    { keys = 'ceremony', onProgress = (_line: string): void => undefined } = {},
  ): Promise<string> {
    let printed = '';
    const places = [
      '--keys',
      join(root, keys),
      '--manifest',
      join(root, `${keys}.json`),
      '--out',
      outOf(keys),
    ];
    const named = Object.entries(roles).flatMap(([name, address]) => [`--${name}`, address]);
    await runDeploy(['--chain-id', String(chainId), ...places, ...named, '--json', ...options], {
      env: { POOL_DEPLOY_RPC_URL: anvil.rpcUrl, POOL_DEPLOY_PRIVATE_KEY: deployer.privateKey },
      out: (text) => {
        printed += text;
      },
      progress: onProgress,
      sleep: () => new Promise((resolve) => setTimeout(resolve, 20)),
    });
    return printed;
  }

  const sent = (): Promise<number> => provider.getTransactionCount(deployer.address);

  it('deploys a pool whose every contract agents accept, and whose sources compile to its code', async () => {
    const plan = JSON.parse(await deploy(['--dry-run'])) as Answer;
    expect(await sent()).toBe(0);
    expect(existsSync(outOf('ceremony'))).toBe(false);

    const answer = JSON.parse(await deploy()) as Answer;
    expect(answer.contracts).toEqual(plan.contracts);
    expect(await sent()).toBe(8);
    const addressOf = (name: string) =>
      parseEvmAddress(answer.contracts.find((one) => one.name === name)?.address ?? '');
    const place = { chainId, pool: addressOf('pool'), registry: addressOf('registry') };
    const source = { folder: join(root, 'ceremony'), manifest: join(root, 'ceremony.json') };
    expect(await findPoolDifference(provider, place, await readPinnedKeys(source))).toBeUndefined();

    const input = readFileSync(join(outOf('ceremony'), 'verification-input.json'), 'utf8');
    const { contracts } = JSON.parse(solc.compile(input)) as {
      readonly contracts: Readonly<
        Record<
          string,
          Readonly<
            Record<string, { readonly evm: { readonly bytecode: { readonly object: string } } }>
          >
        >
      >;
    };
    for (const [name, file, contract] of [
      ['registry', 'solidity/EligibilityRegistry.sol', 'EligibilityRegistry'],
      ['noteTree', 'solidity/lib/NoteTree.sol', 'NoteTree'],
      ['spend2x4Verifier', 'solidity/KeyVerifier.sol', 'KeyVerifier'],
      ['pool', 'solidity/ShieldedPool.sol', 'ShieldedPool'],
    ] as const) {
      const creation = contracts[file]?.[contract]?.evm.bytecode.object ?? 'not compiled';
      const { transactions } = JSON.parse(
        readFileSync(join(outOf('ceremony'), 'deployment.json'), 'utf8'),
      ) as { readonly transactions: Readonly<Record<string, readonly string[]>> };
      expect(transactions[name]?.[0], name).toContain(creation);
    }

    // A repeated run verifies, and sends nothing.
    expect(JSON.parse(await deploy())).toEqual(answer);
    expect(await sent()).toBe(8);
  }, 120_000);

  it('continues after a kill at every step, and creates nothing twice', async () => {
    /** Each run dies one step later than the last. */
    let kills = 0;
    let isDone = false;
    while (!isDone) {
      let steps = 0;
      const kill = (): void => {
        steps += 1;
        if (steps > kills) throw new Error('killed');
      };
      isDone = await deploy([], { onProgress: kill }).then(
        () => true,
        (error: unknown) => {
          expect(error).toMatchObject({ message: 'killed' });
          return false;
        },
      );
      kills += 1;
    }
    expect(kills).toBeGreaterThan(8);
    expect(await sent()).toBe(8);
  }, 120_000);

  it('sends the same bytes again when it died between the state file and the node', async () => {
    const kill = (line: string): void => {
      if (line.includes('sending')) throw new Error('killed');
    };
    await expect(deploy([], { onProgress: kill })).rejects.toThrow('killed');
    expect(await sent()).toBe(0);
    const before = readFileSync(join(outOf('ceremony'), 'deployment.json'), 'utf8');
    await expect(deploy([], { onProgress: kill })).rejects.toThrow('killed');
    expect(readFileSync(join(outOf('ceremony'), 'deployment.json'), 'utf8')).toBe(before);
    await deploy();
    expect(await sent()).toBe(8);
  }, 120_000);

  it.each([
    ['development', 'development_key_on_public_chain'],
    ['later', 'development_key_on_public_chain'],
    ['untouched', 'no_contribution'],
  ])('refuses the keys "%s" with %s, and sends nothing', async (keys, code) => {
    await expect(deploy([], { keys })).rejects.toMatchObject({ code });
    expect(await sent()).toBe(0);
  });

  it('refuses a key that the manifest does not pin, and a pool with fewer than five keys', async () => {
    await publish('changed', {
      vk_alpha_1: other('9'),
      vk_beta_2: otherG2('5'),
      vk_delta_2: otherG2('7'),
    });
    const path = join(root, 'changed', 'spend-2x4', 'verification-key.json');
    await writeFile(path, `${readFileSync(path, 'utf8')} `);
    await expect(deploy([], { keys: 'changed' })).rejects.toMatchObject({
      code: 'artifact_refused',
    });
    await rm(path);
    await expect(deploy([], { keys: 'changed' })).rejects.toMatchObject({
      code: 'invalid_deployment',
    });
    expect(await sent()).toBe(0);
  });

  it('refuses other code at a planned address, a used nonce, and other options for the same folder', async () => {
    const { contracts } = JSON.parse(await deploy(['--dry-run'])) as Answer;
    const [registry] = contracts;
    await provider.send('anvil_setCode', [registry?.address, '0xfe']);
    await expect(deploy()).rejects.toMatchObject({ code: 'deployment_differs' });
    await provider.send('anvil_setCode', [registry?.address, '0x']);
    const kill = (line: string): void => {
      if (line.includes('sending')) throw new Error('killed');
    };
    await expect(deploy([], { onProgress: kill })).rejects.toThrow('killed');
    await expect(deploy(['--guardian', account('e')])).rejects.toMatchObject({
      code: 'invalid_deployment',
    });
    await provider.send('anvil_setNonce', [deployer.address, '0x1']);
    await expect(deploy()).rejects.toMatchObject({ code: 'deployment_differs' });
  });

  it('takes no key as an argument', async () => {
    await expect(deploy(['--private-key', deployer.privateKey])).rejects.toThrow(/private-key/);
  });
});
