/**
 * ERC-20 with the optional EIP-2612 permit and EIP-5267 domain, as far as Pool uses them.
 *
 * @module
 */
import { BaseContract, type ContractRunner, Interface } from 'ethers';
import type { Read, Write } from '../artifact.ts';

/** `approve` and `transfer` without return values: old stablecoins return nothing, and no caller reads it. */
export const erc20Abi = [
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function approve(address spender, uint256 value)',
  'function transfer(address to, uint256 value)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
] as const;

const erc20PermitAbi = [
  'function nonces(address owner) view returns (uint256)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
] as const;

/** Parsed once: it takes ethers a millisecond, and each read makes a connection. */
export const erc20Interface = new Interface([...erc20Abi, ...erc20PermitAbi]);

export type Erc20Methods = {
  name: Read<[], string>;
  symbol: Read<[], string>;
  decimals: Read<[], bigint>;
  totalSupply: Read<[], bigint>;
  balanceOf: Read<[string], bigint>;
  allowance: Read<[string, string], bigint>;
  approve: Write<[string, bigint]>;
  transfer: Write<[string, bigint]>;
  nonces: Read<[string], bigint>;
  DOMAIN_SEPARATOR: Read<[], string>;
  /** fields, name, version, chainId, verifyingContract, salt, extensions (EIP-5267). */
  eip712Domain: Read<[], [string, string, string, bigint, string, string, bigint[]]>;
  permit: Write<[string, string, bigint, bigint, number, string, string]>;
};

export type Erc20 = BaseContract & Erc20Methods;

/** The token at `address`. The permit methods revert on tokens that have none. */
export function connectErc20(address: string, runner?: ContractRunner): Erc20 {
  return BaseContract.from<Erc20Methods>(address, erc20Interface, runner);
}
