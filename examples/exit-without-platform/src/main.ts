/**
 * Usage: node src/main.ts <exit.json> <notes.json> <amount> <recipient> <folder>
 *
 * Withdraws an amount in base units to an address, with nothing but chain data, kept notes and keys. The keys come from the environment:
 * HOLDER_PRIVATE_KEY, GAS_PRIVATE_KEY and, if it is not derived, HOLDER_VIEWING_KEY.
 *
 * Everything is written into the folder before it leaves. Run the same command again after an interruption: it continues that withdrawal.
 * Within 24 hours of a settled one it pays nothing more. After that it begins another withdrawal.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import {
  chainFamilies,
  computeWalletAddress,
  type EvmChainSettings,
  evmChainSettingsSchema,
  parseAmount,
  parseEvmAddress,
  parseHex,
  parseWalletPub,
  parseWire,
  Secret,
} from '@pool/core';
import { parseViewingKey } from '@pool/notes';
import {
  createProver,
  fromSolidityProof,
  readVerificationKey,
  toSolidityProof,
} from '@pool/prover';
import {
  computeHolderEncryptionKey,
  createLocalKeyHolder,
  deriveHolderViewingKey,
  type HolderSigner,
} from '@pool/signers';
import type { ProvedBatch, SpendProverPort } from '@pool/wallet';
import {
  createHolderNotes,
  type Holder,
  type Log,
  openSelfSubmission,
  readKeptNotes,
} from '@pool/wallet/node';

type ExitFile = {
  /** The pool's chain, as chains.json has it. */
  readonly chain: EvmChainSettings;
  /** Symbol. */
  readonly token: string;
  /** Domain in the viewing-key text: that of the platform where the holder enrolled. Not needed with HOLDER_VIEWING_KEY. */
  readonly platformDomain?: string;
  readonly circuits: Readonly<Record<string, { readonly wasm: string; readonly zkey: string }>>;
};

/** No transaction is sent whose gas could cost more: 0.05 of the chain's coin. */
const gasCapWei = 50_000_000_000_000_000n;

const log: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (_fields, message) => say(message),
  error: (_fields, message) => say(message),
};

const prover = createProver();
try {
  const [exitPath, notesPath, amountText, recipientText, home] = process.argv.slice(2);
  if (!exitPath || !notesPath || !amountText || !recipientText || !home) {
    throw new Error(
      'Usage: node src/main.ts <exit.json> <notes.json> <amount> <recipient> <folder>',
    );
  }
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const file = JSON.parse(readFileSync(exitPath, 'utf8')) as ExitFile;
  const settings = parseWire(evmChainSettingsSchema, file.chain, 'chain of exit.json');
  const amount = parseAmount(amountText).toString();
  const recipient = parseEvmAddress(recipientText);
  const chain = { key: 'exit', settings };
  const holder = await openHolder(file);
  const walletPub = parseWalletPub(holder.walletPub);
  const kept = readKeptNotes(notesPath, { ...settings, walletPub });

  const notes = createHolderNotes({
    ...{ home, log, openHolder: async () => holder, findChain: () => chain },
    createDeliveries: () => ({ fetchPage: async () => ({ notes: kept, isOwnFile: true }) }),
  });
  const own = await notes.listSpendable(file.token).finally(() => notes.close());
  const total = own.reduce((sum, note) => sum + note.amount, 0n);
  say(`${own.length} spendable note(s), ${total} base units`);

  const submission = openSelfSubmission({
    settings: {
      ...{ home, gasCapWei, gasPrivateKey: readKey('GAS_PRIVATE_KEY') },
      holder: {
        sendDestinations: new Map([['recipient', recipient]]),
        sendMaxAmount: undefined,
      },
    },
    ...{ holder, chain, kept, log, prover: createPort(file) },
    signal: new AbortController().signal,
    onEvent(event) {
      if (event.kind !== 'progress') {
        say(event.kind === 'stage' ? event.stage : JSON.stringify(event));
      }
    },
    onSent: ({ txHash, maxCostWei }) =>
      say(`sent ${txHash}, which costs at most ${maxCostWei} wei`),
  });
  try {
    const request = { token: file.token, amount, to: 'recipient' };
    const findPaid = async () =>
      (await submission.listPaid(request, recipient)).find(({ state }) => state.kind === 'settled');
    await submission.follow();
    if ((await findPaid()) === undefined) {
      const open = (await submission.listOpen()).find(
        ({ secrets }) =>
          secrets !== undefined &&
          secrets.manifest.token === settings.tokens[file.token]?.address &&
          secrets.manifest.withdrawAmount === amount &&
          secrets.manifest.recipient === recipient,
      );
      if (open === undefined && total < BigInt(amount)) {
        throw new Error(`the notes hold ${total} base units, less than the amount`);
      }
      const { status } = await submission.withdraw(request, open);
      if (status !== 'success') {
        throw new Error('the transaction reverted and nothing moved: run the command again');
      }
    }
    const outRoot = (await findPaid())?.outRoot;
    console.log(JSON.stringify({ outRoot, recipient, amount }));
  } finally {
    await submission.close();
  }
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await prover.close();
}

function say(line: string): void {
  console.error(line);
}

async function openHolder(file: ExitFile): Promise<Holder> {
  const signer = createLocalKeyHolder({ privateKey: readKey('HOLDER_PRIVATE_KEY') });
  const walletPub = await signer.walletPub();
  const viewingKey = await readViewingKey(signer, file);
  return {
    ...{ signer, walletPub, viewingKey, family: chainFamilies.evm, earlier: [] },
    address: computeWalletAddress(parseWalletPub(walletPub)),
    encryptionPublicKey: computeHolderEncryptionKey(signer.curve, viewingKey),
  };
}

async function readViewingKey(
  signer: HolderSigner,
  { platformDomain }: ExitFile,
): Promise<Secret<bigint>> {
  const escrowed = process.env['HOLDER_VIEWING_KEY'];
  if (escrowed !== undefined) {
    return new Secret(parseViewingKey(escrowed));
  }
  if (platformDomain === undefined) {
    throw new Error('exit.json needs platformDomain, unless HOLDER_VIEWING_KEY is set');
  }
  return await deriveHolderViewingKey(signer, platformDomain);
}

function readKey(name: string): Secret {
  const value = process.env[name];
  if (value === undefined) {
    throw new Error(`${name} is required`);
  }
  return new Secret(parseHex(value, 32));
}

/** Proves with the files of exit.json. */
function createPort({ circuits }: ExitFile): SpendProverPort {
  function locate(name: string) {
    const circuit = circuits[name];
    if (circuit === undefined) {
      throw new Error(`exit.json names no files of ${name}`);
    }
    return circuit;
  }
  return {
    mode: 'real',
    async prove(name, input) {
      const { proof, publicSignals } = await prover.prove({ circuit: locate(name), input });
      return {
        proof: toSolidityProof(proof) as ProvedBatch['proof'],
        publicSignals: publicSignals.map(BigInt),
      };
    },
    async verify(name, { proof, publicSignals }) {
      const { zkey } = locate(name);
      return await prover.verify(
        await readVerificationKey(zkey),
        publicSignals.map(String),
        fromSolidityProof(proof),
      );
    },
  };
}
