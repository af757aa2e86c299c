/**
 * Worthless tokens for the sandbox and for tests: one with EIP-2612 permit, one like old
 * stablecoins (no permit, no return values, allowances only from zero). Both have six decimals.
 *
 * @module
 */
import { BaseContract, ContractFactory, type ContractRunner, type Signer } from 'ethers';
import type { ContractArtifact, Write } from '../artifact.ts';
import { poolTestTokenArtifact } from '../generated/pool-test-token.ts';
import { zeroFirstTestTokenArtifact } from '../generated/zero-first-test-token.ts';

export type TestTokenOptions = {
  readonly signer: Signer;
  readonly name: string;
  readonly symbol: string;
  /** May mint. Default: the signer. */
  readonly owner?: string;
};

/** Deploys the token with permit; returns its address. */
export function deployPoolTestToken(options: TestTokenOptions): Promise<string> {
  return deployToken(poolTestTokenArtifact, options);
}

/** Deploys the token without permit that requires a zero allowance first; returns its address. */
export function deployZeroFirstTestToken(options: TestTokenOptions): Promise<string> {
  return deployToken(zeroFirstTestTokenArtifact, options);
}

async function deployToken(artifact: ContractArtifact, options: TestTokenOptions): Promise<string> {
  const owner = options.owner ?? (await options.signer.getAddress());
  const factory = new ContractFactory(artifact.abi, artifact.bytecode, options.signer);
  const contract = await factory.deploy(options.name, options.symbol, owner);
  await contract.waitForDeployment();
  return contract.getAddress();
}

type MintMethods = { mint: Write<[string, bigint]> };

/** Mints test money. The runner must be the token's owner. */
export async function mintTestToken(
  token: string,
  runner: ContractRunner,
  to: string,
  amount: bigint,
): Promise<void> {
  const contract = BaseContract.from<MintMethods>(
    token,
    ['function mint(address to, uint256 amount)'],
    runner,
  );
  await (await contract.mint(to, amount)).wait();
}
