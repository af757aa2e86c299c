// Attacks on a spend, each tried against the deployed contracts with their real verifiers: what a proof exists for is proved and sent, and
// the contract refuses it. Where no witness exists, the circuit refuses (packages/circuits). The spends are built by the circuits'
// test helpers, which are independent of our own code and let every value be dishonest. The table of attacks: README.md.

import { createArtifactStore } from '@pool/circuits';
import { createProver, toSolidityProof } from '@pool/prover';
import { type Anvil, startAnvil } from '@pool/testkit';
import {
  AbiCoder,
  concat,
  JsonRpcProvider,
  keccak256,
  randomBytes,
  SigningKey,
  toBeHex,
  ZeroAddress,
} from 'ethers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { R } from '../../../circuits/test/fund-batch.ts';
import {
  computeNullifiers,
  computeSpendVector,
  createSpend,
  maskingSigner,
  type Spend,
  subgroupOrder,
  toSpendInput,
  withPaths,
  withWallet,
} from '../../../circuits/test/spend.ts';
import { decodeRevert } from '../../src/calls/decode-revert.ts';
import { connectShieldedPool, type SpendCall } from '../../src/calls/shielded-pool.ts';
import { deployPoolTestToken, mintTestToken } from '../../src/calls/test-tokens.ts';
import { deployPool } from '../../src/deployment/deploy.ts';

const shape = { inputs: 2, outputs: 4, levels: 32, windows: 31 };
const holderKey = 12_345n;
const thiefKey = 777n;
const p = 2n ** 256n - 2n ** 32n - 977n;
const generator = SigningKey.computePublicKey(toBeHex(1n, 32), false);
const [gx, gy] = [4, 68].map((at) => BigInt(`0x${generator.slice(at, at + 64)}`));
const sealedNotes = concat(Array.from({ length: 4 }, () => randomBytes(209)));

const prover = createProver({
  artifacts: createArtifactStore({ keyForm: 'compact' }),
  accelerator: 'cpu',
});
let anvil: Anvil;
let provider: JsonRpcProvider;
let token: string;
let otherToken: string;
let pool: string;
let otherPool: string;
let assetId: bigint;
let snapshot: string;

beforeAll(async () => {
  anvil = await startAnvil();
  provider = new JsonRpcProvider(anvil.rpcUrl, undefined, { cacheTimeout: -1 });
  const signer = await provider.getSigner(0);
  const { address } = signer;
  token = await deployPoolTestToken({ signer, name: 'Test Dollar', symbol: 'TUSD' });
  otherToken = await deployPoolTestToken({ signer, name: 'Test Euro', symbol: 'TEUR' });
  const roles = { guardian: address, relayer: address, gate: address };
  const tokens = [token, otherToken];
  pool = (await deployPool({ signer, ...roles, tokens })).pool;
  otherPool = (await deployPool({ signer, ...roles, tokens })).pool;
  assetId = BigInt(await connectShieldedPool(pool, provider).assetIdOf(token));
  for (const held of [pool, otherPool]) {
    for (const kind of tokens) await mintTestToken(kind, signer, held, 10n ** 9n);
  }
});

beforeEach(async () => {
  snapshot = (await provider.send('evm_snapshot', [])) as string;
});
afterEach(async () => {
  await provider.send('evm_revert', [snapshot]);
});
afterAll(async () => {
  provider.destroy();
  await anvil.stop();
  await prover.close();
});

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base % p];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    result = rest & 1n ? (result * square) % p : result;
    square = (square * square) % p;
  }
  return result;
}

/** Two notes of the holder in one tree. It withdraws the first, and keeps a change. */
function makeSpend(change: Partial<Spend> = {}): Spend {
  const made = withWallet(createSpend({ ...shape, depths: [5, 9], payees: 0 }), holderKey);
  const sealed = BigInt(keccak256(sealedNotes));
  const two = {
    ...made,
    assetId,
    deadline: 4_102_444_800n,
    sealedLo: sealed % 2n ** 128n,
    sealedHi: sealed / 2n ** 128n,
  };
  return { ...withPaths(two, shape.levels, [5, 9]), ...change };
}

/** The spend with the notes' amounts as inputs: what is not withdrawn is change. */
function balance(spend: Spend): Spend {
  const sum = spend.inputAmounts.reduce((total, amount) => total + amount, 0n);
  return { ...spend, changeAmount: sum - spend.withdrawAmount };
}

/** The digest m that the wallet of the spend signs. */
function digestOf(spend: Spend): bigint {
  let digest = 0n;
  computeSpendVector(spend, {}, (_, m) => {
    digest = m;
    return maskingSigner(spend, m);
  });
  return digest;
}

type Signature = { readonly rSig: bigint; readonly s: bigint; readonly parity: 0 | 1 };

function sign(key: bigint, digest: bigint): Signature {
  const { r, s, yParity } = new SigningKey(toBeHex(key, 32)).sign(toBeHex(digest, 32));
  return { rSig: BigInt(r), s: BigInt(s), parity: yParity };
}

type Proved = { readonly operation: SpendCall; readonly proof: ReturnType<typeof toSolidityProof> };

/** The real proof of a spend with any signature, and the call that carries both. */
async function prove(honest: Spend, signature: Signature): Promise<Proved> {
  const half = 2n ** 128n;
  const spend = { ...honest, rLo: signature.rSig % half, rHi: signature.rSig / half };
  const input = toSpendInput(spend, {}, maskingSigner);
  const { proof } = await prover.prove({ circuit: 'spend-2x4', input });
  const { x, D } = computeSpendVector(spend, {}, maskingSigner);
  const word = (index: number): string => toBeHex(x[index] ?? 0n, 32);
  const join = (index: number): bigint => (x[index] ?? 0n) + (x[index + 1] ?? 0n) * half;
  const [maskedX, maskedY] = [join(15), join(17)];
  const rise = (maskedY - (gy ?? 0n) + p) % p;
  const run = (maskedX - (gx ?? 0n) + p) % p;
  const operation: SpendCall = {
    token,
    withdrawAmount: spend.withdrawAmount,
    recipient: spend.recipient === 0n ? ZeroAddress : toBeHex(spend.recipient, 20),
    deadline: spend.deadline,
    outRoot: word(6),
    nullifiers: [word(7), word(8)],
    commitments: [9, 10, 11, 12].map(word),
    noteRoot: word(13),
    eligibilityRoot: word(14),
    D: toBeHex(D, 32),
    maskedX: toBeHex(maskedX, 32),
    maskedY: toBeHex(maskedY, 32),
    slope: toBeHex((rise * power(run, p - 2n)) % p, 32),
    maskedDigest: toBeHex(join(19), 32),
    rSig: toBeHex(signature.rSig, 32),
    s: toBeHex(signature.s, 32),
    parity: signature.parity,
  };
  return { operation, proof: toSolidityProof(proof) };
}

/** The tree of the notes is not what is attacked: its root is written where the pool keeps it. */
async function makeRootKnown(at: string, root: string): Promise<void> {
  const place = AbiCoder.defaultAbiCoder().encode(['uint256', 'uint256'], [root, 29]);
  await provider.send('anvil_setStorageAt', [at, keccak256(place), toBeHex(1n, 32)]);
  expect(await connectShieldedPool(at, provider).isKnownRoot(root)).toBe(true);
}

/** What the pool answers, without sending: a code, or "accepted". */
async function ask({ operation, proof }: Proved, change: Partial<SpendCall> = {}, at = pool) {
  await makeRootKnown(at, operation.noteRoot);
  return connectShieldedPool(at, await provider.getSigner(7))
    .spend.staticCall({ ...operation, ...change }, proof, sealedNotes)
    .then(
      () => 'accepted',
      (error: unknown) => decodeRevert(error).code,
    );
}

async function send({ operation, proof }: Proved): Promise<void> {
  await makeRootKnown(pool, operation.noteRoot);
  const contract = connectShieldedPool(pool, await provider.getSigner(7));
  await (await contract.spend(operation, proof, sealedNotes)).wait();
}

describe('one note, spent once', () => {
  it('cannot be spent again by replay, an alias, another v, another asset, or another pool; a dummy with its nonce burns nothing', async () => {
    // A dummy in slot 1 carries the nonce of the second note.
    const two = makeSpend();
    const first = balance({
      ...two,
      inputEnabled: [1n, 0n],
      inputAmounts: two.inputAmounts.with(1, 0n),
    });
    const made = await prove(first, sign(holderKey, digestOf(first)));
    const { nullifiers } = made.operation;
    const [nullifier = ''] = nullifiers;

    // Before it lands: the same proof under names that are not its own.
    expect(await ask(made)).toBe('accepted');
    expect(await ask(made, { token: otherToken })).toBe('invalid-proof');
    expect(await ask(made, {}, otherPool)).toBe('invalid-proof');
    const alias = toBeHex(BigInt(nullifier) + R, 32);
    expect(await ask(made, { nullifiers: [alias, nullifiers[1] ?? ''] })).toBe(
      'field-element-out-of-range',
    );
    const otherV = computeNullifiers({ ...first, viewingKey: first.viewingKey + subgroupOrder });
    expect(otherV[0]).not.toBe(BigInt(nullifier));
    const aliased = [toBeHex(otherV[0] ?? 0n, 32), nullifiers[1] ?? ''];
    expect(await ask(made, { nullifiers: aliased })).toBe('invalid-proof');

    await send(made);
    expect(await ask(made)).toBe('nullifier-used');

    // The first note again, together with the second.
    const again = balance(two);
    const both = await prove(again, sign(holderKey, digestOf(again)));
    expect(both.operation.nullifiers[0]).toBe(nullifier);
    expect(await ask(both)).toBe('nullifier-used');

    // The second note was not burnt by the dummy that carried its nonce.
    const swap = <T>([left, right]: readonly T[]): T[] => [right as T, left as T];
    const second = balance({
      ...two,
      withdrawAmount: 5n,
      inputEnabled: [1n, 0n],
      inputAmounts: [two.inputAmounts[1] ?? 0n, 0n],
      inputNonces: [two.inputNonces[1] ?? 0n, 5n],
      inputDepths: swap(two.inputDepths),
      inputIndices: swap(two.inputIndices),
      inputSiblings: swap(two.inputSiblings),
    });
    expect(computeNullifiers(second)[0]).not.toBe(BigInt(nullifiers[1] ?? ''));
    const rest = await prove(second, sign(holderKey, digestOf(second)));
    expect(await ask(rest)).toBe('accepted');
    await send(rest);
  }, 600_000);

  it('cannot be spent twice in one call: the circuit proves the same note in two slots, and the pool refuses it', async () => {
    const two = makeSpend();
    const twice = <T>([one]: readonly T[]): T[] => [one as T, one as T];
    const doubled = balance({
      ...two,
      inputAmounts: twice(two.inputAmounts),
      inputNonces: twice(two.inputNonces),
      inputDepths: twice(two.inputDepths),
      inputIndices: twice(two.inputIndices),
      inputSiblings: twice(two.inputSiblings),
    });
    const made = await prove(doubled, sign(holderKey, digestOf(doubled)));
    const { nullifiers } = made.operation;
    expect(nullifiers[0]).toBe(nullifiers[1]);
    expect(await ask(made)).toBe('nullifier-repeated');
  }, 600_000);
});

describe('without the wallet key', () => {
  it('a thief who knows v, W and the note proves a spend, and the pool refuses its signature', async () => {
    const spend = balance({ ...makeSpend(), recipient: 99n });
    const made = await prove(spend, sign(thiefKey, digestOf(spend)));
    expect(await ask(made)).toBe('invalid-spend-signature');
  }, 600_000);

  it('a thief with a wallet of its own has no witness, and its nullifiers are not those of the victim', async () => {
    const victim = balance(makeSpend());
    const thief = withWallet(victim, thiefKey);
    expect(computeNullifiers(thief)).not.toContain(computeNullifiers(victim)[0]);
    await expect(prove(thief, sign(thiefKey, digestOf(thief)))).rejects.toMatchObject({
      code: 'witness_refused',
    });
  }, 600_000);

  it('a prover host cannot use the signature of one operation for another one', async () => {
    const signed = balance(makeSpend());
    const signature = sign(holderKey, digestOf(signed));
    const redirected = { ...signed, recipient: 99n };
    const made = await prove(redirected, signature);
    expect(await ask(made)).toBe('invalid-spend-signature');
    // Neither does it help to write another recipient or amount into the signed call.
    const honest = await prove(signed, signature);
    const recipient = toBeHex(99n, 20);
    expect(await ask(honest, { recipient })).toBe('invalid-proof');
    expect(await ask(honest, { withdrawAmount: 1n })).toBe('invalid-proof');
  }, 600_000);
});
