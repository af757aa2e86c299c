/**
 * Sign-in texts of ed25519 wallets, and the evidence they leave (protocol §2; docs/decisions/0006). The text is that of EIP-4361 with the
 * name of the chain family, as Sign-In With Solana and CAIP-122 have it. A Solana wallet signs its bytes; a Stellar wallet signs the
 * hash of SEP-53. Vectors: vectors/ed25519-sign-in.json.
 *
 * @module
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { type Ed25519Address, parseEd25519Address } from '../chain-families/account-address.ts';
import type { Ed25519SignInRules } from '../chain-families/chain-family.ts';
import {
  chainFamilies,
  type Ed25519FamilyName,
  ed25519FamilyNames,
} from '../chain-families/families.ts';
import { PoolError } from '../errors/pool-error.ts';
import { bytesToHex, type Hex, hexToBytes } from '../values/hex.ts';
import {
  assertFaithful,
  type EncryptionPublicKey,
  type EvidenceDomain,
  encryptionKeyResourcePrefix,
  formatSignInTime,
  malformedSignIn,
  parseEncryptionPublicKey,
  parseSignInMessage,
  parseSignInPart,
  readBinding,
  refuseEvidence,
  type SignInEvidence,
} from './sign-in.ts';

function rulesOf(family: Ed25519FamilyName): Ed25519SignInRules {
  return chainFamilies[family].signIn;
}

const walletNames = ed25519FamilyNames.map((family) => rulesOf(family).walletName);

/** A well-formed text. The signer is not checked. */
export type Ed25519SignIn = {
  readonly family: Ed25519FamilyName;
  readonly domain: string;
  readonly address: Ed25519Address;
  readonly statement: string;
  readonly uri: string;
  /** For example `mainnet`. */
  readonly network: string;
  readonly nonce: string;
  readonly issuedAtMs: number;
  readonly expirationTimeMs: number;
  /** P, an X25519 public key. */
  readonly encryptionPublicKey: EncryptionPublicKey | undefined;
};

const textPattern = new RegExp(
  [
    `^([^\\s/?#@]{1,255}) wants you to sign in with your (${walletNames.join('|')}) account:`,
    '([1-9A-Za-z]{32,56})',
    '',
    '([\\x20-\\x7e]{1,255})',
    '',
    'URI: (\\S{1,2048})',
    'Version: 1',
    `Chain ID: (${ed25519FamilyNames.join('|')}):([a-z]{1,32})`,
    'Nonce: ([A-Za-z0-9]{8,64})',
    'Issued At: (\\S{24})',
    'Expiration Time: (\\S{24})(?:\nResources:\n- (urn:pool:encryption-key:\\S{66}))?$',
  ].join('\n'),
);

/** The family whose wallets sign such a text. Undefined: it is not a text of an ed25519 wallet. */
export function findEd25519Family(message: string): Ed25519FamilyName | undefined {
  const first = message.slice(0, message.indexOf('\n'));
  return ed25519FamilyNames.find((family) =>
    first.endsWith(` wants you to sign in with your ${rulesOf(family).walletName} account:`),
  );
}

/** The text for the fields. @throws PoolError `invalid_sign_in` when they do not form one */
export function createEd25519SignInMessage(fields: Ed25519SignIn): string {
  const message = writeText(fields);
  assertFaithful(parseEd25519SignIn(message), fields);
  return message;
}

function writeText(fields: Ed25519SignIn): string {
  const { family, encryptionPublicKey } = fields;
  const lines = [
    `${fields.domain} wants you to sign in with your ${rulesOf(family).walletName} account:`,
    fields.address,
    '',
    fields.statement,
    '',
    `URI: ${fields.uri}`,
    'Version: 1',
    `Chain ID: ${family}:${fields.network}`,
    `Nonce: ${fields.nonce}`,
    `Issued At: ${formatSignInTime(fields.issuedAtMs)}`,
    `Expiration Time: ${formatSignInTime(fields.expirationTimeMs)}`,
  ];
  if (encryptionPublicKey !== undefined) {
    lines.push('Resources:', `- ${encryptionKeyResourcePrefix}${encryptionPublicKey}`);
  }
  return lines.join('\n');
}

/**
 * Reads a text. It has one spelling: every line, in this order, and nothing else.
 * @throws PoolError `invalid_sign_in`
 */
export function parseEd25519SignIn(message: string): Ed25519SignIn {
  const family = findEd25519Family(message);
  const [, domain, , address, statement, uri, chain, network, nonce, issued, expires, resource] =
    textPattern.exec(message) ?? [];
  if (family === undefined || domain === undefined || chain !== family) {
    throw malformedSignIn('it is not the text of a Solana or Stellar wallet, line by line');
  }
  const { networks } = rulesOf(family);
  if (network === undefined || !networks.includes(network)) {
    throw malformedSignIn(
      `its chain must be one of ${networks.map((name) => `${family}:${name}`).join(', ')}`,
    );
  }
  const parsed: Ed25519SignIn = {
    family,
    domain,
    address: parseSignInPart('address', () => parseEd25519Address(family, address)),
    statement: statement ?? '',
    uri: uri ?? '',
    network,
    nonce: nonce ?? '',
    issuedAtMs: Date.parse(issued ?? ''),
    expirationTimeMs: Date.parse(expires ?? ''),
    encryptionPublicKey:
      resource === undefined
        ? undefined
        : parseSignInPart('encryption key', () =>
            parseEncryptionPublicKey(resource.slice(encryptionKeyResourcePrefix.length)),
          ),
  };
  // Times have several spellings.
  if (writeText(parsed) !== message) {
    throw malformedSignIn('its times must be in UTC with milliseconds');
  }
  return parsed;
}

/** The bytes that a wallet of the family signs for a text. */
export function computeEd25519SignInBytes(family: Ed25519FamilyName, message: string): Uint8Array {
  return rulesOf(family).computeSignedBytes(utf8ToBytes(message));
}

/**
 * Checks that the wallet that a text names signed it.
 * @returns W, 32 bytes of hex
 * @throws PoolError `invalid_signature` (401)
 */
export function verifyEd25519SignIn(
  { message, signature }: SignInEvidence,
  { family, address }: Pick<Ed25519SignIn, 'family' | 'address'>,
): Hex {
  const walletPub = bytesToHex(rulesOf(family).decodeAddress(address));
  let isValid = false;
  try {
    // Strict RFC 8032: one signature has one encoding.
    isValid = ed25519.verify(
      hexToBytes(signature, 64),
      computeEd25519SignInBytes(family, message),
      hexToBytes(walletPub, 32),
      { zip215: false },
    );
  } catch {
    // Not 64 bytes, or not a point: the same answer as for a wrong one.
  }
  if (!isValid) {
    throw new PoolError(
      'invalid_signature',
      `the signature must be the 64 bytes that the ${rulesOf(family).walletName} wallet of the text makes over it`,
      { status: 401 },
    );
  }
  return walletPub;
}

/** What valid evidence of an ed25519 wallet proves. */
export type VerifiedEd25519Evidence = Pick<Ed25519SignIn, 'family' | 'address'> &
  ReturnType<typeof readBinding> & {
    /** 32 bytes of hex. */
    readonly walletPub: Hex;
  };

/**
 * As `verifyEvidence`, for ed25519 wallets: the owner of W bound P to it. Expiry is ignored on purpose, evidence outlives the session.
 * @throws PoolError `invalid_evidence`
 */
export function verifyEd25519Evidence(
  evidence: SignInEvidence,
  expected: EvidenceDomain,
  nowMs: number,
): VerifiedEd25519Evidence {
  let text: Ed25519SignIn;
  let walletPub: Hex;
  try {
    text = parseEd25519SignIn(evidence.message);
    walletPub = verifyEd25519SignIn(evidence, text);
  } catch (cause) {
    throw refuseEvidence(
      'text or signature is malformed, or the wallet that it names did not sign it',
      cause,
    );
  }
  const { family, address } = text;
  return { family, walletPub, address, ...readBinding(text, expected, nowMs) };
}

/** What the text of any wallet says about its time and P. @throws PoolError `invalid_sign_in` */
export function readSignInKey(message: string): {
  readonly encryptionPublicKey: EncryptionPublicKey | undefined;
  readonly issuedAtMs: number;
} {
  return findEd25519Family(message) === undefined
    ? parseSignInMessage(message)
    : parseEd25519SignIn(message);
}
