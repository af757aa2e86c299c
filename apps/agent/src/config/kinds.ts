/**
 * The kinds of value a variable can hold, and the shape of a row in the table of variables. A kind describes itself
 * for the README and parses text. Its messages state what is expected and never quote the text: it may be a secret
 * in the wrong place.
 *
 * @module
 */
import { isIP } from 'node:net';
import type { Capability } from '@pool/api';
import {
  isAmountString,
  isPoolError,
  parseEvmAddress,
  parseWalletPub,
  Secret,
  type WalletPub,
} from '@pool/core';
import { parseViewingKey } from '@pool/notes';
import { faultPoints } from '@pool/operations';
import { parseServiceUrl } from '@pool/platform-client';
import { spendFaultPoints } from '@pool/wallet';
import * as v from 'valibot';

/** A message about one variable, with its name and without its value. */
export type ConfigRemark = { readonly variable: string; readonly message: string };

export type ConfigVariable<T> = {
  readonly name: string;
  /** Who needs it: `all`, or parts of the agent by name. */
  readonly role: string;
  /** For the README, in Markdown: one or two sentences without a full stop at the end. */
  readonly purpose: string;
  readonly kind: Kind<T>;
  /** The agent does not start without it. */
  readonly isRequired?: true;
  /** For the README: what an unset variable without a fallback means. */
  readonly whenUnset?: string;
  /** Value of an unset variable. @param home - the agent directory */
  readonly fallback?: (home: string) => T;
  /** A secret: never shown, and has a `_FILE` form. */
  readonly credential?: CredentialForm;
};

/** A variable that always has a value. */
export type DefaultedVariable<T> = ConfigVariable<T> & {
  readonly fallback: (home: string) => T;
};

/** Where a credential is in the JSON document that its command printed. */
export type CredentialForm = {
  /** The document's field; the first that is present. */
  readonly fields: readonly string[];
  /** The file may also contain a JSON list of such secrets or documents. */
  readonly isList?: true;
  /** The secret has several lines, for example a key in PEM. */
  readonly isText?: true;
  /** The capability that the document must name, if it names one. */
  readonly capability?: Capability;
};

/** A value, or the problem of the text: a phrase that follows the name of the variable. */
export type Parsed<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'wrong'; readonly problems: readonly string[] };

export type Kind<T> = {
  /** For the README: the type of the value. */
  readonly label: string;
  /** @param text - trimmed, not empty */
  readonly parse: (text: string) => Parsed<T>;
};

function accept<T>(value: T): Parsed<T> {
  return { kind: 'value', value };
}

function reject(...problems: readonly string[]): Parsed<never> {
  return { kind: 'wrong', problems };
}

function matching(label: string, isGood: (text: string) => boolean, problem: string): Kind<string> {
  return { label, parse: (text) => (isGood(text) ? accept(text) : reject(problem)) };
}

export const text: Kind<string> = { label: 'text', parse: accept };
export const path: Kind<string> = { label: 'path', parse: accept };

export const serviceUrl: Kind<string> = {
  label: 'URL',
  parse(value) {
    try {
      parseServiceUrl(value, 'the URL');
      return accept(value);
    } catch {
      return reject('must be an https URL (http only on loopback), without credentials');
    }
  },
};

/** The platform's base URL and its path for agents. The base URL alone answers 404 to everything that an agent asks. */
export const edgeUrl: Kind<string> = {
  label: 'URL',
  parse(value) {
    const parsed = serviceUrl.parse(value);
    return parsed.kind === 'value' && !/\/agent-edge\/?$/.test(new URL(value).pathname)
      ? reject("must end with /agent-edge: write that path after the platform's base URL")
      : parsed;
  },
};

export function integer(min: number, max: number): Kind<number> {
  return {
    label: `whole number, ${min} to ${max}`,
    parse(value) {
      const number = /^[0-9]{1,9}$/.test(value) ? Number(value) : Number.NaN;
      return number >= min && number <= max
        ? accept(number)
        : reject(`must be a whole number from ${min} to ${max}`);
    },
  };
}

/** @param problem - of any other text */
export function choice<T extends string>(
  allowed: readonly T[],
  problem = `must be one of ${allowed.join(', ')}`,
): Kind<T> {
  return {
    label: allowed.map((value) => `\`${value}\``).join(', '),
    parse(value) {
      const known = allowed.find((candidate) => candidate === value);
      return known === undefined ? reject(problem) : accept(known);
    },
  };
}

/** Where proofs are computed. */
export const accelerators = ['auto', 'webgpu', 'cpu'] as const;
export type Accelerator = (typeof accelerators)[number];

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Named points at which a test ends the process: the pipeline's, those around accepting a request or cancellation, and those of spends.
 */
export const agentFaultPoints = [
  'claim.before-store',
  'claim.after-store',
  'cancel.before-store',
  'cancel.after-store',
  ...faultPoints,
  ...spendFaultPoints.map((point) => `spend:${point}` as const),
] as const;
export type AgentFaultPoint = (typeof agentFaultPoints)[number];

/** The README lists the points in a section of their own. */
export const faultPoint: Kind<AgentFaultPoint> = { ...choice(agentFaultPoints), label: 'point' };

const funderSigners = ['enclave', 'custodian_b', 'custodian_a'] as const;
export type FunderSignerName = (typeof funderSigners)[number];

export const funderSigner = choice(
  funderSigners,
  'must be enclave, custodian_b or custodian_a; leave it unset for the local key',
);

const holderSigners = ['local-key', 'local-ed25519', 'enclave', 'custodian_a'] as const;
export type HolderSignerName = (typeof holderSigners)[number];

export const holderSigner = choice(
  holderSigners,
  `must be one of ${holderSigners.join(', ')}; custodian B has no holder signer, because it signs no bare digest`,
);

/** An IP address, with or without brackets, or a host name; no scheme and no port. */
export const listenHost: Kind<string> = {
  label: 'host',
  parse(value) {
    const bare = value.replace(/^\[(.*)\]$/, '$1');
    return isIP(bare) !== 0 || isHostName(value)
      ? accept(bare)
      : reject('must be an IP address or a host name, without a scheme and without a port');
  },
};

export const hostNames: Kind<readonly string[]> = {
  label: 'host names, comma separated',
  parse(value) {
    const names = value.split(',').map((name) => name.trim().toLowerCase());
    const isGood = (name: string): boolean =>
      isHostName(name) || isIP(name) !== 0 || isIP(name.replace(/^\[(.*)\]$/, '$1')) === 6;
    const present = names.filter((name) => name !== '');
    return present.every(isGood)
      ? accept(present)
      : reject('must be host names separated by commas, without scheme, port or wildcard');
  },
};

function isHostName(value: string): boolean {
  const label = '[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?';
  // Digits and dots that are not an IP address are a mistyped IP address.
  return (
    value.length <= 253 &&
    new RegExp(`^${label}(?:\\.${label})*$`).test(value) &&
    !/^[0-9.]+$/.test(value)
  );
}

export const chainKey = matching(
  'chain key',
  (value) => /^[a-z0-9][a-z0-9-]{0,31}$/.test(value),
  'must be a chain key: lower-case letters, digits and hyphens',
);

export const tokenSymbol = matching(
  'token symbol',
  (value) => /^(?!0x)[A-Za-z0-9.]{1,16}$/.test(value),
  'must be a token symbol, never an address',
);

/** A ceiling in base units. */
export const baseUnits: Kind<bigint> = {
  label: 'base units',
  parse: (value) =>
    isAmountString(value)
      ? accept(BigInt(value))
      : reject(
          'must be a positive whole number of base units, without sign, point or leading zero; unset it for no ceiling',
        ),
};

/** An amount of the chain's own coin, in wei. */
export const coinAmount: Kind<bigint> = {
  label: "amount of the chain's own coin, for example `0.05`",
  parse(value) {
    const [, whole, fraction = ''] = /^([0-9]{1,9})(?:\.([0-9]{1,18}))?$/.exec(value) ?? [];
    const wei = whole === undefined ? 0n : BigInt(whole + fraction.padEnd(18, '0'));
    return wei > 0n
      ? accept(wei)
      : reject("must be an amount of the chain's own coin above 0, with at most 18 decimals");
  },
};

export const jobStore = matching(
  '`sqlite:<path>` or `memory:`',
  (value) => /^(?:sqlite:.+|memory:)$/.test(value),
  'must be sqlite:<path> or memory: in this build',
);

export const publicKeyHex = matching(
  '32 bytes of hex',
  (value) => /^0x[0-9a-f]{64}$/.test(value),
  'must be 32 bytes of lower-case hex with 0x',
);

/** W of an EVM wallet. */
export const walletPub: Kind<WalletPub> = {
  label: '33 bytes of hex',
  parse(value) {
    try {
      return accept(parseWalletPub(value));
    } catch {
      return reject(
        'must be W, a compressed wallet public key: 33 bytes of lower-case hex with 0x, not an address',
      );
    }
  },
};

/** An employer's id: a UUID in lower case, as it is compared and hashed. */
export const employerIdSchema = v.pipe(v.string(), v.uuid(), v.toLowerCase());

export const employerId: Kind<string> = {
  label: 'UUID',
  parse(value) {
    const id = v.safeParse(employerIdSchema, value);
    return id.success ? accept(id.output) : reject('must be a UUID');
  },
};

/** Wraps a kind of text: the parsed value is a {@link Secret}. */
function secret(kind: Kind<string>): Kind<Secret> {
  return {
    label: `secret, ${kind.label}`,
    parse(value) {
      const parsed = kind.parse(value);
      return parsed.kind === 'value' ? accept(new Secret(parsed.value)) : parsed;
    },
  };
}

/** A bearer token. @param minLength - 20 or more for a token that people choose themselves */
export function bearerSecret(minLength: number): Kind<Secret> {
  const pattern = new RegExp(`^[\\x21-\\x7e]{${minLength},256}$`);
  return secret(
    matching(
      'token',
      (value) => pattern.test(value),
      `must be ${minLength} to 256 printable ASCII characters without spaces`,
    ),
  );
}

export const privateKey = secret(
  matching(
    'private key',
    (value) => /^0x[0-9a-f]{64}$/.test(value),
    'must be a private key: 32 bytes of lower-case hex with 0x',
  ),
);

/** v, from 1 to below the order of the subgroup: other numbers would be second spellings of a key. */
export const viewingKey = secret(
  matching(
    'viewing key',
    isViewingKey,
    'must be a viewing key as `viewing-key new` prints it in `scalar`: 32 bytes of lower-case hex with 0x, not 0 and below the order of the Baby Jubjub subgroup',
  ),
);

function isViewingKey(text: string): boolean {
  try {
    parseViewingKey(text);
    return true;
  } catch {
    return false;
  }
}

/** A viewing key of an earlier P: the scalar, or the key that derives from a signature of the holder's signer. */
export type EarlierViewingKey =
  | { readonly kind: 'scalar'; readonly scalar: Secret }
  | { readonly kind: 'derived' };

export const earlierViewingKeys: Kind<readonly EarlierViewingKey[]> = {
  label: 'secrets, comma separated',
  parse(value) {
    const entries = value.split(',').map((entry) => entry.trim());
    const wrong = entries.flatMap((entry, index) =>
      entry === 'derived' || isViewingKey(entry)
        ? []
        : [
            `entry ${index + 1} must be the scalar of a viewing key, as \`viewing-key new\` prints it, or the word derived`,
          ],
    );
    if (new Set(entries).size !== entries.length) {
      wrong.push('names one key twice');
    }
    return wrong.length > 0
      ? reject(...wrong)
      : accept(
          entries.map((entry) =>
            entry === 'derived'
              ? { kind: 'derived' }
              : { kind: 'scalar', scalar: new Secret(entry) },
          ),
        );
  },
};

export const secretBytes = secret(
  matching(
    '32 bytes of hex',
    (value) => /^0x[0-9a-f]{64}$/.test(value),
    'must be 32 bytes of lower-case hex with 0x',
  ),
);

export const opaqueSecret = secret(text);

const destinationLabel = /^[A-Za-z][A-Za-z0-9._-]{0,31}$/;

/**
 * The pinned destinations of `send`, as checksummed addresses by label. `send` names a destination by its label only,
 * so a label cannot look like an address. Problems name an entry by its position and never quote it.
 */
export const destinations: Kind<ReadonlyMap<string, string>> = {
  label: '`label=address`, comma separated',
  parse(text) {
    const found = new Map<string, string>();
    const problems: string[] = [];
    for (const [index, entry] of text.split(',').entries()) {
      const problem = readDestination(entry.trim(), found);
      if (problem !== undefined) {
        problems.push(`entry ${index + 1} ${problem}`);
      }
    }
    return problems.length === 0 ? accept(found) : reject(...problems);
  },
};

function readDestination(entry: string, found: Map<string, string>): string | undefined {
  if (entry === '') {
    return 'is empty: write label=address pairs with one comma between them';
  }
  const [name = '', address = '', ...rest] = entry.split('=').map((part) => part.trim());
  if (address === '' || rest.length > 0) {
    return 'must be label=address';
  }
  if (!destinationLabel.test(name)) {
    return 'needs a label of up to 32 letters, digits, dots, hyphens or underscores that begins with a letter';
  }
  const folded = name.toLowerCase();
  if ([...found.keys()].some((label) => label.toLowerCase() === folded)) {
    return 'repeats the label of an earlier entry; upper and lower case count as the same';
  }
  try {
    found.set(name, parseEvmAddress(address));
    return undefined;
  } catch (error) {
    return isPoolError(error) ? `has an invalid address: ${error.message}` : 'is wrong';
  }
}
