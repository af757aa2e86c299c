// Two signatures over one digest m, masked with one b, give W to everybody (protocol §7). Here an agent signs one m twice: it dies between
// signature and storage, a late second answer comes, a proof is made again. Everything that leaves it is given to a solver for W.
import { bigintToHex32, hexToBigint, hexToBytes } from '@pool/core';
import { createMemoryStore } from '@pool/idempotency';
import { buildSpend, computeMaskedSigner, deriveDummyInputs } from '@pool/notes';
import { SigningKey } from 'ethers';
import { expect, it } from 'vitest';
import { spendFaultPoints } from '../archive/spend-state.ts';
import { createSpendWorld } from '../fixtures/spend-world.ts';
import { createSpender } from './perform-spend.ts';
import type { SpendSubmission } from './spend-ports.ts';

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

type World = ReturnType<typeof createSpendWorld>;
type Sent = Pick<SpendSubmission['spend'], 'maskedX' | 'maskedY' | 'maskedDigest' | 'rSig'>;

function mod(value: bigint): bigint {
  return ((value % order) + order) % order;
}

function invert(value: bigint): bigint {
  let [result, square] = [1n, mod(value)];
  for (let rest = order - 2n; rest > 0n; rest >>= 1n) {
    result = rest & 1n ? mod(result * square) : result;
    square = mod(square * square);
  }
  return result;
}

/** W as the two calls give it: m'₁ - m'₂ = (r₂ - r₁)·b̂, and W = W' - b̂·G. Undefined: they are one equation. */
function solveWallet(first: Sent, second: Sent): string | undefined {
  const [r1, r2] = [first, second].map(({ rSig }) => hexToBigint(rSig));
  const [m1, m2] = [first, second].map(({ maskedDigest }) => hexToBigint(maskedDigest));
  const [run, rise] = [mod((r2 ?? 0n) - (r1 ?? 0n)), mod((m1 ?? 0n) - (m2 ?? 0n))];
  if (run === 0n || rise === 0n) {
    return undefined;
  }
  const minusScalar = mod(-rise * invert(run));
  const step = SigningKey.computePublicKey(`0x${minusScalar.toString(16).padStart(64, '0')}`, true);
  const masked = `0x04${first.maskedX.slice(2)}${first.maskedY.slice(2)}`;
  return SigningKey.addPoints(masked, step, true);
}

/** What anyone finds who sees all calls that left an agent. */
function listSolutions(calls: readonly Sent[]): string[] {
  return calls.flatMap((first, i) =>
    calls.slice(i + 1).flatMap((second) => solveWallet(first, second) ?? []),
  );
}

function callOf(world: World) {
  const [payee] = world.payees;
  return {
    operation: 'transfer',
    key: 'k',
    body: { token: 'USDC', recipients: [{ walletPub: payee.walletPub, amount: '250' }] },
  } as const;
}

/** The call of the spend that is being signed, if it carried this rSig: same m, same b. */
function callWith(world: World, rSig: bigint): Sent {
  const [stored] = world.archive.all();
  if (stored?.secrets === undefined) throw new Error('the spend is not archived');
  const { manifest, seed } = stored.secrets;
  const dummies = deriveDummyInputs(manifest, hexToBytes(seed), world.holder.viewingKey);
  const nullifiers = dummies.map(({ nullifier }) => nullifier);
  const { digest, blinding } = buildSpend(manifest, hexToBytes(seed), nullifiers);
  const { walletPub } = world.holder;
  const { maskedPub, maskedDigest } = computeMaskedSigner({ walletPub, digest, blinding, rSig });
  return {
    maskedX: bigintToHex32(maskedPub.x),
    maskedY: bigintToHex32(maskedPub.y),
    maskedDigest: bigintToHex32(maskedDigest),
    rSig: bigintToHex32(rSig),
  };
}

it('give W to everybody who sees two of them', async () => {
  const world = createSpendWorld();
  const { deps } = world.boot();
  const careless: Sent[] = [];
  const signSpend: typeof world.signer.signSpend = async (...parts) => {
    const second = await world.signer.signSpend(...parts);
    careless.push(callWith(world, second.rSig));
    return await world.signer.signSpend(...parts);
  };
  await createSpender({ ...deps, signer: { signSpend } }).spend(callOf(world));
  const sent = world.edge.posts.map(({ spend }) => spend);
  expect(sent).toHaveLength(1);
  expect(listSolutions(sent)).toEqual([]);
  expect(listSolutions([...sent, ...careless])).toEqual([world.holder.walletPub]);
});

it.each(spendFaultPoints)('never both leave an agent that dies at %s', async (point) => {
  const world = createSpendWorld();
  const store = createMemoryStore();
  const { deps } = world.boot({
    store,
    crashAt(reached) {
      if (reached === point) throw new Error('crash');
    },
  });
  await expect(createSpender(deps).spend(callOf(world))).rejects.toThrow(`stopped at ${point}`);
  await createSpender(world.boot({ store }).deps).spend(callOf(world));
  if (point === 'signature.before-store') {
    expect(world.signer.signatures).toBe(2);
  }
  const sent = world.edge.posts.map(({ spend }) => spend);
  expect(sent.length).toBeGreaterThan(0);
  expect(listSolutions(sent)).toEqual([]);
  expect(new Set(sent.map(({ rSig }) => rSig)).size).toBe(1);
});
