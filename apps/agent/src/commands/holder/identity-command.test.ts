// `disburse-agent identity` and `viewing-key new`: what they print, and the configurations that they refuse.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes } from '@pool/pay-run';
import { armor, Decrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import encryptionVectors from '../../../../../vectors/encryption-key.json' with { type: 'json' };
import vectors from '../../../../../vectors/viewing-key.json' with { type: 'json' };
import walletVectors from '../../../../../vectors/wallet-id.json' with { type: 'json' };
import { runCli } from '../../cli.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'identity-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

async function run(...args: readonly string[]) {
  let printed = '';
  let errors = '';
  const code = await runCli(args, {
    out: (text) => {
      printed += text;
    },
    err: (text) => {
      errors += text;
    },
    terminal: { isTty: false, write: () => undefined },
  });
  return { code, printed, errors };
}

type Variables = Readonly<Record<string, string>>;

async function identify(variables: Variables) {
  const path = join(directory, 'agent.env');
  const lines = Object.entries({ DISBURSE_HOME: directory, ...variables });
  writeFileSync(path, lines.map(([name, value]) => `${name}=${value}`).join('\n'));
  const { code, printed, errors } = await run('identity', '--env-file', path);
  return { code, errors, identity: (printed === '' ? {} : JSON.parse(printed)) as Variables };
}

/** chains.json with chains of every family. */
function writeChains(domain = 'pool.example'): void {
  const evm = {
    family: 'evm',
    chainId: 8453,
    rpcUrl: 'https://rpc.example',
    pool: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    registry: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
    deployedAtBlock: 0,
    finality: { kind: 'finalized-tag' },
    maxRecipients: 64,
    tokens: {},
  };
  const chains = {
    base: evm,
    sol: { family: 'solana' },
    xlm: { family: 'stellar' },
    odd: { family: 'aptos' },
  };
  writeFileSync(
    join(directory, 'chains.json'),
    JSON.stringify({ evidence: { domain, uri: `https://${domain}` }, chains }),
  );
}

const [derived] = vectors.derived;
const [derivedEd25519] = vectors.derivedEd25519;
const [escrow] = encryptionVectors.keys.slice(-1);
if (derived === undefined || derivedEd25519 === undefined || escrow === undefined) {
  throw new Error('the vectors have no keys');
}
const local = { DISBURSE_HOLDER_PRIVATE_KEY: derived.privateKey };
const edwards = {
  DISBURSE_HOLDER_SIGNER: 'local-ed25519',
  DISBURSE_HOLDER_ED25519_KEY: derivedEd25519.seed,
};
const escrowed = { DISBURSE_HOLDER_VIEWING_KEY: escrow.viewingKey };
const wallet = walletVectors.wallets.find(({ privateKey }) => privateKey === derived.privateKey);

describe('identity', () => {
  it('prints address, W and P of a local key, without a platform, and writes nothing [identity.derives, identity.fields, variable.holder-key]', async () => {
    writeChains();
    const before = readdirSync(directory);
    const { code, identity } = await identify(local);
    expect(code).toBe(exitCodes.ok);
    expect(identity).toEqual({
      platform: 'evm',
      address: wallet?.address,
      walletPub: wallet?.walletPub,
      encryptionPublicKey: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      signer: 'local-key',
      deterministic: true,
    });
    expect(readdirSync(directory)).toEqual([...before, 'agent.env'].sort());
  });

  it('derives P from the viewing key of the default derivation [identity.derives, viewing-key.derived]', async () => {
    writeChains(derived.domain);
    const byDefault = await identify(local);
    const stored = await identify({ ...local, DISBURSE_HOLDER_VIEWING_KEY: derived.viewingKey });
    expect(byDefault.identity).toEqual(stored.identity);
    writeChains('other.example');
    const elsewhere = await identify(local);
    expect(elsewhere.identity['encryptionPublicKey']).not.toBe(
      byDefault.identity['encryptionPublicKey'],
    );
  });

  it('uses an escrowed viewing key, bare or as the document that made it, and needs no chains.json [variable.viewing-key, viewing-key.restored]', async () => {
    const document = join(directory, 'viewing-key.json');
    writeFileSync(document, JSON.stringify({ scalar: escrow.viewingKey }));
    for (const variables of [escrowed, { DISBURSE_HOLDER_VIEWING_KEY_FILE: document }]) {
      const { identity } = await identify({ ...local, ...variables });
      expect(identity['encryptionPublicKey']).toBe(escrow.encryptionPublicKey);
    }
  });

  it.each([
    ['base', local, { platform: 'evm' }],
    ['sol', edwards, { platform: 'solana', walletPub: derivedEd25519.walletPub }],
    ['xlm', edwards, { platform: 'stellar', walletPub: derivedEd25519.walletPub }],
  ])(
    'takes the family from DISBURSE_CHAIN=%s [identity.derives, variable.holder-signer-ed25519]',
    async (chain, keys, expected) => {
      writeChains();
      const { identity } = await identify({ ...keys, DISBURSE_CHAIN: chain });
      expect(identity).toMatchObject(expected);
    },
  );

  it('gives one escrowed scalar another P on each curve [viewing-key.p-per-curve]', async () => {
    writeChains();
    const evm = await identify({ ...local, ...escrowed, DISBURSE_CHAIN: 'base' });
    const solana = await identify({ ...edwards, ...escrowed, DISBURSE_CHAIN: 'sol' });
    const stellar = await identify({ ...edwards, ...escrowed, DISBURSE_CHAIN: 'xlm' });
    expect(evm.identity['encryptionPublicKey']).toBe(escrow.encryptionPublicKey);
    expect(solana.identity['encryptionPublicKey']).toBe(escrow.x25519PublicKey);
    expect(stellar.identity['encryptionPublicKey']).toBe(escrow.x25519PublicKey);
    expect(solana.identity['address']).not.toBe(stellar.identity['address']);
  });

  it('compares P with DISBURSE_HOLDER_ENCRYPTION_PUBKEY', async () => {
    const pinned = { DISBURSE_HOLDER_ENCRYPTION_PUBKEY: escrow.encryptionPublicKey };
    expect((await identify({ ...local, ...escrowed, ...pinned })).code).toBe(exitCodes.ok);
    const other = { DISBURSE_HOLDER_VIEWING_KEY: derived.viewingKey };
    const { code, errors, identity } = await identify({ ...local, ...other, ...pinned });
    expect(code).toBe(exitCodes.error);
    expect(identity).toEqual({});
    expect(errors).toMatch(/^viewing_key_mismatch: .*DISBURSE_HOLDER_ENCRYPTION_PUBKEY/);
    expect(errors).not.toContain(derived.viewingKey.slice(2));
  });

  it.each<[string, Variables, string]>([
    ['no key', {}, 'DISBURSE_HOLDER_PRIVATE_KEY is required by DISBURSE_HOLDER_SIGNER=local-key'],
    [
      'no ed25519 key',
      { ...local, DISBURSE_HOLDER_SIGNER: 'local-ed25519' },
      'DISBURSE_HOLDER_ED25519_KEY is required by DISBURSE_HOLDER_SIGNER=local-ed25519',
    ],
    [
      'an ed25519 key without a chain',
      { ...edwards, ...escrowed },
      'DISBURSE_CHAIN is required by local-ed25519: its key is a wallet on solana and stellar',
    ],
    [
      'a chain that is not in chains.json',
      { ...local, DISBURSE_CHAIN: 'optimism' },
      'DISBURSE_CHAIN names a chain that is not in',
    ],
    [
      'a chain of an unknown family',
      { ...local, DISBURSE_CHAIN: 'odd' },
      'DISBURSE_CHAIN names a chain of a family that is not supported, aptos',
    ],
    [
      'a chain of another curve',
      { ...local, DISBURSE_CHAIN: 'sol' },
      'DISBURSE_CHAIN names a chain whose wallets sign on ed25519, and DISBURSE_HOLDER_SIGNER=local-key signs on secp256k1',
    ],
    [
      'an enclave without its socket',
      { ...local, DISBURSE_HOLDER_SIGNER: 'enclave' },
      'DISBURSE_HOLDER_ENCLAVE_SOCKET is required',
    ],
    [
      'custodian A without its wallet',
      { ...local, ...escrowed, DISBURSE_HOLDER_SIGNER: 'custodian_a' },
      'DISBURSE_CUSTODIAN_A_HOLDER_WALLET_ID is required',
    ],
    [
      'custodian A without an escrowed viewing key',
      { ...local, DISBURSE_HOLDER_SIGNER: 'custodian_a' },
      'DISBURSE_HOLDER_VIEWING_KEY is required by custodian_a',
    ],
    [
      'a viewing key out of range',
      { ...local, DISBURSE_HOLDER_VIEWING_KEY: `0x${'ff'.repeat(32)}` },
      'DISBURSE_HOLDER_VIEWING_KEY must be a viewing key',
    ],
  ])('refuses %s [variable.holder-key]', async (_title, variables, expected) => {
    writeChains();
    const { code, errors, identity } = await identify(variables);
    expect(code).toBe(exitCodes.error);
    expect(identity).toEqual({});
    expect(errors).toMatch(/^invalid_configuration: /);
    expect(errors).toContain(expected);
    for (const secret of [derived.privateKey, derivedEd25519.seed, escrow.viewingKey]) {
      expect(errors).not.toContain(secret.slice(2));
    }
  });

  it('names evidence.domain and the file if the platform’s domain is missing [viewing-key.never-made-by-agent]', async () => {
    const path = join(directory, 'chains.json');
    for (const content of [undefined, '{', '{"chains":{}}', '{"evidence":{},"chains":{}}']) {
      if (content !== undefined) {
        writeFileSync(path, content);
      }
      const { code, errors } = await identify(local);
      expect(code).toBe(exitCodes.error);
      expect(errors).toContain(`evidence.domain of ${path}`);
      expect(errors).toContain('DISBURSE_HOLDER_VIEWING_KEY');
    }
  });
});

type ViewingKeyDocument = {
  readonly scalar: string;
  readonly encryptionPublicKeys: { readonly babyjubjub: string; readonly x25519: string };
};

describe('viewing-key new', () => {
  it('prints a scalar with its P on each curve, which identity then prints [command.viewing-key-new, viewing-key.escrowed, viewing-key.restored]', async () => {
    const { code, printed, errors } = await run('viewing-key', 'new');
    expect({ code, errors }).toEqual({ code: exitCodes.ok, errors: '' });
    const document = JSON.parse(printed) as ViewingKeyDocument;
    expect(Object.keys(document)).toEqual(['scalar', 'encryptionPublicKeys']);
    const path = join(directory, 'escrow.json');
    writeFileSync(path, printed);
    writeChains();
    const file = { DISBURSE_HOLDER_VIEWING_KEY_FILE: path };
    const { babyjubjub, x25519 } = document.encryptionPublicKeys;
    expect((await identify({ ...local, ...file })).identity['encryptionPublicKey']).toBe(
      babyjubjub,
    );
    const solana = await identify({ ...edwards, ...file, DISBURSE_CHAIN: 'sol' });
    expect(solana.identity['encryptionPublicKey']).toBe(x25519);
  });

  it('makes another key each time [command.viewing-key-new]', async () => {
    const texts = await Promise.all([run('viewing-key', 'new'), run('viewing-key', 'new')]);
    expect(new Set(texts.map(({ printed }) => printed)).size).toBe(2);
  });

  it('prints the document encrypted to an age recipient, and not in clear [command.viewing-key-new]', async () => {
    const secretKey = await generateIdentity();
    const recipient = await identityToRecipient(secretKey);
    const { code, printed } = await run('viewing-key', 'new', '--encrypt-to', recipient);
    expect(code).toBe(exitCodes.ok);
    expect(printed).toMatch(
      /^-----BEGIN AGE ENCRYPTED FILE-----\n[A-Za-z0-9+/=\n]+\n-----END AGE ENCRYPTED FILE-----$/,
    );
    const decrypter = new Decrypter();
    decrypter.addIdentity(secretKey);
    const document = JSON.parse(
      await decrypter.decrypt(armor.decode(printed), 'text'),
    ) as ViewingKeyDocument;
    expect(document.scalar).toMatch(/^0x0[0-6][0-9a-f]{62}$/);
    expect(document.encryptionPublicKeys.x25519).toMatch(/^0x[0-9a-f]{64}$/);
  });

  it('makes no key for a recipient that is not one, and does not repeat it', async () => {
    const secretKey = await generateIdentity();
    for (const recipient of ['age1canary', secretKey, 'somebody']) {
      const { code, printed, errors } = await run('viewing-key', 'new', '--encrypt-to', recipient);
      expect(code).not.toBe(exitCodes.ok);
      expect(printed).toBe('');
      expect(errors).toContain('--encrypt-to must be an age recipient');
      expect(errors).not.toContain(recipient);
    }
  });
});
