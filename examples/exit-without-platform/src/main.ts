/**
 * Usage: node src/main.ts <exit.json> <notes.json> <amount> <recipient> <withdrawal.json>
 *
 * Withdraws an amount in base units to an address, with nothing but chain data, kept notes and keys. The keys come from the environment:
 * HOLDER_PRIVATE_KEY, GAS_PRIVATE_KEY and, if it is not derived, HOLDER_VIEWING_KEY.
 *
 * The last file is written before anything leaves. Run the same command again after an interruption: it continues that withdrawal.
 */

import {
  computeAssetId,
  fieldToHex,
  hexToBytes,
  parseAmount,
  parseEvmAddress,
  parseHex,
  parseWalletPub,
  Secret,
} from '@pool/core';
import { createEvmProvider } from '@pool/evm-sender';
import { buildSpend, computeWalletId, deriveDummyInputs, parseViewingKey } from '@pool/notes';
import {
  computeHolderEncryptionKey,
  createLocalKeyHolder,
  deriveHolderViewingKey,
} from '@pool/signers';
import {
  type ExitFile,
  readExitFile,
  readNotesFile,
  readWithdrawal,
  writeWithdrawal,
} from './files.ts';
import { findNotes, type Keys } from './find-notes.ts';
import { planWithdrawal } from './plan-withdrawal.ts';
import { proveWithdrawal } from './prove-withdrawal.ts';
import { readPool } from './read-pool.ts';
import { submitWithdrawal } from './submit-withdrawal.ts';

const [exitPath, notesPath, amountText, recipientText, withdrawalPath] = process.argv.slice(2);
if (
  exitPath === undefined ||
  notesPath === undefined ||
  amountText === undefined ||
  recipientText === undefined ||
  withdrawalPath === undefined
) {
  console.error(
    'Usage: node src/main.ts <exit.json> <notes.json> <amount> <recipient> <withdrawal.json>',
  );
  process.exit(2);
}

const file = readExitFile(exitPath);
const provider = createEvmProvider(file.chain);
try {
  const signer = createLocalKeyHolder({ privateKey: readKey('HOLDER_PRIVATE_KEY') });
  const walletPub = parseWalletPub(await signer.walletPub());
  const keys = await readKeys(file);
  const token = parseEvmAddress(file.token);
  const assetId = computeAssetId(file.chain.chainId, file.chain.pool, token);

  const pool = await readPool(provider, file, log);
  const notes = await findNotes(pool, readNotesFile(notesPath), { assetId, token }, keys);
  const total = notes.reduce((sum, { amount }) => sum + amount, 0n);
  log(`${notes.length} spendable note(s), ${total} base units`);

  let withdrawal = readWithdrawal(withdrawalPath);
  if (withdrawal === undefined) {
    const nowSeconds = Math.max(Date.now() / 1000, await pool.reader.fetchHeadTimestamp());
    withdrawal = planWithdrawal({
      ...{ chain: file.chain, token, walletPub, keys, notes, nowSeconds },
      amount: parseAmount(amountText),
      recipient: parseEvmAddress(recipientText),
    });
    // Before anything leaves: the change exists only through manifest and seed.
    writeWithdrawal(withdrawalPath, withdrawal);
  } else {
    log(`continuing the withdrawal of ${withdrawalPath}`);
  }
  const { manifest } = withdrawal;
  const seed = hexToBytes(withdrawal.seed, 32);
  const dummies = deriveDummyInputs(manifest, seed, keys.viewingKey);
  const plan = buildSpend(
    manifest,
    seed,
    dummies.map(({ nullifier }) => nullifier),
  );
  if (withdrawal.signature === undefined) {
    const signature = await signer.signSpend(plan.operation, plan.salt);
    withdrawal = { ...withdrawal, signature };
    // Two signatures over one operation would reveal W, so this one is kept and never made again.
    writeWithdrawal(withdrawalPath, withdrawal);
  }
  const { signature } = withdrawal;
  const outRoot = fieldToHex(plan.operation.outRoot);
  const [nullifier = ''] = manifest.inputNullifiers;
  if (
    signature !== undefined &&
    (await pool.reader.fetchOutRootOf(nullifier, 'latest')) !== outRoot
  ) {
    const { proof, call } = await proveWithdrawal({
      ...{ manifest, plan, dummies, keys, notes, pool, signature, walletPub },
      circuits: file.circuits,
    });
    const { hash, costWei } = await submitWithdrawal(provider, file.chain, {
      ...{ call, proof },
      sealedNotes: plan.sealedNotes.map(({ sealed }) => sealed),
      gasKey: readKey('GAS_PRIVATE_KEY'),
    });
    log(`sent ${hash}, which costs at most ${costWei} wei`);
  }
  await waitUntilFinal(nullifier, outRoot);
  console.log(
    JSON.stringify({ outRoot, recipient: manifest.recipient, amount: manifest.withdrawAmount }),
  );

  /** The contract's own record says which spend used the note, whoever sent it. */
  async function waitUntilFinal(spent: string, expected: string): Promise<void> {
    for (;;) {
      const final = await pool.reader.fetchFinalBlock();
      const used = await pool.reader.fetchOutRootOf(spent, final.number);
      if (used === expected) {
        return;
      }
      if (used !== undefined || final.timestampSeconds > manifest.deadline) {
        throw new Error(
          used === undefined
            ? 'the deadline passed and nothing moved: delete the withdrawal file and begin again'
            : 'another spend used the notes, so this withdrawal can never land',
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  provider.destroy();
}

function log(line: string): void {
  console.error(line);
}

async function readKeys({ platformDomain }: ExitFile): Promise<Keys> {
  const signer = createLocalKeyHolder({ privateKey: readKey('HOLDER_PRIVATE_KEY') });
  const escrowed = process.env['HOLDER_VIEWING_KEY'];
  if (escrowed === undefined && platformDomain === undefined) {
    throw new Error('exit.json needs platformDomain, unless HOLDER_VIEWING_KEY is set');
  }
  const viewingKey =
    escrowed === undefined
      ? await deriveHolderViewingKey(signer, platformDomain ?? '')
      : new Secret(parseViewingKey(escrowed));
  return {
    walletId: computeWalletId(parseWalletPub(await signer.walletPub())),
    viewingKey: viewingKey.reveal(),
    encryptionPublicKey: computeHolderEncryptionKey(signer.curve, viewingKey),
  };
}

function readKey(name: string): Secret {
  const value = process.env[name];
  if (value === undefined) {
    throw new Error(`${name} is required`);
  }
  return new Secret(parseHex(value, 32));
}
