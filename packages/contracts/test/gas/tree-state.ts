/**
 * Puts the note tree of a development chain into the state after a thousand settled batches, by writing
 * the storage that they would have written. The caller checks the result through the contract's own views.
 */
import { LeanIMT } from '@zk-kit/lean-imt';
import { AbiCoder, id, type JsonRpcProvider, keccak256, toBeHex } from 'ethers';
import { poseidon2 } from 'poseidon-lite';

/** Storage of ShieldedPool, as `forge inspect ShieldedPool storage-layout` shows it. */
const flagsSlot = 3n;
const frontierSlot = 4n;
const madeBySlot = 29n;
/** The slot holds `bool paused` in its lowest byte and the `uint64` count right above. */
const countShift = 8n;

const scalarField = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
function hash(left: bigint, right: bigint): bigint {
  return poseidon2([left, right]);
}

/** Writes a tree of `size` made-up batches; returns the root it must have. */
export async function writeTree(
  provider: JsonRpcProvider,
  pool: string,
  size: number,
): Promise<string> {
  const leaves = Array.from(
    { length: size },
    (_, i) => BigInt(id(`pool/gas/batch ${String(i)}`)) % scalarField,
  );
  const rootOf = (from: number, to: number): bigint =>
    new LeanIMT(hash, leaves.slice(from, to)).root;
  for (let level = 0; 2 ** level <= size; level += 1) {
    const width = 2 ** level;
    // The last complete subtree of this width that is a left sibling.
    const start = Math.floor((size - width) / (2 * width)) * 2 * width;
    const value = rootOf(start, start + width);
    await setStorage(provider, pool, frontierSlot + BigInt(level), value);
  }
  await setStorage(provider, pool, flagsSlot, BigInt(size) << countShift);
  return toBeHex(rootOf(0, size), 32);
}

/** Makes a root one that the pool knows. */
export async function makeRootKnown(
  provider: JsonRpcProvider,
  pool: string,
  root: string,
): Promise<void> {
  const slot = keccak256(
    AbiCoder.defaultAbiCoder().encode(['uint256', 'uint256'], [root, madeBySlot]),
  );
  await setStorage(provider, pool, BigInt(slot), 1n);
}

async function setStorage(
  provider: JsonRpcProvider,
  address: string,
  slot: bigint,
  value: bigint,
): Promise<void> {
  await provider.send('anvil_setStorageAt', [address, toBeHex(slot, 32), toBeHex(value, 32)]);
}
