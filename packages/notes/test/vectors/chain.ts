/** Sections: digests, eip712 (protocol §3, §8). The typed data is hashed by hand from its definition. */
import { AbiCoder, computeAddress, concat, SigningKey } from 'ethers';
import {
  bytesOf,
  integerOf,
  keccak,
  keccakText,
  r,
  sample,
  samplePrivateKey,
  sha256,
  word,
} from './reference.ts';

export const pool = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
export const token = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512';
export const funderPrivateKey = samplePrivateKey('funder');
export const funder = computeAddress(funderPrivateKey);
export const employerId = '5b3f0c1e-6a7d-4c2b-9e8f-0a1b2c3d4e5f';

const abi = AbiCoder.defaultAbiCoder();
function encode(types: string[], values: unknown[]): Buffer {
  return bytesOf(abi.encode(types, values));
}

export function assetIdOf(chainId: number, poolAddress: string, tokenAddress: string): bigint {
  return (
    BigInt(
      keccak(encode(['uint256', 'address', 'address'], [chainId, poolAddress, tokenAddress])),
    ) % r
  );
}

export function batchNonceOf(parts: {
  employerId: string;
  chainId: number;
  pool: string;
  funder: string;
  jobKey: string;
  attempt: number;
}): bigint {
  return (
    integerOf(
      sha256(
        'pool/v1/batch-nonce',
        // An array of plain strings and integers is its own canonical form.
        JSON.stringify([
          parts.employerId,
          parts.chainId,
          parts.pool,
          parts.funder,
          parts.jobKey,
          parts.attempt,
        ]),
      ),
    ) % r
  );
}

export function batchIdOf(funderAddress: string, batchNonce: bigint): bigint {
  return BigInt(keccak(encode(['address', 'uint256'], [funderAddress, batchNonce]))) % r;
}

export function digests() {
  return {
    protocol: '§3',
    source: 'keccak256 and ABI encoding from ethers, SHA-256 from node:crypto',
    assetIds: [
      { chainId: 31337, pool, token },
      { chainId: 1, pool, token },
      { chainId: 8453, pool: token, token: pool },
    ].map((parts) => ({
      ...parts,
      assetId: word(assetIdOf(parts.chainId, parts.pool, parts.token)),
    })),
    batchNonces: [
      { jobKey: 'payrun-2026-11', attempt: 1 },
      { jobKey: 'payrun-2026-11', attempt: 2 },
      { jobKey: 'a "quoted" \\ key', attempt: 1 },
      { jobKey: '~', attempt: 1_000_000 },
    ].map((job) => {
      const parts = { employerId, chainId: 31337, pool, funder, ...job };
      return { ...parts, batchNonce: word(batchNonceOf(parts)) };
    }),
    batchIds: [
      { funder, batchNonce: sample('batch nonce 0') },
      { funder: pool, batchNonce: sample('batch nonce 0') },
      { funder, batchNonce: 0n },
      { funder, batchNonce: r - 1n },
    ].map((parts) => ({
      funder: parts.funder,
      batchNonce: word(parts.batchNonce),
      batchId: word(batchIdOf(parts.funder, parts.batchNonce)),
    })),
  };
}

const domainType =
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)';
export function domainSeparator(
  name: string,
  version: string,
  chainId: number,
  at: string,
): string {
  return keccak(
    encode(
      ['bytes32', 'bytes32', 'bytes32', 'uint256', 'address'],
      [keccakText(domainType), keccakText(name), keccakText(version), chainId, at],
    ),
  );
}

/** Structs whose members are all 32-byte words: their encoding is the ABI's. */
export function typed(
  separator: string,
  type: string,
  types: string[],
  values: unknown[],
  privateKey = funderPrivateKey,
) {
  const typeHash = keccakText(type);
  const structHash = keccak(encode(['bytes32', ...types], [typeHash, ...values]));
  const digest = keccak(bytesOf(concat(['0x1901', separator, structHash])));
  return {
    type,
    typeHash,
    domainSeparator: separator,
    structHash,
    digest,
    signature: new SigningKey(privateKey).sign(digest).serialized,
  };
}

export function eip712() {
  const chainId = 31337;
  const separator = domainSeparator('ShieldedPool', '1', chainId, pool);
  const permitDomain = { name: 'Test USD', version: '2', chainId, verifyingContract: token };
  const authorizations = [0, 1].map((i) => {
    const message = {
      funder,
      token,
      total: i === 0 ? '1' : (2n ** 128n - 1n).toString(),
      batchRoot: word(sample(`batch root ${i}`)),
      batchNonce: word(sample(`batch nonce ${i}`)),
      sealedNotesHash: keccakText(`sealed ${i}`),
      deadline: String(1_795_000_000 + i),
    };
    return {
      message,
      ...typed(
        separator,
        'FundAuthorization(address funder,address token,uint256 total,bytes32 batchRoot,' +
          'bytes32 batchNonce,bytes32 sealedNotesHash,uint256 deadline)',
        ['address', 'address', 'uint256', 'bytes32', 'bytes32', 'bytes32', 'uint256'],
        Object.values(message),
      ),
    };
  });
  const voided = { funder, batchNonce: word(sample('batch nonce 0')) };
  const permit = {
    owner: funder,
    spender: pool,
    value: '123456',
    nonce: '3',
    deadline: '1795000000',
  };
  return {
    protocol: '§8',
    source: 'EIP-712 by hand on keccak256 and ABI encoding from ethers; signatures from ethers',
    domain: { name: 'ShieldedPool', version: '1', chainId, verifyingContract: pool },
    funderPrivateKey,
    fundAuthorizations: authorizations,
    voidBatches: [
      {
        message: voided,
        ...typed(
          separator,
          'VoidBatch(address funder,bytes32 batchNonce)',
          ['address', 'bytes32'],
          Object.values(voided),
        ),
      },
    ],
    permits: [
      {
        domain: permitDomain,
        message: permit,
        ...typed(
          domainSeparator(permitDomain.name, permitDomain.version, chainId, token),
          'Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)',
          ['address', 'address', 'uint256', 'uint256', 'uint256'],
          Object.values(permit),
        ),
      },
    ],
  };
}
